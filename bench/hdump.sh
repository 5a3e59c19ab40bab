#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# hdump on a synthetic heap dump: time, and processor time, without and with a limit of the memory (as root, cgroup v1 or v2).
# Usage: bench/hdump.sh [OBJECTS [LIMIT [DIRECTORY]]]; by default 40000000, 1G, and /var/tmp
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
objects=${1:-40000000} limit=${2:-1G}
work=$(mktemp -d "${3:-/var/tmp}/hdump.XXXXXX")
group=''
finish() {
  rm -rf "$work"
  if [[ -n $group ]]; then rmdir "$group"; fi
}
trap finish EXIT
build=$root/build/bench
cmake -G Ninja -S "$root" -B "$build" -DCMAKE_BUILD_TYPE=Release -DPITRACE_TESTS=OFF -DPITRACE_BENCH=ON >/dev/null
cmake --build "$build" --target make_heap hdump >/dev/null
"$build/bench/make_heap" "$work/heap.hprof" "$objects"
ls -lh "$work/heap.hprof"

measure() {
  /usr/bin/time -f "$1: %e s, %U s user, %S s system" -- "${@:2}" "$build/bin/hdump" --work="$work" "$work/heap.hprof" >"$work/$1"
}
measure unlimited env
if [[ -d /sys/fs/cgroup/memory ]]; then
  group=/sys/fs/cgroup/memory/hdump-bench.$$
  mkdir "$group"
  echo "$limit" >"$group/memory.limit_in_bytes"
else
  group=/sys/fs/cgroup/hdump-bench.$$
  mkdir "$group"
  echo "$limit" >"$group/memory.max"
fi
# shellcheck disable=SC2016 # the inner shell expands it
measure limited bash -c 'echo $$ >"$0/cgroup.procs"; exec "$@"' "$group"
cmp "$work/unlimited" "$work/limited"
