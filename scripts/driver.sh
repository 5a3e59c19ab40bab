# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Shared by ddq, tinstall and tuninstall: whether the pitrace module is loaded, and which processes use it. Sourced.

driver_state=/sys/module/pitrace
driver_device=/dev/pitrace

driver_loaded() { [[ -d $driver_state ]]; }

driver_version() { cat "$driver_state/version" 2>/dev/null || echo unknown; }

# printable TEXT: prints it with all but ASCII, letters and digits as \xNN: no control characters and no invisible ones,
# and no bytes that are not valid UTF-8.
printable() {
  local LC_ALL=C.UTF-8 text=$1 char i
  for ((i = 0; i < ${#text}; i++)); do
    char=${text:i:1}
    if [[ $char == [[:alnum:]] || $char == [' '-'~'] ]]; then printf '%s' "$char"; else print_bytes "$char"; fi
  done
}

print_bytes() {
  local LC_ALL=C bytes=$1 code i
  for ((i = 0; i < ${#bytes}; i++)); do
    printf -v code %d "'${bytes:i:1}"
    printf '\\x%02x' $((code & 255))
  done
}

# driver_users: prints "PID (NAME)" of each process that has the device open, with commas.
driver_users() {
  local link pid list=''
  while IFS= read -r link; do
    pid=${link#/proc/} pid=${pid%%/*}
    [[ " $list" == *" $pid ("* ]] || list+="$pid ($(printable "$(cat "/proc/$pid/comm" 2>/dev/null)")), "
  done < <(find /proc/[0-9]*/fd -maxdepth 1 -lname "$driver_device" 2>/dev/null)
  printf '%s' "${list%, }"
}

# wrong TEXT: wrong usage.
wrong() {
  printf '%s: error: %s\nTry %s --help.\n' "${me:?}" "$1" "$me" >&2
  exit 255
}
