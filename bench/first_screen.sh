#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Whether the page of run.tprof has a program's hottest function, with the share that perf measures in the same run: programs in
# several languages, most of whose time one function takes, a stripped one and a pipeline. Prints a row of a table for each, and
# exits with 1 if one fails. A program whose compiler is missing is left out.
# Usage: bench/first_screen.sh [DIR-OF-RUN.TPROF [PROGRAM...]]
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
run_tprof=$(cd "${1:-$root/scripts}" && pwd)/run.tprof
if (($#)); then shift; fi
rate=2000 # ticks a second; of perf a little more, since of two timers in step one always meets the interrupt of the other
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
cd "$directory"

# Each runs hot() three times as long as cold(), for 4 seconds of processor time: 8,000 ticks, of which three quarters are right to
# one point in 19 of 20 cases.
cat >prime.py <<'SOURCE'
import time
def hot(n):
    return sum(i * i % 7 for i in range(n))
while time.process_time() < 4: hot(3000)
SOURCE
cat >prime.js <<'SOURCE'
function hot(n) { let sum = 0; for (let i = 0; i < n; ++i) sum = (sum * 31 + i) % 65521; return sum; }
function cold(n) { let sum = 1; for (let i = 0; i < n; ++i) sum = (sum * 17 + i) % 65519; return sum; }
let total = 0;
while (process.cpuUsage().user < 4e6) { total += hot(300000); total += cold(100000); }
console.log(total);
SOURCE
cat >Prime.java <<'SOURCE'
class Prime {
  static int hot(int n) { int sum = 0; for (int i = 0; i < n; ++i) sum = (sum * 31 + i) % 65521; return sum; }
  static int cold(int n) { int sum = 1; for (int i = 0; i < n; ++i) sum = (sum * 17 + i) % 65519; return sum; }
  public static void main(String[] arguments) {
    int total = 0;
    var threads = java.lang.management.ManagementFactory.getThreadMXBean();
    while (threads.getCurrentThreadCpuTime() < 4_000_000_000L) { total += hot(3000000); total += cold(1000000); }
    System.out.println(total);
  }
}
SOURCE
cat >prime.cpp <<'SOURCE'
#include <ctime>
#include <cstdio>
#include <vector>
template <class T> [[gnu::noinline]] T hot(const std::vector<T>& values) { T sum = 0; for (T value : values) sum = (sum * 31 + value) % 65521; return sum; }
template <class T> [[gnu::noinline]] T cold(const std::vector<T>& values) { T sum = 1; for (T value : values) sum = (sum * 17 + value) % 65519; return sum; }
int main() {
  const std::vector<unsigned> many(300000, 7), few(100000, 5);
  unsigned total = 0;
  while (std::clock() < 4 * CLOCKS_PER_SEC) total += hot(many) + cold(few);
  std::printf("%u\n", total);
}
SOURCE
cat >prime.rs <<'SOURCE'
#[inline(never)] fn hot(n: u32) -> u32 { let mut sum = 0u32; for i in 0..n { sum = (sum * 31 + i % 1000) % 65521; } sum }
#[inline(never)] fn cold(n: u32) -> u32 { let mut sum = 1u32; for i in 0..n { sum = (sum * 17 + i % 999) % 65519; } sum }
extern "C" { fn clock() -> i64; }
fn main() {
  let mut total = 0u64;
  while unsafe { clock() } < 4_000_000 { total += (hot(std::hint::black_box(300000)) + cold(std::hint::black_box(100000))) as u64; }
  println!("{}", total);
}
SOURCE
cat >prime.go <<'SOURCE'
package main
import ("fmt"; "syscall")
//go:noinline
func hot(n uint32) uint32 { sum := uint32(0); for i := uint32(0); i < n; i++ { sum = (sum*31 + i) % 65521 }; return sum }
//go:noinline
func cold(n uint32) uint32 { sum := uint32(1); for i := uint32(0); i < n; i++ { sum = (sum*17 + i) % 65519 }; return sum }
func main() {
	var total uint32
	var used syscall.Rusage
	for used.Utime.Sec < 4 { total += hot(300000) + cold(100000); syscall.Getrusage(0, &used) }
	fmt.Println(total)
}
SOURCE

# perf_share NAMES: of the ticks of threads of these names (of java all of the process), the greatest share of a function:
# "PERCENT NAME". Without comm among its sort keys perf drops functions in which another program had the first tick.
perf_share() {
  local which=(--comm "$1")
  if [[ $1 == java ]]; then which=(--pid "$(sed -nE 's/^java:([0-9]+).*/\1/p' page)"); fi
  perf report -i perf.data --percentage relative "${which[@]}" --no-children --sort comm,symbol --stdio -t '|' -g none 2>/dev/null |
    awk -F '|' '/^ *[0-9.]+%/ && !found++ {
      match($0, /\[[.k]\] [^|]*/)
      name = substr($0, RSTART + 4, RLENGTH - 4)
      sub(/ +$/, "", name)
      print $1 + 0, name
    }'
}

# perf_share_between NAME FROM SIZE: of the ticks of a process of this name those with addresses there.
perf_share_between() {
  perf script -i perf.data --comm "$1" -F ip 2>/dev/null | awk -v from="$2" -v size="$3" '
    function number(text,    i, sum) {
      for (i = 1; i <= length(text); ++i) sum = sum * 16 + index("0123456789abcdef", substr(text, i, 1)) - 1
      return sum
    }
    NF { all++; if (number($1) >= from && number($1) < from + size) inside++ }
    END { printf "%.2f stripped\n", 100 * inside / all }'
}

failed=0
# run LABEL COMMS COMMAND...
run() {
  local label=$1 comms=$2 page perf name share
  shift 2
  perf record -q -a -e cpu-clock -F $((rate + 3)) -o perf.data -- "$run_tprof" --source=perf --no-install -c "$rate" -o out -- "$@" >page 2>errors ||
    { cat page errors >&2 && failed=1 && return; }
  read -r page name < <(awk '/^ +[<>0-9.]+ %  / { share = $1; sub(/^ +[<>0-9.]+ % +/, ""); print share, $0; exit }' page)
  if [[ $label == stripped ]]; then perf=$(perf_share_between "$comms" "$hot_start" "$hot_size"); else perf=$(perf_share "$comms"); fi
  share=${perf%% *}
  awk -v a="$page" -v b="$share" -v label="$label" -v ours="$name" -v theirs="${perf#* }" '
    BEGIN {
      gsub(/ +/, " ", ours)
      difference = a - b
      good = a != "" && b != "" && difference <= 2 && difference >= -2
      printf "| %s | %s | %.1f | %.1f | %s | %s |\n", label, ours, a, b, theirs, good ? "yes" : "NO"
      exit !good
    }' || { failed=1 && cat page >&2; }
}

wanted() { [[ -z $programs || " $programs " == *" $1 "* ]]; }
programs=$*
echo "| program | hottest function on the page | page % | perf % | of perf | within 2 points |"
echo "|---|---|---|---|---|---|"
if wanted python3; then run python3 python3 /usr/bin/python3 prime.py; fi
python=$(compgen -G "$HOME/.pyenv/versions/3.1[2-9]*/bin/python3" | sed 1q || true)
if wanted python3.12 && [[ -n $python ]]; then run "python3 -X perf" "$(basename "$(readlink -f "$python")")",python3 "$python" -X perf prime.py; fi
if wanted node && type -P node >/dev/null; then run node node node --perf-basic-prof prime.js; fi
if wanted java && type -P javac >/dev/null; then
  javac Prime.java
  run java java java -XX:+UnlockDiagnosticVMOptions -XX:+DumpPerfMapAtExit -cp . Prime
fi
g++ -O2 -o prime prime.cpp
if wanted cpp; then
  run "C++ -O2" prime ./prime
fi
if wanted rust && type -P rustc >/dev/null; then
  rustc -O -o prime_rs prime.rs 2>/dev/null
  run Rust prime_rs ./prime_rs
fi
if wanted go && type -P go >/dev/null; then
  GOCACHE=$PWD/cache go build -o prime_go prime.go
  run Go prime_go ./prime_go
fi
if wanted stripped; then
  g++ -O2 -no-pie -o unstripped prime.cpp
  strip -o stripped unstripped
  read -r hot_start hot_size < <(nm -S unstripped | awk '$4 ~ /hot/ { print $1, $2 }')
  hot_start=$((16#$hot_start)) hot_size=$((16#$hot_size))
  run stripped stripped ./stripped
fi
if wanted pipeline; then
  # Under names that no other process has.
  for program in sh seq sort cat; do cp "$(type -P $program)" "first_$program"; done
  run pipeline first_sh,first_seq,first_sort,prime,first_cat ./first_sh -c './first_seq 1000000 | ./first_sort -r | ./prime | ./first_cat'
fi
exit "$failed"
