#!/bin/bash
# SPDX-License-Identifier: MIT
# Guest part of long/itrace-flow.bats: run.itrace follows programs whose instructions other tools have counted, one of
# them with the smallest buffers. Writes the call trees and the heads of the arcs to $LAB_OUT.
# Usage: itrace-flow-guest.sh FOLDER-OF-INSTALLED-PROGRAMS FOLDER-OF-TEST-PROGRAMS
set -u

export PATH=$1/bin:$PATH LC_ALL=C
programs=$2
work=/tmp/itrace-flow
mkdir -p "$work"

# shellcheck source=tests/lab/promises.bash
source "$(dirname "$0")/promises.bash"

# keep NAME DIRECTORY: stores the call tree and the head of the arc in DIRECTORY.
keep() {
    arcf -F "$2/arc" -r 2 >"$LAB_OUT/$1.functions" && grep '^#' "$2/arc" >"$LAB_OUT/$1.head"
}

# follow NAME OPTION... -- COMMAND...: follows the whole run without limits; stores its output.
follow() {
    local name=$1
    shift
    run.itrace --source=driver -i -c -cont -t 0 -n 0 --lines=0 -o "$work/$name" "$@" \
        >"$LAB_OUT/$name.said" 2>"$LAB_OUT/$name.err" && keep "$name" "$work/$name"
}

promise followed-sort follow sort -- "$programs/algorithms" sort 5000
promise followed-compress follow compress -user -- "$programs/algorithms" compress 20000
promise followed-match follow match -user -- "$programs/algorithms" match 500

# Every call and return in order, to be compared with the program's own log.
export FUNCTION_LOG=$LAB_OUT/entered
ordered() {
    run.itrace --source=driver -cont -user -t 0 -n 0 --lines=0 -o "$work/order" -- "$programs/instrumented" sort 300 \
        >/dev/null 2>"$LAB_OUT/order.err" &&
        awk '!/^#/ && NF { sub(/:.*/, "", $7); print $9, $7 }' "$work/order/arc" >"$LAB_OUT/order"
}
promise followed-in-order ordered

# More than a million branches through buffers of 64 KB; kernel code may use a reserve of half of that.
narrow() {
    swtrace init -s 64K -ss 32 -t cont -f "$work/narrow.nrm2" && swtrace it_install -i -user -cont -reserve 32K && swtrace on &&
        swtrace it_run -- "$programs/algorithms" sort 45000 >"$LAB_OUT/narrow.said" && swtrace it_off &&
        swtrace it_info >"$LAB_OUT/narrow.info" && swtrace it_remove && swtrace off && swtrace free || return
    mkdir -p "$work/narrow"
    post -r "$work/narrow.nrm2" -arc -c -o "$work/narrow" >&2 && keep narrow "$work/narrow"
}
promise followed-narrow narrow 2>"$LAB_OUT/narrow.err"

# The recorder is stopped, so the thread waits for buffer space without end; it can be killed.
held() {
    local recorder target state status=0
    swtrace init -s 64K -ss 32 -t cont -f "$work/held.nrm2" && swtrace it_install -user -cont -reserve 32K && swtrace on || return
    recorder=$(swtrace info --json | sed -n 's/.*"recorder": \([0-9]*\).*/\1/p')
    mkfifo "$work/go"
    sh -c 'read -r line && exec "$0" sort 1000000' "$programs/algorithms" <"$work/go" >"$LAB_OUT/held.said" &
    target=$!
    swtrace it_enable $target && swtrace it_on || return
    kill -STOP "$recorder"
    echo go >"$work/go"
    # It checks for space periodically: it must be waiting in two checks, a second apart.
    for part in 1 2; do
        for ((i = 0; i < 100; i++)); do
            sleep 0.1
            read -r _ _ state _ <"/proc/$target/stat"
            [[ $state != D ]] || break
        done
        echo "part $part: state $state"
        sleep 1
    done
    kill -KILL $target
    wait $target || status=$?
    echo "status $status"
    kill -CONT "$recorder"
    swtrace it_off && swtrace it_remove && swtrace off && swtrace free && [[ $state == D && $status == 137 ]]
}
promise a-delayed-thread-waits-and-can-be-killed held >"$LAB_OUT/held" 2>&1
cat "$LAB_OUT/held"
# From a compiled Java method through libjava and the C library into the kernel, and back.
from_java() {
    local jvm
    mkdir -p "$work/java"
    java "-agentpath:$1/lib/libjprof.so=itrace,logpath=$work/java" -XX:TieredStopAtLevel=1 -cp "$programs/java" Writer \
        >"$work/java/said" &
    jvm=$!
    for ((i = 0; i < 1200; i++)); do
        grep -q ready "$work/java/said" && break
        sleep 0.1
    done
    sleep 1
    swtrace init -s 16 && swtrace it_install -i && swtrace it_enable $jvm && swtrace on && swtrace it_on && sleep 2 &&
        swtrace it_off && swtrace off && swtrace get "$work/java/swtrace.nrm2" && swtrace free || return
    kill -KILL $jvm
    post -r "$work/java/swtrace.nrm2" -arc -c -o "$work/java" &&
        grep '^#' "$work/java/arc" >"$LAB_OUT/java.head" && grep -v '^#' "$work/java/arc" | head -n 20000 >"$LAB_OUT/java.arc"
}
promise followed-from-java from_java "$1" >"$LAB_OUT/java.said" 2>&1
grep ok "$LAB_OUT/java.said"
promise finished true
