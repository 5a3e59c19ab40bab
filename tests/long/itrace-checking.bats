#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# ITrace of many threads, turned on and off, in a kernel with KASAN, lockdep and sleep checks. Building that kernel takes 20
# minutes, once. A step takes fifty times as long in it as in other kernels.

kernels=(checking)
# shellcheck source=tests/lab/guests.bash
source "$BATS_TEST_DIRNAME/../lab/guests.bash"

setup_file() {
    cd "$BATS_TEST_DIRNAME/../.." || return 1
    : "${BUILD_DIR:?must be the build folder}"
    boot_all --single-thread --timeout 5400 -- tests/lab/itrace-stress-guest.sh "$BUILD_DIR/tests" 50
}

@test "the guest finishes, and its kernel reports no error" {
    promised finished
    ended_well
}

@test "no check of the guest fails" {
    promised many-threads-run-correctly many-threads-ended-without-error unloading-leaves-nothing it-works-again
    holds '/^not ok/ { bad++ } END { exit bad > 0 }'
}
