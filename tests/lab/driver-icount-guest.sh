#!/bin/bash
# SPDX-License-Identifier: MIT
# Runs in the instruction-count lab: how many ticks come in virtual time, and what one costs.
# Usage: driver-icount-guest.sh DRIVERTOOL LOOP-ITERATIONS
# shellcheck disable=SC2016
set -eu

tool=$1
loop=$2
tracing=/sys/kernel/tracing

# Idle, the virtual clock jumps from timer to timer: no stall of the host can hide a missing tick.
for rate in 1000 10000; do
    "$tool" run -M 0x10 -r $rate -s 4 |
        awk '/^stream trace/ { printf "idle rate '$rate' seen %.1f\n", ($20 - 1) * 1e9 / $22 }'
done

# extra RATE: prints the instructions that interrupts add to a loop of known length, the ticks that
# came meanwhile and the bytes of their records. Rate 0: no ticks.
extra() {
    local majors=0x10 rate=$1
    ((rate)) || { majors=0x30 rate=1000; }
    "$tool" run -M $majors -t 16384 -r "$rate" -- "$tool" loop "$loop" |
        awk '/^loop/ { extra = $4 } /^stream trace/ { print extra, $20, $6 }'
}
# per_tick: what one tick adds, interrupt and timer handling included.
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

# The timer callback alone, by the kernel's own trace events, whose clock counts instructions. Between
# the two time stamps lies the cost of one event besides: half of what both add to a tick.
echo x86-tsc >$tracing/trace_clock
events 1
read -r traced _ < <(per_tick)
events 0
awk '/hrtimer_expire_entry:/ && /function=tick[ .]/ { sub(":", "", $4); at = $4 }
     /hrtimer_expire_exit:/ && at { sub(":", "", $4); print $4 - at; at = 0 }' $tracing/trace |
    sort -n >"$LAB_OUT/callback"
median=$(sed -n "$((($(wc -l <"$LAB_OUT/callback") + 1) / 2))p" "$LAB_OUT/callback")
echo "tick callback $((median - (traced - total) / 2))"
