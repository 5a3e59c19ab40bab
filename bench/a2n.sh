#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Lookups of liba2n: JIT-compiled code at the addresses and times of a trace of javac; and 20,000 addresses of one of our
# C++ programs with lines and inlined functions, compared with addr2line, llvm-symbolizer and eu-addr2line.
# Usage: bench/a2n.sh
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
"$root/scripts/install-deps" build test java bench
# The measured code is optimised; the tools for it come from the dev build; the looked-up binary has debug information.
cmake --preset dev -S "$root" >/dev/null
cmake --build "$root/build" >/dev/null
build=$root/build/bench
cmake -G Ninja -S "$root" -B "$build" -DCMAKE_BUILD_TYPE=Release -DPITRACE_TESTS=OFF -DPITRACE_BENCH=ON >/dev/null
cmake --build "$build" --target a2n_bench >/dev/null
debug=$root/build/debug
cmake -G Ninja -S "$root" -B "$debug" -DCMAKE_BUILD_TYPE=RelWithDebInfo -DPITRACE_TESTS=OFF >/dev/null
cmake --build "$debug" --target genmsi >/dev/null
work=$(mktemp -d "${TMPDIR:-/var/tmp}/pitrace-bench.XXXXXX")
trap 'rm -rf "$work"' EXIT

# shellcheck source=tests/support/classes.bash
source "$root/tests/support/classes.bash"
mkdir "$work/sources" "$work/classes"
make_classes 400 "$work/sources"
cmake --install "$root/build" --prefix "$work/stage" >/dev/null
"$work/stage/bin/run.tprof" --source=perf -c 5000 -b 64 -o "$work/run" --lines=0 -- \
  java -XX:ReservedCodeCacheSize=16m -m jdk.compiler/com.sun.tools.javac.Main -nowarn -d "$work/classes" "$work"/sources/*.java
log=$(echo "$work"/run/log-jita2n_*)
"$root/build/tests/tick_names" "$work/run/swtrace.nrm2" "${log##*_}" >"$work/ticks"
awk '$3 == "JITCODE" || $3 == "GENERATED_CODE"' "$work/ticks" >"$work/jitted"

for ticks in ticks jitted; do
  echo "$ticks: $(wc -l <"$work/$ticks")"
  A2N_BENCH_LOG=$log A2N_BENCH_TICKS=$work/$ticks "$build/bench/a2n_bench" --benchmark_filter=jitted --benchmark_repetitions=5 \
    --benchmark_report_aggregates_only=true 2>/dev/null
done

binary=$debug/bin/genmsi
readelf -lW "$binary" | awk '$1 == "LOAD" && / R E / { print $3, $6 }' | head -n 1 | {
  read -r start size
  awk -v start="$((start))" -v size="$((size))" 'BEGIN {
    srand(1)
    while (n < 20000) {
      address = start + int(rand() * size)
      if (!(address in seen)) { seen[address] = 1; n++; printf "0x%x\n", address }
    }
  }'
} >"$work/addresses"
echo "binary: $(stat -c %s "$binary") bytes, $(wc -l <"$work/addresses") addresses"
A2N_BENCH_BINARY=$binary A2N_BENCH_ADDRESSES=$work/addresses "$build/bench/a2n_bench" --benchmark_filter=source 2>/dev/null

peer() { # peer COMMAND...: prints its CPU time
  /usr/bin/time -f '%U %S' -o "$work/time" "$@" <"$work/addresses" >"$work/answers"
  awk -v name="$1" '{ print name ": " $1 + $2 " s" }' "$work/time"
}
peer addr2line -aif -e "$binary"
peer llvm-symbolizer --inlining --obj="$binary"
peer eu-addr2line -aif -e "$binary"
