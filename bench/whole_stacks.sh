#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Records programs of Debian, which have no frame pointers, with swtrace stacks by tables and by frame pointers, and with perf
# record --call-graph dwarf; prints for each how many stacks are whole, and what the recorder took.
# Usage: whole_stacks.sh [BYTES...]   (of the copied stacks; default 8192 16384 32768). As root.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
export PATH=$root/build/bin:$PATH LC_ALL=C
dir=$(mktemp -d)
trap 'swtrace free >/dev/null 2>&1 || true; rm -rf "$dir"' EXIT
cd "$dir"
export PITRACE_SOCKET=$dir/socket
head -c 12000000 /dev/urandom >data
find /usr/include -name '*.h' -size -40k -exec cat {} + >>data
cat >fib.py <<'END'
import json, re
def fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)
text = json.dumps([{"a": i, "b": str(i) * 3} for i in range(20000)])
for i in range(30):
    fib(23)
    json.loads(text)
    sorted(re.findall(r"\d+", text), key=len)
END
cat >big.cpp <<'END'
#include <algorithm>
#include <iostream>
#include <map>
#include <regex>
int main(int n, char** v) { std::map<std::string, int> m; std::regex r(n > 1 ? v[1] : "a"); m["x"] = 1; std::cout << std::regex_match("a", r) << m.size(); }
END
run() { # run PROGRAM: about two seconds of it
  case $1 in
    python3) python3 fib.py ;;
    xz) xz -T1 -2 -c data >/dev/null ;;
    cc1plus) g++ -O2 -c big.cpp -o big.o ;;
  esac
}

# recorder_ms PID: its CPU time so far.
recorder_ms() { awk '{ print ($14 + $15) * 10 }' "/proc/$1/stat"; }

with_swtrace() { # with_swtrace PROGRAM OPTIONS...: prints whole, guessed, cut and broken stacks of the program in percent, and CPU time
  local program=$1 pid before after
  shift
  pid=$(swtrace init --source perf -s 128 | sed 's/.*recorder pid //')
  swtrace enable tprof >/dev/null
  swtrace setrate 1000 >/dev/null
  swtrace stacks both -depth 127 "$@"
  swtrace on
  before=$(recorder_ms "$pid")
  run "$program" || true
  swtrace off
  after=$(recorder_ms "$pid")
  swtrace get >/dev/null
  swtrace free
  post -tree -clip 0 --json --command "$program" >/dev/null
  jq -r --arg ms "$((after - before))" '.tree.stacks as $s | "\($s.with) \(100 * $s.whole / $s.with) \(100 * $s.guessed / $s.with) \(100 * $s.cut / $s.with) \(100 * $s.broken / $s.with) \($ms)"' tprof.json |
    awk '{ printf "%6d ticks, whole %.2f %%, guessed %.2f %%, cut %.2f %%, broken %.2f %%, recorder %d ms\n", $1, $2, $3, $4, $5, $6 }'
}

with_perf() { # with_perf PROGRAM BYTES
  local program=$1
  run_perf() { perf record -q -a -e cpu-clock -F 1000 --call-graph "dwarf,$2" -o perf.data -- bash -c "$(declare -f run); run $1" >/dev/null 2>&1 || true; }
  run_perf "$program" "$2"
  printf 'perf.data %d MB; ' "$(($(stat -c %s perf.data) >> 20))"
  # A stack is whole if the function that calls main(), or starts a thread, is in it.
  { time perf script -i perf.data --comm "$program" -F ip,sym 2>/dev/null >stacks; } 2>script.time
  awk 'NF == 0 { if (frames) { all++; whole += start } frames = start = 0; next }
    { frames++; if ($2 ~ /^(_start|__libc_start_call_main|clone3?|start_thread)$/) start = 1 }
    END { printf "%6d ticks, whole %.2f %%; ", all, all ? 100 * whole / all : 0 }' stacks
  awk '/user|sys/ { split($2, t, /[ms]/); sum += t[1] * 60 + t[2] } END { printf "perf script %.1f s of processor time\n", sum }' script.time
}

sizes=("$@")
((${#sizes[@]})) || sizes=(8192 16384 32768)
for program in python3 xz cc1plus; do
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
