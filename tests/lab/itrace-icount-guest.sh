#!/bin/bash
# SPDX-License-Identifier: MIT
# Runs in the instruction-count lab: instructions that ITrace counts of pieces of work, beside what the time-stamp
# counter counts of them untraced, and what a step costs.
# Usage: itrace-icount-guest.sh FOLDER-OF-TEST-PROGRAMS
set -u

tool=$1/itracer
for piece in 'loop 1000' 'loop 100000' 'straight 1' 'recursion 1000' 'rep 1000' 'pushf 100' 'popf 100' 'plt 10' \
    'plt 20' 'plt 30'; do
    for options in '' -u; do
        # shellcheck disable=SC2086 # a piece and its number
        echo "piece ${piece/ / n } ${options:-all} $("$tool" $options count $piece | tr '\n' ' ')"
    done
done
# Without counts, branches would be trapped where the processor can.
echo "trial $("$tool" -u self loop 1000 | tr '\n' ' ')"
