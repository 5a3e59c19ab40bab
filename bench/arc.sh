#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The lines of an arc that post writes a second, and that arcf reads, for the branches of a real program that were recorded
# once by single-stepping and repeated. Usage: bench/arc.sh BUILD-DIR (with tests and PITRACE_BENCH=ON) [TIMES]
set -euo pipefail
build=$1
times=${2:-30}
work=$(mktemp -d "${TMPDIR:-/dev/shm}/pitrace-bench.XXXXXX")
trap 'rm -rf "$work"' EXIT
first=$(nm "$build/bin/genmap" | awk '$3 == "main" {print $1}')
"$build/tests/step_trace" "$work/short.nrm2" "$first" 0 -- "$build/bin/genmap" -n "$build/tests/flows" >/dev/null
"$build/bench/repeat_trace" "$work/short.nrm2" "$work/long.nrm2" "$times"

# measure LABEL COMMAND...: prints the arc's lines for each CPU second.
measure() {
  local label=$1 user system memory lines
  shift
  /usr/bin/time -f '%U %S %M' -o "$work/time" "$@" >/dev/null
  read -r user system memory <"$work/time"
  lines=$(grep -vc '^#' "$work/arc")
  awk -v l="$label" -v n="$lines" -v u="$user" -v s="$system" -v m="$memory" 'BEGIN {
    printf "%-12s %6.2f M lines  %5.2f s CPU (%.2f of it the kernel)  %5.2f M lines/s  %6.1f MiB peak\n",
      l, n / 1e6, u + s, s, n / 1e6 / (u + s), m / 1024}'
}
measure 'post -arc' "$build/bin/post" -r "$work/long.nrm2" -o "$work" -arc
measure 'arcf' "$build/bin/arcf" -F "$work/arc"
measure 'post -arc -c' "$build/bin/post" -r "$work/long.nrm2" -o "$work" -arc -c
