#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The cost of tracing with the module in the instruction-count lab, where instructions measure time:
#   scripts/lab --icount --timeout 3600 [--kernel 6.12] -- bench/tracing.sh BUILD-DIR [RUNS]
# First one recorded event, a system call's entry or exit, compared with perf in the same boot. Then whole workloads, a
# compile, a pipe benchmark and a Java run, alternately without a trace and with dispatches, interrupts and 1,000 ticks a
# second recorded: the median of the pairs' ratios. If perf is installed, it also records the dispatches and wake-ups of
# the pipe benchmark.
set -euo pipefail

build=$(readlink -f "${1:?Usage: tracing.sh BUILD-DIR [RUNS]}")
runs=${2:-5}
tool=$build/tests/drivertool
work=$(mktemp -d)
export PITRACE_SOCKET=$work/socket
clean_up() {
  "$build/bin/swtrace" free >/dev/null 2>&1 || true
  rm -rf "$work"
}
trap clean_up EXIT
cd "$work"
swtrace() { "$build/bin/swtrace" "$@" >>"$work/log"; }

# traced MAJORS COMMAND...: runs it while these majors are recorded.
traced() {
  local majors=$1
  shift
  swtrace init --source driver -s 64
  # shellcheck disable=SC2086 # several words
  swtrace enable $majors
  swtrace setrate 1000
  swtrace on
  "$@"
  swtrace off
  "$build/bin/swtrace" info | grep 'Trace records' >records
  swtrace free
}

# ---- one event ----

# The minimum of many getppid() calls: without the time of interrupts and readers.
minimum() { "$@" | awk '/ spent / { print $NF }'; }
calls=20000
untraced=$(minimum "$tool" getppid $calls)
event() { # event NAME INSTRUCTIONS-OF-A-CALL BYTES
  awk -v name="$1" -v minimum="$2" -v untraced="$untraced" -v bytes="$3" 'BEGIN {
    printf "event %-8s %6.0f instructions %s bytes\n", name, (minimum - untraced) / 2, bytes }'
}
echo "a getppid() untraced: $untraced instructions"
event pitrace "$(minimum traced 0x05 "$tool" getppid $calls)" '16 and 20'
if perf --version >/dev/null 2>&1; then
  theirs=$(minimum perf record -q -m 2048 -e raw_syscalls:sys_enter -e raw_syscalls:sys_exit -o perf.data -- "$tool" getppid $calls)
  event perf "$theirs" "$(($(stat -c %s perf.data) / (2 * calls)))"
fi

# ---- workloads ----

for ((i = 0; i < 100; i++)); do
  echo "static int f$i(int x, const char *s) { int n = $i; while (*s) { n = n * 31 + *s++ % (x + 1); if (n & 64) n ^= x << 3; } return n; }"
  echo "int g$i(int x) { int a[16]; for (int i = 0; i < 16; i++) a[i] = f$i(x + i, \"text $i\"); return a[x & 15]; }"
done >many.c
cat >Words.java <<'END'
import java.util.*;
public class Words {
  public static void main(String[] args) {
    Random random = new Random(1);
    Map<String, Integer> counts = new TreeMap<>();
    for (int i = 0; i < 1000000; i++) counts.merge("word" + random.nextInt(5000), 1, Integer::sum);
    System.out.println(counts.size());
  }
}
END
javac Words.java
declare -A workloads=([compile]='gcc -O2 -c -o many.o many.c' [pipe]="$tool pingpong 60000"
  [java]='java -Xbatch -XX:+UseSerialGC -XX:TieredStopAtLevel=1 Words')

# cost COMMAND...: its CPU time, user and system, in milliseconds (of a million instructions each)
cost() {
  local TIMEFORMAT='%U %S'
  { time "$@" >/dev/null 2>&1; } 2>&1 | awk '{ print ($1 + $2) * 1000 }'
}
with_pitrace() { traced '0x04 0x10 0x12' cost "$@"; }
with_perf() {
  perf record -q -a -m 4096 -e sched:sched_switch -e sched:sched_waking -o perf.data -- \
    bash -c "$(declare -f cost); cost $*"
}

# compare TRACER WORKLOAD
compare() {
  local run without
  for ((run = 0; run < runs; run++)); do
    # shellcheck disable=SC2086 # several words
    without=$(cost ${workloads[$2]})
    # shellcheck disable=SC2086
    echo "$without $("with_$1" ${workloads[$2]})"
  done | awk '{ printf "%.3f %d %d\n", 100 * ($2 / $1 - 1), $1, $2 }' | sort -n |
    awk -v name="$2, $1" '{ line[NR] = $0 }
      END { split(line[int((NR + 1) / 2)], m, " "); split(line[1], l, " "); split(line[NR], h, " ")
        printf "workload %-18s %6.2f %% more (%.2f to %.2f), %d and %d ms\n", name, m[1], l[1], h[1], m[2], m[3] }'
}
for workload in compile pipe java; do
  # shellcheck disable=SC2086 # several words
  cost ${workloads[$workload]} >/dev/null # fills the page cache
  compare pitrace $workload
  sed 's/^ */         /' records
done
if perf --version >/dev/null 2>&1; then compare perf pipe; fi
