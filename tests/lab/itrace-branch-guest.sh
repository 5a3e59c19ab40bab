#!/bin/bash
# SPDX-License-Identifier: MIT
# Guest part of long/itrace-branch.bats, with a processor that has branch traps: ITrace uses them for user code, and records
# the same as with single steps. Then runs itrace-stress-guest.sh. Prints "ok NAME" or "not ok NAME" for each promise.
# Usage: itrace-branch-guest.sh BUILD-FOLDER CYCLES
# shellcheck disable=SC2016 # awk programs have dollars
set -u

programs=$1/tests
msr=$1/bin/msr
cycles=$2
tool=$programs/itracer
work=$LAB_OUT/itrace
mkdir -p "$work"

# shellcheck source=tests/lab/promises.bash
source "$(dirname "$0")/promises.bash"
# shellcheck source=tests/lab/itracer.bash
source "$(dirname "$0")/itracer.bash"

# ---- branch traps are used if they work, and if no option needs single steps ----

modprobe msr
promise a-loop run loop -u self loop 10000
promise the-trap-is-used has loop '$1 == "trap" && $2 == 1'
for options in -i -s -k; do
    run "stepped$options" "$options" self loop 1000
    promise "the-trap-is-not-used-with$options" has "stepped$options" '$1 == "trap" && $2 == 0'
done
promise a-stepped-loop run stepped -us self loop 10000
promise a-loop-has-half-as-many-traps test "$(number loop steps)" -gt 10000 -a "$(number loop steps)" -lt 10200 \
    -a "$(number stepped steps)" -gt 20000

# ---- branch traps record the same branches of user code, in the same order, as single steps ----

# branches NAME ARG...: extracts those of user code; setarch -R keeps the addresses equal in all runs.
branches() {
    local name=$1
    shift
    setarch -R "$tool" -d "$@" >"$work/$name" 2>&1 || {
        tail -n 20 "$work/$name" | sed "s|^|# $name: |"
        return 1
    }
    sort -s -n -k 1,1 "$work/$name" | awk '$3 == "21" { print $4, $5, $6, $7 }' >"$work/$name.branches"
    sed -i '/^[0-9]* [0-9]* [0-9a-f][0-9a-f] /d' "$work/$name"
}
same() { # same NAME WORD...: by traps and by steps, without and with kernel code
    local name=$1
    shift
    branches "$name-step" -us "$@" || return
    for options in -u -uI ''; do
        # shellcheck disable=SC2086 # one option or none
        branches "$name-trap$options" $options "$@" || return
        [ "$(number "$name-trap$options" trap)" = 1 ] || return
        cmp "$work/$name-step.branches" "$work/$name-trap$options.branches" || {
            diff "$work/$name-step.branches" "$work/$name-trap$options.branches" | sed -n '1,20s/^/# /p'
            return 1
        }
    done
}
for piece in 'loop 1000' 'straight' 'recursion 50' 'plt 5' 'getppid 5' 'r11 5' 'kill 3' 'fault 3' 'sleep 3' 'rep 100' \
    'write 3' 'int3 2' 'segv 2' 'migrate 3' 'everything 2'; do
    # shellcheck disable=SC2086 # a workload and its number
    promise "branches-of-${piece%% *}-equal-those-of-single-steps" same "${piece%% *}" self $piece
done
promise branches-of-a-program-equal-those-of-single-steps same true run /bin/true
promise a-32-bit-program-is-single-stepped run code32 -c run "$programs/code32" 0

# ---- other control flow: each block is decoded, none is broken ----

for piece in 'threads 2' 'fork 2' 'vfork 1' 'timer 2' 'everything 60'; do
    for options in -c -uc; do
        # shellcheck disable=SC2086
        promise "flow-of-${piece%% *}$options" run "${piece%% *}$options" $options self $piece
        promise "flow-of-${piece%% *}$options-was-trapped" has "${piece%% *}$options" '$1 == "trap" && $2 == 1'
    done
done
promise nothing-is-undecoded has everything-c '$1 == "undecoded" && $2 == 0'
sed 's/^/# everything: /' "$work/everything-c"
promise flow-with-interrupts run interrupts -I self loop 100000
promise interrupts-are-shown has interrupts '$1 == "gap" && $2 == 10 && $3 > 2'
promise a-shell-and-its-children-are-traced run shell -c run /bin/sh -c '/bin/true; echo $(echo b); kill -9 $$'
promise the-shell-has-its-own-exit-status has shell '$1 == "status" && $2 == 137'

# ---- flags loaded without the trap flag are reported as a gap ----

promise a-program-that-clears-the-trap-flag-continues run cleared -u self cleared 5
promise a-program-that-clears-the-trap-flag-has-gaps has cleared '$1 == "gap" && $2 == 8 && $3 == 5'

# ---- watchpoints; in Debian's QEMU they do not work while single-stepping ----

for options in -i -us -u ''; do
    # shellcheck disable=SC2086 # one option or none
    promise "a-watchpoint-of-traced-code$options" run "watched$options" $options self watched 20
done
promise a-watchpoint-set-later-with-single-steps run later-us -us self watched-later 20
promise a-watchpoint-set-later-with-single-steps-makes-no-gap lacks later-us '$1 == "gap" && $2 == 8'
promise a-watchpoint-set-later run later -u self watched-later 20
promise a-watchpoint-set-later-makes-a-gap has later '$1 == "gap" && $2 == 8 && $3 == 1'
sed 's/^/# later: /' "$work/later"

meet_a_debugger

# ---- no processor keeps recording branches ----

"$msr" -q -d 0x1d9 >"$work/msr" 2>&1
promise no-processor-records-branches test "$(sort -u "$work/msr")" = 0
sed 's/^/# msr: /' "$work/msr"

exec "$(dirname "$0")/itrace-stress-guest.sh" "$programs" "$cycles"
