# fish completion for noteg. The program itself says what may follow; files are offered where it says nothing.
function __noteg_complete
    set -l words (commandline -opc) (commandline -ct)
    set -l lines ($words[1] --complete $words[2..-1] 2>/dev/null)
    if test (count $lines) -gt 0
        printf '%s\n' $lines
    else
        __fish_complete_path (commandline -ct)
    end
end
complete -c noteg -f -a '(__noteg_complete)'
