#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What post needs for a recording whose samples are in millions of different functions, each of which was sampled once: its
# import, reports, the page and each export. The functions are those of a just-in-time compiler's list, or of an ELF file, whose names
# post does not use, as the file has no build-id.
# Usage: bench/many_symbols.sh BUILD-DIR [COUNT [jit|elf [FORMAT...]]]
set -euo pipefail
build=$1
count=${2:-10000000}
kind=${3:-jit}
formats=("${@:4}")
[[ ${#formats[@]} -gt 0 ]] || formats=(page callgrind pprof otlp speedscope perfetto ctf perf-script chrome firefox parquet fleet)
work=$(mktemp -d "${TMPDIR:-/var/tmp}/pitrace-bench.XXXXXX")
map=
trap 'rm -rf "$work" ${map:+"$map"}' EXIT
cd "$work"

# measure LABEL OPTION...: processor time, memory and the size of what is written; the output stays in out.
measure() {
  local label=$1 user system memory wall status=0
  shift
  rm -rf out && mkdir out
  /usr/bin/time -q -f '%U %S %e %M' -o time "$build/bin/post" -o out "$@" >stdout 2>stderr || status=$?
  read -r user system wall memory < <(tail -n 1 time)
  awk -v l="$label" -v u="$user" -v s="$system" -v w="$wall" -v m="$memory" -v status="$status" \
    -v bytes="$(du -sb --apparent-size out | cut -f1)" 'BEGIN {
      printf "%-14s exit %d, %6.1f + %5.1f s CPU, %6.1f s by the clock, %6.0f MiB at most, %7.1f MB\n",
        l, status, u, s, w, m / 1024, bytes / 1e6}'
  sed 's/^/    /' stderr
}

file=functions.so
[[ $kind == elf ]] || file=-
perf record -q -e page-faults:u -c 1 -m 16384 -o perf.data "$build/tests/many_symbols" "$file" "$count" $((count / 50)) >said
read -r pid executed <said
[[ $kind == elf ]] || map=/tmp/perf-$pid.map
echo "$executed functions executed, $(stat -c %s perf.data) bytes of recording"
measure import --import perf.data
mv out/perf.data.nrm2 trace.nrm2
rm perf.data
measure 'again' -r trace.nrm2
measure '--json' -r trace.nrm2 --json --clip 0
jq -c '{ticks, named: [.reports[] | select(.title == "Module_Symbol") | .rows[].children[]? | select(.name | startswith("number_")).ticks] | add}' out/tprof.json
for format in "${formats[@]}"; do
  case $format in
    page) measure '--html' -r trace.nrm2 --html ;;
    fleet) measure '--fleet' -r trace.nrm2 --fleet out/fleet ;;
    *) measure "$format" -r trace.nrm2 --export "$format" ;;
  esac
done
