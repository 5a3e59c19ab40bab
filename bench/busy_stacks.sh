#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Records the whole system with perf while loops of short-lived programs of Debian run (gcc, g++, python3, xz), so that unwind tables
# are needed all the time for processes that have just begun; prints how the stacks end, and the recorder's processor time.
# Usage: busy_stacks.sh [SECONDS [RATE [LOOPS [BYTES]]]]   (default 10 2000 8 16384). As root.
set -euo pipefail
seconds=${1:-10} rate=${2:-2000} loops=${3:-8} bytes=${4:-16384}
root=$(cd "$(dirname "$0")/.." && pwd)
export PATH=${BUILD_DIR:-$root/build}/bin:$PATH LC_ALL=C
dir=$(mktemp -d)
cd "$dir"
export PITRACE_SOCKET=$dir/socket
trap 'touch "$dir/stop"; swtrace free >/dev/null 2>&1 || true; wait; rm -rf "$dir"' EXIT
cat >a.c <<'END'
#include <stdio.h>
#include <string.h>
int main(int n, char **v) { for (int i = 0; i < n; i++) printf("%s", v[i]); return strlen(v[0]) == 3; }
END
cat >b.cpp <<'END'
#include <map>
#include <string>
int main() { std::map<std::string, int> m; m["a"] = 1; return m.size(); }
END
head -c 300000 /usr/lib/x86_64-linux-gnu/libc.so.6 >data
loop() {
  while [[ ! -e stop ]]; do
    gcc -O2 -o "x$1" a.c
    "./x$1" >/dev/null || true
    python3 -c 'import json, re; json.loads(json.dumps(list(range(1000))))'
    xz -c data >/dev/null
    g++ -O1 -c b.cpp -o "b$1.o"
  done
}
for ((i = 0; i < loops; i++)); do loop "$i" & done
sleep 2
pid=$(swtrace init --source perf -s 256 | sed 's/.*recorder pid //')
swtrace enable tprof >/dev/null
swtrace setrate "$rate" >/dev/null
swtrace stacks both -depth 1023 -by tables -bytes "$bytes"
# Milliseconds of the recorder, and of its children, those that have ended and those that run.
used() {
  local child
  awk '{ print ($14 + $15) * 10, ($16 + $17) * 10 }' "/proc/$pid/stat"
  for child in $(pgrep -P "$pid" || true); do awk '{ print 0, ($14 + $15) * 10 }' "/proc/$child/stat" 2>/dev/null || true; done
}
swtrace on
sleep "$seconds"
swtrace off
used | awk '{ own += $1; children += $2 } END { printf "recorder %d ms, its compilers %d ms\n", own, children }'
touch stop
written=$(swtrace get | sed 's/.*trace \([0-9]*\),.*/\1/')
swtrace free
wait
post -tree -folded -clip 0 --json >/dev/null 2>&1
jq -r '.tree.stacks as $s | "\($s.with) stacks: whole \($s.whole), cut \($s.cut), broken \($s.broken), guessed \($s.guessed)"' tprof.json
# What no table can show: code that is generated at run time, and ticks while a program is replaced by exec.
awk '{ n = $NF; all += n; sub(/ [0-9]+$/, "") }
  /^[^;]*;\[cut\]/ { cut += n; next }
  /^[^;]*;\[broken\]/ { if (/\[anon\]|\[unknown\]/) none += n; else broken += n; next }
  /\[broken\]|\[guessed\]/ { broken += n; next }
  { whole += n }
  END { printf "of stacks that are not cut, in code of files: whole %.2f %%; %d in other code, %d broken\n",
    100 * whole / (whole + broken), none, broken }' tprof.folded
# Of all records, those of names and of stacks without a program's frames too.
awk -v bytes="$written" '{ n = $NF; ticks += n; frames += n * (gsub(/;/, ";") - (/;\[(cut|broken|guessed)\]/)) }
  END { printf "%.1f frames and %.0f bytes a tick, %.1f bytes a frame\n", frames / ticks, bytes / ticks, bytes / frames }' tprof.folded
awk '/^ Note/ { print; getline; print }' tprof.out
