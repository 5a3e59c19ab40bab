#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Records programs of Debian, which have no frame pointers, with swtrace stacks by tables and by frame pointers, and with perf
# record --call-graph dwarf; prints for each how many stacks are whole, and what the recorder took.
# Usage: whole_stacks.sh [BYTES...]   (of the copied stacks; default 8192 16384 32768). As root.
set -euo pipefail
# shellcheck source=bench/debian_programs.bash
source "$(dirname "$0")/debian_programs.bash"

with_swtrace() { # with_swtrace PROGRAM OPTIONS...: prints whole, guessed, cut and broken stacks of the program in percent, and CPU time
  local before ms
  start 1000 both -depth 127 "${@:2}"
  before=$(recorder_ms)
  run "$1" || true
  swtrace off
  ms=$(($(recorder_ms) - before))
  swtrace get >/dev/null
  swtrace free
  post -tree -clip 0 --json --command "$1" >/dev/null
  jq -r --arg ms "$ms" '.tree.stacks as $s | "\($s.with) \(100 * $s.whole / $s.with) \(100 * $s.guessed / $s.with) \(100 * $s.cut / $s.with) \(100 * $s.broken / $s.with) \($ms)"' tprof.json |
    awk '{ printf "%6d ticks, whole %.2f %%, guessed %.2f %%, cut %.2f %%, broken %.2f %%, recorder %d ms\n", $1, $2, $3, $4, $5, $6 }'
}

with_perf() { # with_perf PROGRAM BYTES
  perf record -q -a -e cpu-clock -F 1000 --call-graph "dwarf,$2" -o perf.data -- bash run.sh "$1" >/dev/null 2>&1 || true
  printf 'perf.data %d MB; ' "$(($(stat -c %s perf.data) >> 20))"
  { TIMEFORMAT='%U %S'; time perf_stacks perf.data --comm "$1" >stacks; } 2>script.time
  ticks_and_whole <stacks
  awk '{ printf "; perf script %.1f s of processor time\n", $1 + $2 }' script.time
}

sizes=("$@")
((${#sizes[@]})) || sizes=(8192 16384 32768)
for program in its_python3 its_xz its_cc1plus; do
  echo "$program"
  printf '  frame pointers:  '
  with_swtrace "$program" -by fp
  for bytes in "${sizes[@]}"; do
    printf '  tables %6s:   ' "$bytes"
    with_swtrace "$program" -bytes "$bytes"
    if [[ $bytes == 8192 ]]; then
      printf '  perf dwarf:      '
      with_perf "$program" "$bytes"
    fi
  done
done
