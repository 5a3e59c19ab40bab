#!/bin/bash
# SPDX-License-Identifier: MIT
# Guest part of long/cpus.bats: PTT, a trace and ITrace while a hundred thousand threads live. Prints "ok NAME" or "not ok NAME" for
# each promise, and a line "took NAME SECONDS" for each command.
# Usage: crowd-guest.sh BUILD-DIR THREADS
set -u

build=$1 threads=$2
PATH=$build/bin:$PATH
# shellcheck source=tests/lab/promises.bash
source "$(dirname "$0")/promises.bash"
cd "$LAB_OUT" || exit
sysctl -q kernel.threads-max=300000 kernel.pid_max=4194304 vm.max_map_count=1000000

# took NAME COMMAND...: at most 60 seconds of an emulated machine.
took() {
    local name=$1 began=$EPOCHREALTIME status=0
    shift
    timeout 60 "$@" >"$name.out" 2>&1 || status=$?
    awk -v name="$name" -v began="$began" -v now="$EPOCHREALTIME" 'BEGIN { printf "took %s %.1f\n", name, now - began }'
    ((status == 0)) || { cat "$name.out" && false; }
}

# said N TEXT: waits until the crowd has printed the line N times.
said() {
    local i
    for ((i = 0; i < 3000; i++)); do
        (($(grep -c "^$2" said) < $1)) || return 0
        sleep 0.1
    done
    return 1
}

# everybody_counted: each thread has an account that has counted cycles.
everybody_counted() {
    jq -e --argjson pid "$crowd" --argjson threads "$threads" '
        [.threads[] | select(.pid == $pid and .values.CYCLES > 0 and .dispatches > 0)] | length == $threads + 1' dump.out
}

# all_traced: the trace has a start-up record of each thread but the first.
all_traced() {
    local found
    post -r swtrace.nrm2 -showx >/dev/null || return
    found=$(awk -v pid="$(printf %X $crowd)" '$1 == "****" && $4 == 19 && $5 == 66 && $7 == pid { print $8 }' post.show | sort -u | wc -l)
    rm post.show
    ((found == threads))
}

: >said
promise ptt-begins took init ptt init CYCLES
"$build/tests/crowd" "$threads" >said &
crowd=$!
promise all-threads-begin said 1 ready
promise a-dump-takes-seconds took dump ptt dump --json
promise each-thread-has-an-account everybody_counted
promise a-trace-begins took on sh -c 'swtrace init -s 64 -sm 64 && swtrace enable tprof dispatch && swtrace on'
kill -USR1 $crowd
promise all-threads-continue said 1 woken
promise a-trace-ends took off sh -c 'swtrace off && swtrace get && swtrace free'
promise the-trace-has-every-thread all_traced
promise itrace-begins took it_on sh -c "swtrace init -s 16 && swtrace it_install -i -user && swtrace it_enable $crowd && swtrace on && swtrace it_on"
kill -USR1 $crowd
promise all-threads-continue-while-they-are-followed said 2 woken
promise itrace-ends took it_remove sh -c 'swtrace it_off && swtrace it_remove && swtrace off && swtrace free'
promise ptt-ends took term ptt term
kill -KILL $crowd
wait
promise the-module-unloads took rmmod rmmod pitrace
promise finished true
