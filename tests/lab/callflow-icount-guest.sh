#!/bin/bash
# SPDX-License-Identifier: MIT
# Guest part of callflow-icount.bats: calls of leaves in a Java virtual machine, measured with and without calibration. Prints a line
# "RUN TYPE METHOD CALLS BASE DELTA" for each leaf and type, and the line of the report about calibration.
# Usage: callflow-icount-guest.sh BUILD-FOLDER ROUNDS JVM-OPTION...
set -eu

build=$1 rounds=$2
shift 2
cd "$LAB_OUT"

# measure RUN AGENT-OPTION...
measure() {
    local run=$1 IFS=,
    shift
    java "${jvm[@]}" -agentpath:"$build/lib/libjprof.so=calltree,start,metrics=raw_cycles,nopidx,logprefix=$run,$*" \
        -cp "$build/tests/java" Leaves "$rounds" >"$run.sum"
    awk -v run="$run" '/Calibration ::/ { print run, $0 }
        $NF ~ /:Leaves\.(nothing|nothingEither|add)\(/ {
            type = substr($NF, 1, 1); name = substr($NF, 10); sub(/\(.*/, "", name)
            print run, type, name, $2, $4, $5 }' "$run-rt.1"
}

jvm=(-XX:+UseSerialGC "$@")
measure calibrated calibrate
measure again calibrate
measure raw nocalibrate
