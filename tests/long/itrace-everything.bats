#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# All processes followed for ten minutes, losslessly and under load, once user code only and once with the kernel's:
# the machine goes on, and a terminal answers. EVERYTHING_SECONDS: another time than 600 each.

kernels=(6.1 6.12)
# shellcheck source=tests/lab/guests.bash
source "$BATS_TEST_DIRNAME/../lab/guests.bash"

# A thread is held for ten seconds at most, and the shell, its terminal and what asks it are each followed.
longest_answer=60

setup_file() {
    cd "$BATS_TEST_DIRNAME/../.." || return 1
    : "${BUILD_DIR:?is the folder that the tests were built in}"
    local seconds=${EVERYTHING_SECONDS:-600}
    boot_all --single-thread --timeout $((2400 + 4 * seconds)) -- \
        tests/lab/itrace-everything-guest.sh "$BUILD_DIR" "$seconds" "$longest_answer"
}

@test "the guest finishes, and its kernel reports no error" {
    promised finished
    ended_well
}

@test "with all user code followed a terminal answers, and following can be turned off" {
    promised a-terminal-answers-with-user-code-followed something-is-followed-of-user-code \
        it-is-turned-off-with-user-code-followed
}

@test "with user and kernel code followed a terminal answers, and following can be turned off" {
    promised a-terminal-answers-with-all-code-followed something-is-followed-of-all-code \
        it-is-turned-off-with-all-code-followed
}

@test "the trace is freed, and the module unloads and loads again" {
    promised the-trace-is-freed the-module-unloads and-loads-again
}
