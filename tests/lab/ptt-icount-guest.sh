#!/bin/bash
# SPDX-License-Identifier: MIT
# Guest part of ptt-icount.bats: PTT's counts of work with known instructions, and PTT's own costs.
# Usage: ptt-icount-guest.sh FOLDER-OF-TEST-PROGRAMS FOLDER-OF-TOOLS
# shellcheck disable=SC2016
set -u

programs=$1
ptt=${2:-$programs}/ptt
tool=$programs/ptttool
drivertool=$programs/drivertool

# spent WORKLOAD...: prints "INSTRUCTIONS DISPATCHES" of drivertool's workload.
spent() {
    "$drivertool" "$@" | awk '
        function f(word, i) { for (i = 1; i < NF; i++) if ($i == word) return $(i + 1) }
        / spent / { print f("spent"), f("dispatches") }'
}
# Two processes that yield one CPU to each other, without PTT and with it: the difference is its cost for a dispatch.
yields=10000
read -r without _ < <(spent yield $yields)

"$tool" init keep || exit 1
for n in 1 1000 1000000; do "$tool" loop $n 10; done
"$tool" sums | sed 's/^/active /'
"$tool" costs
"$tool" yield 500
"$tool" interrupts 3
read -r with dispatches < <(spent yield $yields)
echo "dispatch-hook metrics 1 instructions $(((with - without) / dispatches))"
"$tool" sums | sed 's/^/active /'
"$tool" kernel 2
"$tool" term
"$tool" sums | sed 's/^/ended /'

# Cycles and a counter: page faults, which the kernel counts in software.
"$tool" init keep 1:2
"$tool" faults 1000
read -r with dispatches < <(spent yield $yields)
echo "dispatch-hook metrics 2 instructions $(((with - without) / dispatches))"
"$tool" sums | sed 's/^/two /'
"$tool" term

# An almost idle CPU with interrupts: the hooks' own time is in the tool accounts.
"$tool" init keep 1:2
sleep 2
"$tool" sums | sed 's/^/idle /'
"$tool" term

# Ten other processes want the CPU: the error of the count for each dispatch.
"$ptt" init -calibrate | sed 's/^/crowded /'
others=()
for ((i = 0; i < 10; i++)); do
    "$drivertool" loop 100000000000 >"$LAB_OUT/loop" &
    others+=($!)
done
"$tool" loop 20000000 1 | sed 's/^/crowded /'
kill "${others[@]}"
wait
"$tool" term

# A thousand interrupts a second, whose constant overhead is subtracted.
"$ptt" init -calibrate
"$drivertool" run -M 0x10 -t 16384 -r 1000 -- "$tool" loop 300000000 1 | awk '/^loop/ { print "calibrated", $0 }'
"$tool" sums | sed 's/^/calibrated /'
"$ptt" info | sed 's/^/# /'
"$ptt" term

# The cost of the two hooks of an interrupt, for cycles, and for cycles and a counter. No other thread may run meanwhile.
interrupted() { "$drivertool" run -M 0x10 -t 16384 -r 1000 -- chrt -f 50 "$tool" loop 50000000 6 | grep '^loop'; }
"$tool" init keep
interrupted | sed 's/^/hooked1 /'
"$tool" term
"$tool" init keep 1:2
interrupted | sed 's/^/hooked2 /'
"$tool" term

# With "ints 0" interrupts are charged to the thread and are not hooked.
"$tool" ints 0
"$tool" init keep 1:2
interrupted | sed 's/^/unhooked /'
"$tool" term
"$tool" init keep
"$tool" loop 1000000 3 | sed 's/^/noints /'
"$tool" sums | sed 's/^/noints /'
"$tool" term
"$ptt" init -calibrate 2>&1 | sed 's/^/refused /'
"$tool" ints 1
read -r after _ < <(spent yield $yields)
echo "off before $without after $after"
