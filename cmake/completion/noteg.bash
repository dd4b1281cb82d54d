# bash completion for noteg. Commands and options come from the program's own help.
_noteg() {
  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} program=${COMP_WORDS[0]}
  local command=${COMP_WORDS[1]} words=""
  COMPREPLY=()
  if [[ $COMP_CWORD -eq 1 ]]; then
    words="$("$program" --help 2>/dev/null | sed -n 's/^  \([a-z][a-z]*\)  *.*/\1/p' | grep -v '^noteg$') --help --version --man"
  elif [[ $command == arch && $COMP_CWORD -eq 2 ]]; then
    words="list show check schema"
  elif [[ $command == kernel && $COMP_CWORD -eq 2 ]]; then
    words="show"
  else
    case $previous in
      --arch | --diff | show) words=$("$program" arch list --format csv 2>/dev/null | sed 1d | cut -d, -f1) ;;
      --family) words="naive blocked clblast simt mma wgmma" ;;
      --dtype) words="f32 tf32 f16 bf16 f8e4m3 f8e5m2 s8 s4" ;;
      --layout) words="nn nt tn tt" ;;
      --format) words="text json csv" ;;
      --objective) words="time energy edp" ;;
      *) [[ $current == -* ]] && words=$("$program" "$command" --help 2>/dev/null | grep -oE '^  --[a-z0-9-]+') ;;
    esac
  fi
  if [[ -n $words ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
  else
    mapfile -t COMPREPLY < <(compgen -f -- "$current")
  fi
}
complete -o filenames -F _noteg noteg
