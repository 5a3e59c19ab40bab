#!/bin/bash
# SPDX-License-Identifier: MIT
# Common guest part of the long ITrace tests: ITrace of 64 threads, turned on and off CYCLES times; killed tools and targets;
# wrong calls; unloading and loading the module. Prints "ok NAME" or "not ok NAME" for each promise.
# Usage: itrace-stress-guest.sh FOLDER-OF-TEST-PROGRAMS CYCLES
# shellcheck disable=SC2016 # awk programs have dollars
set -u

programs=$1
cycles=$2
tool=$programs/itracer
module=/run/lab/ctl/pitrace.ko
work=$LAB_OUT/itrace
mkdir -p "$work"

# shellcheck source=tests/lab/promises.bash
source "$(dirname "$0")/promises.bash"
# shellcheck source=tests/lab/itracer.bash
source "$(dirname "$0")/itracer.bash"

promise many-threads-run-correctly run crowd crowd "$cycles"
sed 's/^/# /' "$work/crowd"
promise many-threads-ended-without-error has crowd '$1 == "rounds" && f("bad") == 0 && f("status") == 0 && f("steps") > 1000'
for ((i = 0; i < 5; i++)); do
    "$tool" -c crowd 1000 >/dev/null 2>&1 &
    victim=$!
    sleep 0.$((i + 1))
    kill -KILL $victim
    wait $victim 2>/dev/null
    pkill -KILL -x itracer
done
promise wrong-calls-are-refused run misuse misuse
for ((i = 0; i < 50; i++)); do
    rmmod pitrace 2>/dev/null && break
    sleep 0.1
done
promise unloading-leaves-nothing bash -c '! grep -q ^pitrace /proc/modules'
promise programs-run-correctly-after-unloading bash -c '/bin/true && (exit 3); [ $? = 3 ]'
promise loading-again insmod "$module"
promise it-works-again run again -i self loop 1000
promise finished true
