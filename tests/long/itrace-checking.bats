#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# ITrace of all that itrace-guest.sh does in a kernel that checks itself (KASAN, lockdep, sleeping in the wrong place):
# building it takes 20 minutes, once.

kernels=(checking)
# shellcheck source=tests/lab/guests.bash
source "$BATS_TEST_DIRNAME/../lab/guests.bash"

setup_file() {
    cd "$BATS_TEST_DIRNAME/../.." || return 1
    : "${BUILD_DIR:?is the folder that the tests were built in}"
    boot_all --single-thread --timeout 5400 -- tests/lab/itrace-guest.sh "$BUILD_DIR/tests" 5
}

@test "the guest comes to its end, and its kernel has nothing to complain of" {
    promised finished
    ended_well
}

@test "every promise is kept there too" {
    promised a-million-branches a-crowd-notices-nothing the-crowd-ended-well unloading-leaves-nothing it-works-again
    holds '/^not ok/ { bad++ } END { exit bad > 0 }'
}
