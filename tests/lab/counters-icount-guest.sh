#!/bin/bash
# SPDX-License-Identifier: MIT
# Runs in the lab's guest, where the fake counter of instructions is exact: what cpi says of two commands that differ
# only in how often they run a loop of two instructions. Says "rounds N instructions M".
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
