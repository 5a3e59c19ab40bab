#!/bin/bash
# SPDX-License-Identifier: MIT
# Guest part of callflow-icount.bats: C functions, measured with and without calibration. Prints a line "c KIND RUN FUNCTION CALLS BASE" for
# each function, the smallest BASE of three runs: a timer interrupt is part of what it interrupts.
# Usage: callflow-icount-c-guest.sh BUILD-FOLDER ROUNDS
set -eu

build=$1 rounds=$2
cd "$LAB_OUT"

# measure KIND RUN TIMES
measure() {
    local kind=$1 run=$2 i
    for ((i = 0; i < $3; i++)); do
        JPROFOPTS=raw_cycles,nopidx,logprefix="$kind",$run HOOKIT_PROFILING=on "$build/tests/truth_$kind" "$rounds"
        # A function has a row for each of its callers.
        awk '/^  LV / { rows = 1; next } /^$/ { rows = 0 }
            rows && $1 > 0 { sub(/^F:/, "", $8); calls[$8] += $2; base[$8] += $4 }
            END { for (f in calls) print f, calls[f], base[f] }' "$kind-rt.1"
    done | awk -v kind="$kind" -v run="$run" '!($1 in base) || $3 < base[$1] { base[$1] = $3 } { calls[$1] = $2 }
        END { for (f in base) print "c", kind, run, f, calls[f], base[f] }'
}

for kind in patched instrumented; do
    measure "$kind" calibrate 3
    measure "$kind" nocalibrate 1
done
