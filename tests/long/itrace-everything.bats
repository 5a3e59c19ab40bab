#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# All processes are followed for ten minutes without loss under load, once in user code only and once also in kernel code:
# the machine keeps running, and a terminal answers. EVERYTHING_SECONDS replaces the 600 seconds of each.

kernels=(6.1 6.12)
# shellcheck source=tests/lab/guests.bash
source "$BATS_TEST_DIRNAME/../lab/guests.bash"

# A thread is delayed for ten seconds at most; the shell, its terminal and the process that sends commands to it are all followed.
longest_answer=60

setup_file() {
    cd "$BATS_TEST_DIRNAME/../.." || return 1
    : "${BUILD_DIR:?must be the build folder}"
    local seconds=${EVERYTHING_SECONDS:-600}
    boot_all --single-thread --timeout $((2400 + 4 * seconds)) -- \
        tests/lab/itrace-everything-guest.sh "$BUILD_DIR" "$seconds" "$longest_answer"
}

@test "the guest finishes, and its kernel reports no error" {
    promised finished
    ended_well
}

@test "while all user code is followed a terminal answers, and following can be turned off" {
    promised a-terminal-answers-with-user-code-followed branches-are-recorded-of-user-code \
        following-user-code-can-be-turned-off
}

@test "while user and kernel code are followed a terminal answers, and following can be turned off" {
    promised a-terminal-answers-with-all-code-followed branches-are-recorded-of-all-code \
        following-all-code-can-be-turned-off
}

@test "the trace is freed, and the module unloads and loads again" {
    promised the-trace-is-freed the-module-unloads the-module-loads-again
}
