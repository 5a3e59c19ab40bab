#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Compares the cost of recorders of several builds: all of them record the whole system at the same time, with perf events, and so see the
# same load. Prints the processor time of each, and of the programs that compile its unwind tables.
# Usage: two_recorders.sh fleet|whole SECONDS NAME=BUILD...   BUILD has bin/swtrace and lib/libperfutil.so.0; as root
#   fleet: as run.fleet records, 49 ticks a second with all stacks, beside loops of gcc, g++, python3, xz, sed and true
#   whole: as run.tprof -g, 1,000 ticks a second with user stacks, beside xz twice
set -euo pipefail
kind=$1 seconds=$2
shift 2
dir=$(mktemp -d "${TMPDIR:-/var/tmp}/two-recorders.XXXXXX")
cd "$dir"
declare -A pid before

run() { # run NAME=BUILD ARGUMENT...: swtrace of that build
  PITRACE_SOCKET=$dir/${1%%=*}.socket LD_LIBRARY_PATH=${1#*=}/lib "${1#*=}/bin/swtrace" "${@:2}"
}
builds=("$@")
finish() {
  local build
  touch stop
  for build in "${builds[@]}"; do run "$build" free >/dev/null 2>&1 || true; done
  wait
  rm -rf "$dir"
}
trap finish EXIT

compile() {
  while [[ ! -e stop ]]; do
    gcc -O2 -o "x$1" a.c
    "./x$1" >/dev/null || true
    python3 -c 'import json, re; json.loads(json.dumps(list(range(1000))))'
    head -c 300000 /usr/lib/x86_64-linux-gnu/libc.so.6 | xz >/dev/null
    for _ in 1 2 3 4 5 6 7 8; do /bin/true && sed -n 1p a.c >/dev/null; done
    g++ -O1 -c b.cpp -o "b$1.o"
  done
}
compress() { while [[ ! -e stop ]]; do head -c 20M /dev/urandom | xz >/dev/null; done; }
echo 'int main(int n, char **v) { return n + v[0][0]; }' >a.c
printf '#include <map>\n#include <string>\nint main() { std::map<std::string, int> m; m["a"] = 1; return m.size(); }\n' >b.cpp
for i in 1 2; do if [[ $kind == fleet ]]; then compile "$i" & else compress & fi; done

# Milliseconds of a recorder, and of its children, those that have ended and those that run.
used() {
  local child
  awk '{ sum += $1 } END { printf "%.1f ", sum / 1e6 }' "/proc/$1/task/"*/schedstat
  { awk '{ print ($16 + $17) * 10 }' "/proc/$1/stat" && for child in $(pgrep -P "$1" || true); do
    awk '{ print ($14 + $15) * 10 }' "/proc/$child/stat" 2>/dev/null || true
  done; } | awk '{ sum += $1 } END { print sum + 0 }'
}
for build; do
  name=${build%%=*}
  if [[ $kind == fleet ]]; then
    run "$build" init -t cont -ss 4 -f "$dir/$name.nrm2" -s 1 -source perf >"$name.init"
  else
    run "$build" init -source perf -s 256 >"$name.init"
  fi
  pid[$name]=$(sed -nE 's/.*recorder pid ([0-9]+).*/\1/p' "$name.init")
  run "$build" enable tprof >/dev/null
  run "$build" setrate "$(if [[ $kind == fleet ]]; then echo 49; else echo 1000; fi)" >/dev/null
  run "$build" stacks "$(if [[ $kind == fleet ]]; then echo both; else echo user; fi)" >/dev/null
done
for build; do run "$build" on; done
# The symbols of the kernel and the tables of the first programs are read once in a trace.
sleep 10
for name in "${!pid[@]}"; do before[$name]=$(used "${pid[$name]}"); done
sleep "$seconds"
for name in "${!pid[@]}"; do
  echo "$name ${before[$name]} $(used "${pid[$name]}")" |
    awk '{ printf "%s: recorder %.0f ms, compilers %d ms\n", $1, $4 - $2, $5 - $3 }'
done
for build; do
  run "$build" off >/dev/null
  run "$build" info | grep -E 'records .*produced' | sed "s/^/${build%%=*}:/"
done
echo "load $(cut -d ' ' -f 1 /proc/loadavg)"
