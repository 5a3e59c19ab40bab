# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Shared by ddq, tinstall and tuninstall: whether the pitrace module is loaded, and which processes use it. Sourced, after
# lib.sh.

driver_state=/sys/module/pitrace
driver_device=/dev/pitrace

driver_loaded() { [[ -d $driver_state ]]; }

driver_version() { cat "$driver_state/version" 2>/dev/null || echo unknown; }

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
