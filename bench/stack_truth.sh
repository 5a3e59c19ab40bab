#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Runs programs of Debian under stack_truth: about 10,000 ticks of each, whose registers and stack bytes the unwinder and libdw get.
# Usage: stack_truth.sh BUILD-DIR [BYTES [PROGRAM...]]   (a build with -DPITRACE_BENCH=ON). As root.
set -euo pipefail
# shellcheck source=bench/programs.sh
source "$(dirname "$0")/programs.sh"
tool=$(cd "$1" && pwd)/bench/stack_truth bytes=${2:-32768}
export LC_ALL=C DEBUGINFOD_URLS=
shift $(($# < 2 ? $# : 2))
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"

make_work 10

# of PROGRAM: the shell begins when the ticks do.
of() {
  mkfifo go
  work_of "$1"
  { read -r _ <go && exec "${work[@]}" <"$input" >/dev/null; } &
  local program=$!
  "$tool" "$program" 1000 "$bytes" >"out" &
  local comparison=$!
  until grep -qs '^on' out; do kill -0 "$comparison" && sleep 0.1; done
  echo >go
  wait "$program"
  wait "$comparison" || true
  printf '%s, %s bytes\n' "$1" "$bytes"
  sed '/^on$/d; s/^/  /' out
  rm -f go
}

programs=("$@")
((${#programs[@]})) || programs=(python3 gcc xz sqlite3 node javac)
for program in "${programs[@]}"; do of "$program"; done
