# bash completion for noteg. The program itself says what may follow.
_noteg() {
  local program=${COMP_WORDS[0]/#\~/$HOME} line=${COMP_LINE:0:COMP_POINT} words typed
  read -ra words <<<"$line"
  [[ $line == *[[:space:]] ]] && words+=("")
  typed=${words[${#words[@]} - 1]}
  mapfile -t COMPREPLY < <("$program" --complete "${words[@]:1}" 2>/dev/null | cut -f1)
  [[ ${COMPREPLY[0]-} == *= ]] && compopt -o nospace 2>/dev/null
  # Readline ends a word at '=' and replaces only what stands behind it.
  if [[ $typed == *=* && $COMP_WORDBREAKS == *=* ]]; then
    COMPREPLY=("${COMPREPLY[@]#"${typed%"${typed##*=}"}"}")
  fi
}
complete -o default -F _noteg noteg
