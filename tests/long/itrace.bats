#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# ITrace going on and off a thousand times among 64 threads, with page tables of the kernel's own: as lab/itrace, which
# does less of it.

kernels=(6.1 6.12)
# shellcheck source=tests/lab/guests.bash
source "$BATS_TEST_DIRNAME/../lab/guests.bash"

@test "a thousand cycles on both kernels, with pti=on" {
    cd "$BATS_TEST_DIRNAME/../.." || return 1
    : "${BUILD_DIR:?is the folder that the tests were built in}"
    boot_all --single-thread --timeout 3000 --append pti=on -- tests/lab/itrace-guest.sh "$BUILD_DIR/tests" 1000
    promised finished a-crowd-notices-nothing the-crowd-ended-well unloading-leaves-nothing it-works-again
    ended_well
    holds '/^not ok/ { bad++ } END { exit bad > 0 }'
}
