#!/bin/bash
# SPDX-License-Identifier: MIT
# Guest part of counters.bats in the instruction-count lab, where the fake instruction counter is exact: runs cpi on two
# commands that differ only in the iterations of a loop of two instructions. Prints "rounds N instructions M".
# Usage: counters-icount-guest.sh BIN FAKE-COUNTERS.ko LOOP...
set -u

bin=$1
insmod "$2"
shift 2
for loop; do
    for _ in 1 2 3; do
        echo "rounds ${loop##*-} instructions $("$bin/cpi" --json -- "$loop" | jq .instructions)"
    done
done
