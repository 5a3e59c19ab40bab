#!/bin/bash
# SPDX-License-Identifier: MIT
# Guest part of driver-icount.bats: counts ticks in virtual time, and measures the cost of a tick and of records of
# dispatches and system calls.
# Usage: driver-icount-guest.sh DRIVERTOOL LOOP-ITERATIONS
# shellcheck disable=SC2016
set -eu

tool=$1
loop=$2
tracing=/sys/kernel/tracing

# While idle the virtual clock jumps from timer to timer: a stall of the host cannot hide a missing tick.
for rate in 1000 10000; do
    "$tool" run -M 0x10 -r $rate -s 4 |
        awk '/^stream trace/ { printf "idle rate '$rate' seen %.1f\n", ($20 - 1) * 1e9 / $22 }'
done

# extra RATE: prints the instructions that interrupts add to a loop of known length, the ticks in that time and the bytes
# of their records. Rate 0: no ticks.
extra() {
    local majors=0x10 rate=$1
    ((rate)) || { majors=0x30 rate=1000; }
    "$tool" run -M $majors -t 16384 -r "$rate" -- "$tool" loop "$loop" |
        awk '/^loop/ { extra = $4 } /^stream trace/ { print extra, $20, $6 }'
}
# per_tick: the instructions that one tick adds, interrupt and timer handling included.
per_tick() {
    local base with ticks bytes
    read -r base _ < <(extra 0)
    read -r with ticks bytes < <(extra 10000)
    printf '%s %s\n' $(((with - base) / ticks)) $((bytes / ticks))
}
events() {
    echo "$1" >$tracing/events/timer/hrtimer_expire_entry/enable
    echo "$1" >$tracing/events/timer/hrtimer_expire_exit/enable
}

read -r total bytes < <(per_tick)
echo "tick total $total bytes $bytes"

# The timer callback alone, from the kernel's trace events, whose clock counts instructions. The difference of the two
# time stamps also includes the cost of one event: half of what both events add to a tick.
echo x86-tsc >$tracing/trace_clock
events 1
read -r traced _ < <(per_tick)
events 0
awk '/hrtimer_expire_entry:/ && /function=tprof_tick[ .]/ { sub(":", "", $4); at = $4 }
     /hrtimer_expire_exit:/ && at { sub(":", "", $4); print $4 - at; at = 0 }' $tracing/trace |
    sort -n >"$LAB_OUT/callback"
median=$(sed -n "$((($(wc -l <"$LAB_OUT/callback") + 1) / 2))p" "$LAB_OUT/callback")
echo "tick callback $((median - (traced - total) / 2))"

# spent MAJOR WORKLOAD...: the instructions that the workload spent while that major was recorded, the bytes and the
# records of the trace buffer, and the minimum for one call.
spent() {
    local major=$1
    shift
    "$tool" run -M "$major" -t 65536 -- "$tool" "$@" | awk '
        function f(word, i) { for (i = 2; i < NF; i++) if ($i == word) return $(i + 1) }
        / spent / { spent = f("spent"); least = f("least") }
        /^stream trace/ { print spent, f("bytes"), f("written"), least + 0 }'
}
# event NAME MAJOR COUNT WORKLOAD...: the instructions that a record of that major adds to the workload, which makes COUNT
# of them, and the bytes of one record. No source records major 0x30.
event() {
    local name=$1 major=$2 count=$3 base with bytes records
    shift 3
    read -r base _ < <(spent 0x30 "$@")
    read -r with bytes records _ < <(spent "$major" "$@")
    echo "event $name instructions $(((with - base) / count)) bytes $(((bytes + records / 2) / records))"
}
event system-call 0x05 40000 getppid 20000
event dispatch 0x12 20000 yield 10000
event switch 0x13 20000 yield 10000
event wake-up 0x12 20000 pingpong 5000

# The cost of the same call when nothing is traced, and in a trace that does not record it.
untraced=$("$tool" getppid 10000 | awk '{ print $NF }')
read -r _ _ _ disabled < <(spent 0x30 getppid 10000)
echo "disabled untraced $untraced traced $disabled"
