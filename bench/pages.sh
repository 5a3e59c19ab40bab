#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What post needs for pages and exports of ten million ticks, and for pages of ten million branches and of ticks with deep stacks.
# Usage: bench/pages.sh BUILD-DIR (with tests and PITRACE_BENCH=ON) [POST]
set -euo pipefail
build=$1
post=${2:-$build/bin/post}
work=$(mktemp -d "${TMPDIR:-/var/tmp}/pitrace-bench.XXXXXX")
trap 'rm -rf "$work"' EXIT

# measure LABEL MILLIONS TRACE OPTION...: the best of three, processor time and the file's size.
measure() {
  local label=$1 millions=$2 trace=$3 best='' user system memory wall line=''
  shift 3
  for _ in 1 2 3; do
    mkdir "$work/out"
    /usr/bin/time -f '%U %S %e %M' -o "$work/time" "$post" -r "$work/$trace.nrm2" -o "$work/out" "$@" >/dev/null
    read -r user system wall memory <"$work/time"
    rm -f "$work/out/tprof.out"
    if [[ -z $best ]] || awk "BEGIN {exit !($user + $system < $best)}"; then
      best=$(awk "BEGIN {print $user + $system}")
      line=$(awk -v l="$label" -v u="$user" -v s="$system" -v w="$wall" -v m="$memory" -v n="$millions" \
        -v bytes="$(du -sb --apparent-size "$work/out" | cut -f1)" 'BEGIN {
          printf "%-34s %5.2f + %.2f s CPU, %5.2f s by the clock, %4.1f M a CPU second, %4.0f MiB at most, %6.1f MB",
            l, u, s, w, n / (u + s), m / 1024, bytes / 1e6}')
    fi
    rm -rf "$work/out"
  done
  printf '%s\n' "$line"
}

"$build/bench/make_trace" "$work/ticks.nrm2" 10000000
"$build/bench/make_trace" "$work/deep.nrm2" 1000000 2 20
first=$(nm "$build/bin/genmap" | awk '$3 == "main" {print $1}')
"$build/tests/step_trace" "$work/short.nrm2" "$first" 0 -- "$build/bin/genmap" -n "$build/tests/flows" >/dev/null
blocks=$("$post" -r "$work/short.nrm2" -o "$work" -arc && grep -vc '^#' "$work/arc")
"$build/bench/repeat_trace" "$work/short.nrm2" "$work/branches.nrm2" $((10000000 / blocks + 1))
rm -f "$work/short.nrm2" "$work/arc"

measure 'page' 10 ticks --html
measure 'page, 1 million stacks of 20 frames' 1 deep --html
measure "page of an arc ($blocks lines, repeated)" 10 branches --html
for format in callgrind pprof speedscope perfetto ctf perf-script chrome firefox parquet; do
  measure "$format" 10 ticks --export "$format"
done
measure 'parquet --bucket 0' 10 ticks --export parquet --bucket 0
measure 'folded, 1 million stacks' 1 deep -folded
