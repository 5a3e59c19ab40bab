#!/bin/bash
# SPDX-License-Identifier: MIT
# Guest part of long/itrace.bats: ITrace of workloads that each take another path through the kernel, and of whole programs.
# Then runs itrace-stress-guest.sh. Prints "ok NAME" or "not ok NAME" for each promise.
# Usage: itrace-guest.sh FOLDER-OF-TEST-PROGRAMS CYCLES
# shellcheck disable=SC2016 # awk programs have dollars
set -u

programs=$1
cycles=$2
tool=$programs/itracer
work=$LAB_OUT/itrace
mkdir -p "$work"

# shellcheck source=tests/lab/promises.bash
source "$(dirname "$0")/promises.bash"
# shellcheck source=tests/lab/itracer.bash
source "$(dirname "$0")/itracer.bash"

# ---- every path through the kernel, every instruction that shows TF: all code, user code only, kernel code only ----

for piece in 'loop 1000' 'straight' 'recursion 50' 'plt 5' 'getppid 5' 'r11 5' 'pushf 5' 'popf 5' 'kill 3' 'fault 3' \
    'sleep 3' 'rep 100' 'write 3' 'threads 2' 'fork 2' 'vfork 1' 'int3 2' 'own 2' 'segv 2' 'timer 2' 'migrate 3'; do
    for options in -i -iuc; do
        # shellcheck disable=SC2086 # a workload and its number
        promise "flow-of-${piece%% *}$options" run "${piece%% *}$options" $options self $piece
    done
done
for piece in 'write 3' 'kill 3' 'fork 2'; do
    # shellcheck disable=SC2086
    promise "flow-of-${piece%% *}-ik" run "${piece%% *}-ik" -ik self $piece
done
# Interrupts of user and kernel code are recorded if requested, otherwise not.
promise flow-with-interrupts run interrupts -iI self loop 100000
promise interrupts-are-shown has interrupts '$1 == "gap" && $2 == 10 && $3 > 2'
promise flow-with-interrupts-of-the-kernel run interrupts-k -iI self write 300
promise interrupts-of-the-kernel-are-shown has interrupts-k '$1 == "gap" && $2 == 10 && $3 > 0'
promise no-interrupts-by-default lacks loop-i '$1 == "gap" && $2 == 10'
promise user-code-only-has-no-kernel test "$(number write-iuc kernel)" = 0
promise kernel-code-only-has-no-user test "$(number write-ik user)" = 0
promise children-are-followed test "$(number fork-iuc threads)" = 3
promise children-are-not-followed-by-default test "$(number fork-i threads)" = 1
promise new-threads-are-followed test "$(number threads-i threads)" = 3

# ---- a long flow with sleeps, migrations, signals and faults has no broken block ----

promise a-million-branches-are-decoded run million -i self everything 120
promise there-are-a-million-branches test $(($(number million user) + $(number million kernel))) -gt 1000000
for gap in 3 5; do
    promise "they-have-gaps-$gap" has million "\$1 == \"gap\" && \$2 == $gap && \$3 > 100"
done
promise nothing-is-undecoded has million '$1 == "undecoded" && $2 == 0'
sed 's/^/# million: /' "$work/million"

# ---- whole programs ----

promise a-program-is-traced-from-its-first-instruction-to-its-last run true -i run /bin/true
promise the-program-has-its-own-exit-status has true '$1 == "status" && $2 == 0'
promise a-shell-and-its-children-are-traced run shell -ic run /bin/sh -c '/bin/true; echo $(echo b); kill -9 $$'
promise the-shell-has-its-own-exit-status has shell '$1 == "status" && $2 == 137'
promise a-32-bit-program-is-traced run code32 -ic run "$programs/code32" 0
promise a-full-buffer-ends-the-trace run full -i -t 256 run /bin/true
promise the-program-continues-after-a-full-buffer has full '$1 == "status" && $2 == 0'

# ---- other users of the trap flag or of breakpoints ----

meet_a_debugger

tracefs=/sys/kernel/tracing
[[ -e $tracefs/uprobe_events ]] || tracefs=/sys/kernel/debug/tracing
offset=$(readelf -sW "$programs/itracer" | awk '$8 == "itracer_probed" { print $2; exit }')
start=$(readelf -lW "$programs/itracer" | awk '$1 == "LOAD" && / R E / { print $2, $3; exit }')
if [[ -n $offset && -e $tracefs/uprobe_events ]]; then
    probe=$((16#$offset - ${start#* } + ${start% *}))
    printf 'p:itracer_probe %s:0x%x\n' "$programs/itracer" "$probe" >"$tracefs/uprobe_events"
    echo 1 >"$tracefs/events/uprobes/itracer_probe/enable"
    for options in -i -iuc -ik; do
        promise "a-uprobe-in-traced-code$options" run "probed$options" $options self probed 5
    done
    echo 0 >"$tracefs/events/uprobes/itracer_probe/enable"
    promise the-uprobe-was-hit-each-time test "$(grep -c itracer_probe: "$tracefs/trace")" = 30
    echo >"$tracefs/uprobe_events"
fi

# Too many instructions with preemption off are not stepped: a gap, after which the flow continues.
"$tool" sleepers 1500 >"$work/sleepers" &
sleepers=$!
for ((i = 0; i < 300; i++)); do grep -q ready "$work/sleepers" && break; sleep 0.1; done
promise flow-of-a-stretch run stretch -i self kill-none 2
promise code-that-cannot-be-stepped-is-a-gap has stretch '$1 == "gap" && $2 == 6 && $3 == 2'
sed 's/^/# stretch: /' "$work/stretch"
kill -KILL $sleepers
wait $sleepers 2>/dev/null

promise a-seccomp-filter-works run seccomp -i self seccomp 3

exec "$(dirname "$0")/itrace-stress-guest.sh" "$programs" "$cycles"
