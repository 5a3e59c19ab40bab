# SPDX-License-Identifier: MIT
# The part of the completions for zsh that is the same for all programs; scripts/completions writes the rest before it.

# Only harmless names: other users choose those of their processes.
_pitrace_names() { compadd -- ${(uf)"$(cat /proc/<1->/comm(N) 2>/dev/null | grep -v '[^A-Za-z0-9._+-]')"} }
_pitrace_events() { compadd -- ${(f)"$(swtrace event list 2>/dev/null | awk '/^  [A-Za-z]/ { print $1 }')"} }

# _pitrace_first CONTEXT: at the first word completes $commands; behind one of them completes its line and succeeds.
_pitrace_first() {
  if (( CURRENT == 2 )); then
    _describe -t commands command commands
    return 1
  fi
  (( ${commands[(I)$words[2]:*]} )) || return 1
  local context="$1 $words[2]"
  shift words
  (( CURRENT-- ))
  _pitrace_complete $context
  return 0
}

# Completes pitrace's line as that of the program which does the task.
_pitrace_task() {
  if (( CURRENT == 2 )); then
    commands+=('help:show the tasks, or the options of one')
    _describe -t commands command commands
    [[ $PREFIX != -* ]] || compadd -- --help --version
  elif [[ $words[2] == help ]]; then
    (( CURRENT > 3 )) || _describe -t commands command commands
  else
    local -a task=(${(z)${_pitrace_tasks[$words[2]]:-$words[2]}})
    words[1,2]=("${task[@]}")
    (( CURRENT += $#task - 2 ))
    _pitrace_complete $task[1]
  fi
}

# Completes the command after "--".
_pitrace_after() {
  if [[ $words[1] == -- ]]; then
    shift words
    (( CURRENT-- ))
  fi
  _normal
}

_pitrace_complete "${words[1]:t}"
