#!/bin/bash
# SPDX-License-Identifier: MIT
# Guest part of callflow-icount.bats: C functions (callflow-icount-c-guest.sh), and calls of leaves in a Java virtual machine, measured
# with and without calibration. Prints for Java a line "RUN TYPE METHOD CALLS BASE DELTA" for each leaf and type, and the line of the
# report about calibration. With -Xbatch also "trace METHOD INSTRUCTIONS" for each leaf: what a call executes without probes, counted by
# ITrace; the run "minima", which uses environmental minima of run.minima; and for each pair of successive events of Trees
# "events RUN EVENT EVENT COST SHARE", its most frequent cost and the percentage of pairs that have it, of the run "gen", log-gen with
# probes, and of "arc", the trace without; "tree RUN COST CALLS" for the most frequent cost of a call of Trees.tree with all that it calls.
# Usage: callflow-icount-guest.sh BUILD-FOLDER ROUNDS JVM-OPTION...
set -eu

build=$1 rounds=$2
shift 2
here=$(readlink -f "${0%/*}")
# shellcheck source=tests/lab/callflow-icount.bash
source "$here/callflow-icount.bash"
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

follow Leaves add 1 ''
awk '$7 ~ /^Leaves\.(nothing|nothingEither|add)\(/ && $9 == "RETURN" {
        name = substr($7, 8); sub(/\(.*/, "", name)
        if (++seen[name, $4] > seen[name, most[name]]) most[name] = $4 }
    END { for (name in most) print "trace", name, most[name] }' arc

# costs RUN <EVENTS: lines "EVENT COST", of one thread; an EVENT is > or < with a method, or - where the flow is not known.
costs() {
    awk -v run="$1" '
        $1 == "-" { before = ""; depth = 0; next }
        { if (before != "") { pair = before " " $1; n[pair]++; if (++seen[pair, $2] > seen[pair, most[pair]]) most[pair] = $2 }
          before = $1
          if (depth) all += $2
          if ($1 == ">tree") { depth = 1; all = 0 }
          else if ($1 == "<tree" && depth) { trees++; if (++same[all] > same[usual]) usual = all; depth = 0 } }
        END { for (pair in most) print "events", run, pair, most[pair], int(100 * seen[pair, most[pair]] / n[pair])
              print "tree", run, usual, trees }'
}

java "${jvm[@]}" -agentpath:"$build/lib/libjprof.so=calltrace,start,metrics=raw_cycles,nopidx,logprefix=events,envminima=minima" \
    -cp "$build/tests/java" Trees 30000 >/dev/null
# The last thousand rounds, of twelve events each, and two events for ten of them.
awk '$2 ~ /^[<>]$/ && $3 ~ /:Trees\.(ten|tree|branch|leaf)\(/ { name = substr($3, 9); sub(/\(.*/, "", name); print $2 name, $1 }' events-gen.1 |
    tail -n 12200 | costs gen

follow Trees leaf 1 ''
# A block ends with a call, whose event is the entry of the next block, or with a return. Other code is part of its caller, unless it is
# of the virtual machine itself.
awk '/^#/ { next }
    $2 != "U" || $9 ~ /^-/ || $7 !~ /^Trees\.(main|ten|tree|branch|leaf)\(/ { print "-"; calls = 0; cost = 0; next }
    { name = substr($7, 7); sub(/\(.*/, "", name)
      if (calls) { print ">" name, cost; cost = 0 }
      cost += $4
      calls = $3 == 1
      if ($3 == 2) { print "<" name, cost; cost = 0 } }' arc | costs arc
