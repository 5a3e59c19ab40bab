#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The speed and memory of post reading a trace, compared with perf script for a similar number of samples.
# Usage: bench/post.sh [MILLIONS-FOR-PERF]
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
"$root/scripts/install-deps" build test
build=$root/build/bench
cmake -G Ninja -S "$root" -B "$build" -DCMAKE_BUILD_TYPE=Release -DPITRACE_TESTS=OFF -DPITRACE_BENCH=ON >/dev/null
cmake --build "$build" >/dev/null
work=$(mktemp -d "${TMPDIR:-/var/tmp}/pitrace-bench.XXXXXX")
trap 'rm -rf "$work"' EXIT

# measure LABEL MILLIONS COMMAND...: best of three, in millions of records a second, and peak memory.
measure() {
  local label=$1 millions=$2 best='' user system seconds memory
  shift 2
  for _ in 1 2 3; do
    /usr/bin/time -f '%U %S %M' -o "$work/time" "$@" >/dev/null 2>"$work/log" || {
      cat "$work/log" >&2
      exit 1
    }
    read -r user system memory < <(tail -n 1 "$work/time")
    seconds=$(awk "BEGIN {print $user + $system}")
    if [[ -z $best ]] || awk "BEGIN {exit !($seconds < $best)}"; then best=$seconds; fi
  done
  awk -v l="$label" -v n="$millions" -v s="$best" -v m="$memory" \
    'BEGIN {printf "%-34s %6.1f M records  %7.2f s CPU  %7.2f M records/s  %7.1f MiB peak\n", l, n, s, n / s, m / 1024}'
}

for millions in 1 10 20; do
  "$build/bench/make_trace" "$work/$millions.nrm2" "$((millions * 1000000))"
  measure "post (tprof)" "$millions" "$build/bin/post" -r "$work/$millions.nrm2" -o "$work"
done
measure "post -showx" 10 "$build/bin/post" -r "$work/10.nrm2" -o "$work" -showx
rm -f "$work"/*.nrm2 "$work/post.show"

# The comparison: samples of the clock, at the kernel's maximum rate.
wanted=${1:-1}
perf record -q -a -e cpu-clock -F 20000 -o "$work/perf.data" -- sleep $((wanted * 26)) 2>/dev/null || {
  echo 'perf record is not permitted here; no comparison in this run' >&2
  exit 1
}
samples=$(perf script -i "$work/perf.data" -F ip 2>/dev/null | wc -l)
measure "perf script -F comm,tid,time,ip,sym" "$(awk "BEGIN {print $samples / 1e6}")" \
  perf script -i "$work/perf.data" -F comm,tid,time,ip,sym
measure "perf report --sort comm,dso,sym" "$(awk "BEGIN {print $samples / 1e6}")" \
  perf report -i "$work/perf.data" --stdio --sort comm,dso,sym
