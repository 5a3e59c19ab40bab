#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# ITrace of many threads, on and off, in a kernel that checks itself (KASAN, lockdep, sleeping in the wrong place): building
# it takes 20 minutes, once. There a step takes fifty times as long as elsewhere.

kernels=(checking)
# shellcheck source=tests/lab/guests.bash
source "$BATS_TEST_DIRNAME/../lab/guests.bash"

setup_file() {
    cd "$BATS_TEST_DIRNAME/../.." || return 1
    : "${BUILD_DIR:?is the folder that the tests were built in}"
    boot_all --single-thread --timeout 5400 -- tests/lab/itrace-stress-guest.sh "$BUILD_DIR/tests" 50
}

@test "the guest finishes, and its kernel reports no error" {
    promised finished
    ended_well
}

@test "no check of the guest fails" {
    promised a-crowd-notices-nothing the-crowd-ended-well unloading-leaves-nothing it-works-again
    holds '/^not ok/ { bad++ } END { exit bad > 0 }'
}
