# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# The part of the completions for bash that is the same for all programs; scripts/completions writes the table before it.
# shellcheck disable=SC2086,SC2154,SC2206,SC2207 # _pitrace_table, _pitrace_native; words of the table are split on purpose

# _pitrace_paths -f|-d: adds the files or directories whose names begin with $cur, which is quoted as it was typed. A name can
# contain blanks and patterns.
_pitrace_paths() {
  local typed=${cur#[\"\']} paths
  compopt -o filenames 2>/dev/null
  mapfile -t paths < <(compgen "$1" -- "${typed//\\/}")
  COMPREPLY+=("${paths[@]}")
}

# _pitrace_words SPEC...: adds what completes $cur to COMPREPLY.
_pitrace_words() {
  local spec words=''
  for spec; do
    case $spec in
      @files) _pitrace_paths -f ;;
      @directories) _pitrace_paths -d ;;
      @pids) words+=" $(cd /proc && echo [0-9]*)" ;;
      @names) words+=" $(cat /proc/[0-9]*/comm 2>/dev/null | grep -v '[^A-Za-z0-9._+-]' | sort -u)" ;;
      @events) words+=" $(swtrace event list 2>/dev/null | awk '/^  [A-Za-z]/ { print $1 }')" ;;
      @command) ;;
      *) words+=" $spec" ;;
    esac
  done
  if [[ -n $words ]]; then COMPREPLY+=($(compgen -W "$words" -- "$cur")); fi
}

# _pitrace_value CONTEXT OPTION: sets kind and spec to those of the option's value; fails if it has none.
_pitrace_value() {
  local found=${_pitrace_table["$1 $2"]-}
  if [[ -z $found && $_pitrace_native == *" ${1%% *} "* ]]; then found=${_pitrace_table["$1 -$2"]-}; fi
  read -r kind spec <<<"$found"
  [[ -n $kind ]]
}

_pitrace() {
  local IFS=$' \t\n' cur i at=1 context program kind spec options words=() task specs
  COMPREPLY=()
  # Readline splits words at "=".
  for ((i = 0; i <= COMP_CWORD; i++)); do
    if ((i > 1)) && [[ ${COMP_WORDS[i]} == =* || ${COMP_WORDS[i - 1]} == = ]]; then
      words[-1]+=${COMP_WORDS[i]}
    else
      words+=("${COMP_WORDS[i]}")
    fi
  done
  cur=${words[-1]}
  unset 'words[-1]'
  ((${#words[@]})) || return 0
  program=${words[0]##*/}
  if [[ $program == pitrace ]]; then
    if ((${#words[@]} == 1)); then
      _pitrace_words "${_pitrace_table[pitrace +]} help"
      if [[ $cur == -* ]]; then _pitrace_words --help --version; fi
      return 0
    fi
    if [[ ${words[1]} == help ]]; then
      ((${#words[@]} > 2)) || _pitrace_words "${_pitrace_table[pitrace +]}"
      return 0
    fi
    task=${_pitrace_table["pitrace ${words[1]}"]-}
    [[ -n $task ]] || task=${words[1]}
    words=($task "${words[@]:2}")
    program=${words[0]}
  fi
  context=$program
  if ((${#words[@]} > 1)) && [[ " ${_pitrace_table["$program +"]-} " == *" ${words[1]} "* ]]; then
    context="$program ${words[1]}"
    at=2
  fi
  specs=${_pitrace_table["$context ="]-}
  # The command after "--".
  for ((i = at; i < ${#words[@]}; i++)); do
    [[ ${words[i]} == -- ]] || continue
    [[ $specs == *@command* ]] || return 0
    i=1
    while [[ ${COMP_WORDS[i]} != -- ]]; do i=$((i + 1)); done
    if declare -F _command_offset >/dev/null; then
      _command_offset $((i + 1))
    elif ((i + 1 == COMP_CWORD)); then
      COMPREPLY=($(compgen -c -- "$cur"))
    else
      _pitrace_words @files
    fi
    return 0
  done
  # A value: of --option=, of the option before, or one of several words of an option.
  if [[ $cur == -*=* ]]; then
    if _pitrace_value "$context" "${cur%%=*}"; then
      cur=${cur#*=}
      _pitrace_words $spec
    fi
    return 0
  fi
  for ((i = ${#words[@]} - 1; i >= at; i--)); do
    [[ ${words[i]} == -* ]] || continue
    if _pitrace_value "$context" "${words[i]}"; then
      if [[ $kind == words && $cur != -* || $kind =~ ^(text|repeated)$ && $i -eq $((${#words[@]} - 1)) ]]; then
        _pitrace_words $spec
        return 0
      fi
    fi
    break
  done
  if [[ $cur == -* ]]; then
    options=${_pitrace_table["$context"]-}
    # One dash is as good as two.
    if [[ $cur != --* && $_pitrace_native == *" $program "* ]]; then
      for spec in $options; do if [[ $spec == --* ]]; then options+=" ${spec#-}"; fi; done
    fi
    _pitrace_words $options
    if [[ $specs == *@command* ]]; then _pitrace_words --; fi
    return 0
  fi
  if ((at == 1 && ${#words[@]} == 1)); then _pitrace_words ${_pitrace_table["$program +"]-}; fi
  _pitrace_words $specs
}
