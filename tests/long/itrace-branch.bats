#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# ITrace on processors with branch traps. Debian's QEMU does not emulate them: an emulator with them is built first, once,
# which takes 10 minutes.

kernels=(6.1 6.12)
# shellcheck source=tests/lab/guests.bash
source "$BATS_TEST_DIRNAME/../lab/guests.bash"

setup_file() {
    local emulator
    cd "$BATS_TEST_DIRNAME/../.." || return 1
    : "${BUILD_DIR:?must be the build folder}"
    emulator=$(scripts/lab.d/branch-trap-emulator) || return 1
    PATH=$emulator:$PATH boot_all --append pti=on --single-thread --timeout 3600 -- \
        tests/lab/itrace-branch-guest.sh "$BUILD_DIR" 40
}

@test "both guests finish, and their kernels report no error" {
    promised finished
    ended_well
}

@test "branch traps are used if they work, and single steps for options that need them" {
    promised the-trap-is-used the-trap-is-not-used-with-i the-trap-is-not-used-with-s the-trap-is-not-used-with-k \
        a-loop-has-half-as-many-traps a-32-bit-program-is-single-stepped
}

@test "branch traps record the same branches as single steps" {
    promised branches-of-a-program-equal-those-of-single-steps
    holds '/^ok branches-of-/ { good++ } END { exit good != 16 }'
}

@test "processes, threads, interrupts and debuggers work as with single steps" {
    promised flow-of-fork-c flow-of-threads-uc flow-of-vfork-c flow-of-timer-c interrupts-are-shown \
        nothing-is-undecoded the-shell-has-its-own-exit-status a-debugger-steps-a-traced-program
}

@test "a program that clears the trap flag makes a gap in its flow" {
    promised a-program-that-clears-the-trap-flag-continues a-program-that-clears-the-trap-flag-has-gaps
}

@test "watchpoints of followed code are hit each time, with single steps and with branch traps" {
    promised a-watchpoint-of-traced-code-i a-watchpoint-of-traced-code-us a-watchpoint-of-traced-code-u \
        a-watchpoint-of-traced-code a-watchpoint-set-later-with-single-steps \
        a-watchpoint-set-later-with-single-steps-makes-no-gap a-watchpoint-set-later \
        a-watchpoint-set-later-makes-a-gap
}

@test "no CPU traps branches after the stress test and unloading" {
    promised no-processor-records-branches many-threads-ended-without-error unloading-leaves-nothing it-works-again
}

@test "no check of the guest fails" {
    holds '/^not ok/ { bad++ } END { exit bad > 0 }'
}
