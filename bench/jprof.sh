#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The cost of JProf for a JVM that compiles a lot: instructions, including the kernel's, of javac for some classes without and
# with it, alternating, in the instruction-count lab. With -Xbatch methods are compiled on request, so that runs are equal.
# Usage: bench/jprof.sh [RUNS]
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
if [[ -n ${LAB:-} ]]; then
  # In the lab, where a nanosecond of CPU time is an instruction.
  runs=$1 agent=$2
  work=/run/jprof
  mkdir "$work" "$work/sources" "$work/classes"
  # shellcheck source=tests/support/classes.bash
  source "$root/tests/support/classes.bash"
  make_classes 8 "$work/sources"
  once() { # once KIND JAVA-OPTION...
    local kind=$1
    shift
    /usr/bin/time -f "$kind %U %S" -o "$work/time" java -Xbatch -XX:+UseSerialGC "$@" -m jdk.compiler/com.sun.tools.javac.Main -nowarn -d "$work/classes" "$work"/sources/*.java
    awk '{ print $1, 1000 * ($2 + $3) }' "$work/time"
    rm -f "$work"/log-*
  }
  once warm >/dev/null
  for ((i = 0; i < runs; i++)); do
    once without
    # The additional work of the JVM as soon as an agent requests events of compiled methods.
    once noting -XX:+UnlockDiagnosticVMOptions -XX:+DebugNonSafepoints
    once jita2n "-agentpath:$agent=jita2n,threadinfo,logpath=$work,nopidx"
    once tprof "-agentpath:$agent=tprof,logpath=$work,nopidx"
  done
  exit
fi
"$root/scripts/install-deps" build test lab java
build=$root/build/bench
cmake -G Ninja -S "$root" -B "$build" -DCMAKE_BUILD_TYPE=Release -DPITRACE_TESTS=OFF -DPITRACE_BENCH=ON >/dev/null
cmake --build "$build" --target jprof >/dev/null
"$root/scripts/lab" --icount --no-module --timeout 3600 -- "$root/bench/jprof.sh" "${1:-5}" "$build/lib/libjprof.so" | tee /dev/stderr |
  sort -k 1,1 -k 2,2n | awk '
    { n[$1]++; all[$1, n[$1]] = $2 }
    END {
      for (kind in n) median[kind] = all[kind, int((n[kind] + 1) / 2)]
      for (kind in n)
        printf "%-8s %.1f million instructions (%.1f to %.1f), %+.2f %%, %d runs\n", kind, median[kind],
          all[kind, 1], all[kind, n[kind]], 100 * (median[kind] / median["without"] - 1), n[kind]
    }'
