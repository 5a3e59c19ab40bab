#!/bin/bash
# SPDX-License-Identifier: MIT
# Runs in the instruction-count lab: what PTT counts of work whose instructions are known, and what it costs.
# Usage: ptt-icount-guest.sh FOLDER-OF-TEST-PROGRAMS FOLDER-OF-TOOLS
# shellcheck disable=SC2016
set -u

programs=$1
ptt=${2:-$programs}/ptt
tool=$programs/ptttool
drivertool=$programs/drivertool

# spent WORKLOAD...: "INSTRUCTIONS DISPATCHES" of drivertool's workload.
spent() {
    "$drivertool" "$@" | awk '
        function f(word, i) { for (i = 1; i < NF; i++) if ($i == word) return $(i + 1) }
        / spent / { print f("spent"), f("dispatches") }'
}
# Two processes that yield one CPU to each other, without PTT and with it: what a dispatch costs more.
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

# Cycles and a counter: page faults, which the kernel counts itself.
"$tool" init keep 1:2
"$tool" faults 1000
read -r with dispatches < <(spent yield $yields)
echo "dispatch-hook metrics 2 instructions $(((with - without) / dispatches))"
"$tool" sums | sed 's/^/two /'
"$tool" term

# Nearly nothing but interrupts of an idle CPU: what the hooks took by their own account.
"$tool" init keep 1:2
sleep 2
"$tool" sums | sed 's/^/idle /'
"$tool" term

# Ten others want the CPU: what the count is off by, for each dispatch.
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

# A thousand interrupts a second, whose constant is taken out.
"$ptt" init -calibrate
"$drivertool" run -M 0x10 -t 16384 -r 1000 -- "$tool" loop 300000000 1 | awk '/^loop/ { print "calibrated", $0 }'
"$tool" sums | sed 's/^/calibrated /'
"$ptt" info | sed 's/^/# /'
"$ptt" term

# What an interrupt costs more with its two hooks, of cycles, and of cycles and a counter. No thread may come in between.
interrupted() { "$drivertool" run -M 0x10 -t 16384 -r 1000 -- chrt -f 50 "$tool" loop 50000000 6 | grep '^loop'; }
"$tool" init keep
interrupted | sed 's/^/hooked1 /'
"$tool" term
"$tool" init keep 1:2
interrupted | sed 's/^/hooked2 /'
"$tool" term

# Interrupts that stay on the thread are not hooked at all.
"$tool" ints 0
"$tool" init keep 1:2
interrupted | sed 's/^/unhooked /'
"$tool" term
"$tool" init keep
"$tool" loop 1000000 3 | sed 's/^/noints /'
"$tool" sums | sed 's/^/noints /'
"$tool" term
"$tool" ints 1
read -r after _ < <(spent yield $yields)
echo "off before $without after $after"
