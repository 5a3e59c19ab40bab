#!/bin/bash
# SPDX-License-Identifier: MIT
# Guest part of long/statefuzz.bats: random calls whose results a model predicts, then cycles of start, SIGKILL, unload and
# load; both leave nothing behind. Prints "ok NAME" or "not ok NAME" for each promise, and a line that begins with "run"
# or "cycles" for each run.
# Usage: statefuzz-guest.sh PROGRAM CALLS CYCLES [SEED [FROM]]
#        FAILING=1: fault injection makes allocations fail, if the kernel has it
#        SECONDS_MAX: limit for the calls, and again for the cycles
# shellcheck disable=SC2016 # awk programs have dollars
set -u

program=$1
calls=$2
cycles=$3
seed=${4:-1}
from=${5:-0}
limit=${SECONDS_MAX:-1000000}
module=/tmp/pitrace.ko
debug=/sys/kernel/debug
tracing=/sys/kernel/tracing
work=$LAB_OUT/statefuzz
mkdir -p "$work"
# Each cycle loads the module: from the guest's memory, without debugging information.
strip --strip-debug -o $module /run/lab/ctl/pitrace.ko

# shellcheck source=tests/lab/promises.bash
source "$(dirname "$0")/promises.bash"

# The model expects that processes of one user may debug each other.
[[ ! -e /proc/sys/kernel/yama/ptrace_scope ]] || echo 0 >/proc/sys/kernel/yama/ptrace_scope
checks_leaks=0
[[ -e $debug/kmemleak ]] && echo scan=off >$debug/kmemleak 2>/dev/null && checks_leaks=1

# The kernel's numbers of objects that a call may leak, from caches that show them.
objects() {
    local cache
    sync
    for cache in cred_jar mm_struct task_struct filp vm_area_struct; do
        [[ ! -e /sys/kernel/slab/$cache/shrink ]] || echo 1 >/sys/kernel/slab/$cache/shrink
    done
    awk '$1 ~ /^(cred_jar|mm_struct|task_struct|filp|vm_area_struct)$/ { print $1, $2 }' /proc/slabinfo
    awk '$1 ~ /^(VmallocUsed|Percpu):$/ { print $1, $2 }' /proc/meminfo
}
# A small growth is allowed: a leak would add one object for each leaking call.
grew_little() {
    awk 'NR == FNR { before[$1] = $2; next }
         { print "# " $1, before[$1], "->", $2 }
         $2 > before[$1] + 400 + before[$1] / 4 { print "# too many"; bad = 1 }
         END { exit bad }' "$work/objects-before" "$work/objects-after"
}
functions_in_use() { cat $tracing/enabled_functions 2>/dev/null; }
nothing_left() {
    ! grep -q '\[pitrace\]' /proc/kallsyms && ! grep -q pitrace /sys/devices/system/cpu/hotplug/states &&
        [[ ! -e /dev/pitrace && ! -e /dev/pitrace-ptt ]] && ! grep -q pitrace /proc/vmallocinfo $debug/kprobes/list &&
        [[ $(functions_in_use) == "$functions_before" ]]
}
unload() {
    local i
    for ((i = 0; i < 100; i++)); do
        rmmod pitrace 2>/dev/null && return
        sleep 0.1
    done
    return 1
}
say_run() { # the summary line of a run, and its errors
    grep -aE '^(run|cycles|position) ' "$work/$1" | tail -n 2
    grep -avE '^(run|cycles|position) ' "$work/$1" | head -n 100 | sed 's/^/# /'
}
# Only root sees the module's addresses.
hides_addresses() {
    ! setpriv --reuid 65534 --regid 65534 --clear-groups \
        bash -c 'cat /sys/module/pitrace/sections/.text /sys/kernel/debug/kprobes/list /proc/vmallocinfo' 2>/dev/null |
        grep -qE '[1-9a-f]{4}'
}
fail_allocations() { # fail_allocations PROBABILITY
    local kind
    for kind in failslab fail_page_alloc; do
        [[ -d $debug/$kind ]] || return
        echo N >$debug/$kind/ignore-gfp-wait
        echo 0 >$debug/$kind/verbose
        echo -1 >$debug/$kind/times
        echo Y >$debug/$kind/task-filter
        echo "$1" >$debug/$kind/probability
    done
    echo 0 >$debug/fail_page_alloc/min-order
    # Not for user pages: the kernel would retry and log it.
    echo Y >$debug/fail_page_alloc/ignore-gfp-highmem
}

promise addresses-are-hidden hides_addresses
unload
functions_before=$(functions_in_use)
insmod $module
# Fill the caches first.
"$program" --calls 1000 --seed 77 >/dev/null
objects >"$work/objects-before"

options=(--bold "${BOLD:-1}")
if [[ ${FAILING-} ]]; then
    fail_allocations 2
    options+=(--failing 1)
fi
promise calls-return-what-the-model-predicts \
    bash -c '"$@" >"$0" 2>&1' "$work/calls" "$program" "${options[@]}" --calls "$calls" --seed "$seed" --from "$from" --seconds "$limit" --timeout "${CALL_TIMEOUT:-120}"
say_run calls
[[ ! ${FAILING-} ]] || fail_allocations 0
objects >"$work/objects-after"
promise calls-leave-no-objects grew_little
promise the-module-unloads-after-the-calls unload
promise calls-leave-nothing nothing_left
insmod $module

if ((cycles)); then
    promise cycles-of-start-kill-unload-load \
        bash -c '"$@" >"$0" 2>&1' "$work/cycles" "$program" cycles $module --calls "$cycles" --seed "$seed" --from "$from" --seconds "$limit" --timeout "${CALL_TIMEOUT:-120}"
    say_run cycles
    promise the-module-unloads-after-the-cycles unload
    promise cycles-leave-nothing nothing_left
    insmod $module
fi

if ((checks_leaks)); then
    unload
    # kmemleak ignores objects younger than five seconds.
    sleep 6
    echo scan >$debug/kmemleak
    sleep 6
    echo scan >$debug/kmemleak
    cat $debug/kmemleak >"$work/kmemleak"
    promise kmemleak-finds-nothing test ! -s "$work/kmemleak"
    head -n 200 "$work/kmemleak" | sed 's/^/# /'
    insmod $module
fi
echo "ok finished"
