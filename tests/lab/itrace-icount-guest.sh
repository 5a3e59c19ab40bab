#!/bin/bash
# SPDX-License-Identifier: MIT
# Guest part of itrace-icount.bats: ITrace's instruction counts of workloads, the time-stamp counter's for the same untraced
# workloads, and the cost of a step.
# Usage: itrace-icount-guest.sh FOLDER-OF-TEST-PROGRAMS
set -u

tool=$1/itracer
for piece in 'loop 1000' 'loop 100000' 'straight 1' 'recursion 1000' 'rep 1000' 'pushf 100' 'popf 100' 'plt 10' \
    'plt 20' 'plt 30'; do
    for options in '' -u; do
        # shellcheck disable=SC2086 # a workload and its number
        echo "piece ${piece/ / n } ${options:-all} $("$tool" $options count $piece | tr '\n' ' ')"
    done
done
# Without counting, ITrace would use branch traps if the processor had them.
echo "trial $("$tool" -u self loop 1000 | tr '\n' ' ')"
