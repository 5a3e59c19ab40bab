#!/bin/bash
# SPDX-License-Identifier: MIT
# Guest part of callflow-icount.bats: repeated runs of the same programs, measured with calibration. Prints for each run "run KIND SHARE",
# the percentage of calls and returns in untrained sequences, and for each trained sequence "seq KIND SEQUENCE COUNT MINIMUM MODE".
# Kinds: int and batch, Java interpreted and compiled; patched and instrumented, C.
# Usage: callflow-icount-repeat-guest.sh BUILD-FOLDER RUNS
set -eu

build=$1 runs=$2
cd "$LAB_OUT"

# print_sequences KIND LOG
print_sequences() {
    awk -v kind="$1" '/^ Calibration ::/ { for (i = 1; i < NF; i++) if ($(i + 1) == "%") print "run", kind, $i }
        $1 == "RAW_CYCLES" && NF == 11 { print "seq", kind, $2 $3 $4 $5 $6, $7, $8, $9 }' "$2"
}

# run_java KIND JVM-OPTION...
run_java() {
    local kind=$1
    shift
    java -XX:+UseSerialGC "$@" -XX:CompileCommand=quiet -XX:CompileCommand=dontinline,Leaves.* \
        -agentpath:"$build/lib/libjprof.so=calltree,start,metrics=raw_cycles,nopidx,logprefix=$kind" \
        -cp "$build/tests/java" Leaves 40000 >/dev/null
}

for ((i = 0; i < runs; i++)); do
    for kind in patched instrumented; do
        JPROFOPTS=raw_cycles,nopidx,logprefix=$kind HOOKIT_PROFILING=on "$build/tests/truth_$kind" 1000
        print_sequences "$kind" "$kind-rt.1"
    done
    for kind in int batch; do
        run_java "$kind" -X$kind
        print_sequences "$kind" "$kind-rt.1"
    done
    rm ./*-rt.1
done
