#!/bin/bash
# SPDX-License-Identifier: MIT
# Guest part of callflow-icount.bats: C functions (callflow-icount-c-guest.sh), and calls of leaves in a Java virtual machine, measured
# with and without calibration. Prints for Java a line "RUN TYPE METHOD CALLS BASE DELTA" for each leaf and type, and the line of the
# report about calibration. With -Xbatch also "trace METHOD INSTRUCTIONS" for each leaf: what a call executes without probes, counted by
# ITrace; and the run "minima", which uses environmental minima of run.minima.
# Usage: callflow-icount-guest.sh BUILD-FOLDER ROUNDS JVM-OPTION...
set -eu

build=$1 rounds=$2
shift 2
here=$(readlink -f "${0%/*}")
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

"$here/callflow-icount-c-guest.sh" "$build" 1000

jvm=(-XX:+UseSerialGC "$@")
measure calibrated calibrate
measure again calibrate
measure raw nocalibrate
if [[ " $* " != *' -Xbatch '* ]]; then
    # Cycles of the module's PTT, which leaves out interrupts and counts them.
    measure ptt calibrate metrics=ptt_cycles
    awk '/^ Metrics ::|^ DS and IN ::|BASE and DELTA ::/ { print "ptt-head", $0 }' ptt-rt.1
    exit
fi

export PATH=$build/bin:$PATH HOME=$LAB_OUT
"$build/stage/bin/run.minima" --source=driver --no-install -m RAW_CYCLES -o minima -- java -XX:+UseSerialGC
measure minima calibrate,envminima=minima

# The leaves without probes, in a process that runs on.
java "${jvm[@]}" -agentpath:"$build/lib/libjprof.so=itrace" -cp "$build/tests/java" Leaves 2000000000 >/dev/null &
leaves=$!
until grep -q 'Leaves.add' log-jita2n_$leaves 2>/dev/null; do sleep 1; done
sleep 10
swtrace init -s 16 && swtrace it_install -i -user && swtrace it_enable $leaves && swtrace on && swtrace it_on
sleep 1
swtrace it_off && swtrace off && swtrace get swtrace.nrm2 && swtrace free
kill -KILL $leaves
post -r swtrace.nrm2 -arc >/dev/null
awk '$7 ~ /^Leaves\.(nothing|nothingEither|add)\(/ && $9 == "RETURN" {
        name = substr($7, 8); sub(/\(.*/, "", name)
        if (++seen[name, $4] > seen[name, most[name]]) most[name] = $4 }
    END { for (name in most) print "trace", name, most[name] }' arc
