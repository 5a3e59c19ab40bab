#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What libheapit costs beside heaptrack, and beside unwinding by the compiler's library: CPU time, memory, size of the log. Then waits
# for a mutex beside perf lock contention. Usage: heap.sh BUILD-DIR
set -euo pipefail
build=$(cd "${1:?Usage: heap.sh BUILD-DIR}" && pwd)
library=$build/lib/libheapit.so
scratch=$(mktemp -d)
trap 'rm -rf -- "$scratch"' EXIT
cd "$scratch"

# A malloc() that finds the stack by _Unwind_Backtrace() and does nothing with it.
cat >backtrace.c <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>
#include <unwind.h>
static _Thread_local int inside, depth;
static void *(*next)(size_t);
static _Unwind_Reason_Code frame(struct _Unwind_Context *context, void *unused) {
  (void)unused;
  depth += _Unwind_GetIP(context) != 0;
  return _URC_NO_REASON;
}
void *malloc(size_t bytes) {
  if (!next) next = (void *(*)(size_t))dlsym(RTLD_NEXT, "malloc");
  if (!inside) {
    inside = 1;
    _Unwind_Backtrace(frame, NULL);
    inside = 0;
  }
  return next(bytes);
}
END
gcc -O2 -shared -fPIC -o backtrace.so backtrace.c -ldl
# A compiler run with 300,000 allocations.
printf '#include <map>\n#include <regex>\n#include <string>\nint main() { return std::regex_match("a", std::regex("a*")); }\n' >many.cpp

# Without the compiler's driver, since heaptrack does not follow child processes.
mapfile -t compiler < <(g++ '-###' -S -o many.s many.cpp 2>&1 | grep cc1plus | tail -n 1 | xargs -n 1 printf '%s\n')

measure() { # measure NAME COMMAND...: the least CPU time of three runs, and the most memory
  local name=$1 best='' memory=0 line user system kib
  shift
  for _ in 1 2 3; do
    rm -rf logs && mkdir logs
    line=$(HEAPIT_DIR=$PWD/logs command time -f '%U %S %M' "$@" 2>&1 >/dev/null | tail -n 1)
    read -r user system kib <<<"$line"
    best=$(awk -v a="$user" -v b="$system" -v best="$best" 'BEGIN { s = a + b; print best == "" || s < best ? s : best }')
    ((kib <= memory)) || memory=$kib
  done
  printf '| %s | %.2f | %d | %s |\n' "$name" "$best" $((memory / 1024)) "$(find logs -type f -printf '%k\n' | awk '{ sum += $1 } END { print sum + 0 }')"
}

compare() { # compare TITLE COMMAND...
  printf '\n%s\n\n| | CPU s | peak MiB | log KiB |\n|---|---|---|---|\n' "$1"
  shift
  measure 'without' "$@"
  measure 'heapit' env LD_PRELOAD="$library" "$@"
  measure '_Unwind_Backtrace() alone' env LD_PRELOAD="$PWD/backtrace.so" "$@"
  if command -v heaptrack >/dev/null; then measure 'heaptrack' heaptrack -o logs/heaptrack "$@"; fi
}

compare '2 million allocations, a path of 6 functions' "$build/tests/allocates" loop 2000
compare 'the C++ compiler reads <regex>: 1.5 million allocations' "${compiler[@]}"
printf '\n20 million gets of a free mutex\n\n| | CPU s | peak MiB | log KiB |\n|---|---|---|---|\n'
measure 'without' "$build/tests/lockwaits" 20000000
measure 'heapit' env LD_PRELOAD="$library" "$build/tests/lockwaits" 20000000

# A process that runs already: its CPU time, and that of heapwatch, for each allocation with its end. Needs root.
if [[ $(id -u) == 0 && -e /sys/bus/event_source/devices/uprobe/type ]]; then
  pairs=200000
  mkfifo input
  "$build/tests/allocates" late loop $((pairs / 1000)) <input >output &
  process=$!
  exec 3>input
  touch output
  until grep -q ready output; do sleep 0.1; done
  "$build/bin/heapwatch" "$process" >began 2>&1 &
  watch=$!
  until grep -q . began; do sleep 0.1; done
  echo >&3
  until grep -q 'done' output; do sleep 0.1; done
  ticks() { awk -v hz="$(getconf CLK_TCK)" -v pairs="$pairs" '{ printf "%.2f", ($14 + $15) * 1e6 / hz / pairs }' "/proc/$1/stat"; }
  printf '\nA process that runs already, microseconds an allocation and its end: %s in the process, %s in heapwatch\n' \
    "$(ticks "$process")" "$(ticks "$watch")"
  kill "$watch"
  wait "$watch"
  echo >&3
  wait "$process"
fi

printf '\n60 waits of 10 ms: the program'"'"'s own clock, heapit, perf lock contention\n\n'
rm -rf logs && mkdir logs
HEAPIT_DIR=$PWD/logs LD_PRELOAD=$library "$build/tests/lockwaits"
"$build/bin/heapstats" --by=function --sort=wait-time logs/heap.* | sed -n '/Waits/,$p'
perf lock record -o perf.data -- "$build/tests/lockwaits" >/dev/null 2>&1 && perf lock contention -i perf.data 2>&1 | head -n 12
