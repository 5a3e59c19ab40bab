#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# The module in real kernels: one boot a kernel runs driver-guest.sh, one test a promise looks at what it said.

read -ra kernels <<<"${LAB_KERNELS:-6.1 6.12}"
# shellcheck source=tests/lab/guests.bash
source "$BATS_TEST_DIRNAME/guests.bash"

setup_file() {
    cd "$BATS_TEST_DIRNAME/../.." || return 1
    : "${BUILD_DIR:?is the folder that the tests were built in}"
    program_of_32_bits "$BATS_FILE_TMPDIR/exit32"
    # Emulated by one thread: hooks come and go all the time, and each time the kernel patches itself.
    boot_all --single-thread --timeout 900 -- tests/lab/driver-guest.sh "$BUILD_DIR/tests/drivertool" "$BATS_FILE_TMPDIR/exit32"
}

@test "the guest comes to its end with a clean console" {
    promised finished
    ended_well
}

@test "every hook is in place" {
    promised hooks-all-attached
}

@test "idle CPUs tick at the rate asked for" {
    promised ticks-within-10-percent-on-both-cpus
}

@test "a source runs while its major is enabled and not longer" {
    promised nothing-but-start-up-when-no-source-is-enabled no-names-when-only-ticks-are-enabled \
        ticks-start-and-stop-with-their-major
}

@test "a buffer far too small loses records, stops, and counts every one" {
    promised small-buffer-counts-exactly small-buffer-stops-recording small-buffer-says-full \
        full-names-count-exactly full-is-forgotten-at-the-next-on
}

@test "a CPU goes offline and comes back during a trace" {
    promised cpu-goes-and-comes-back-counted-exactly cpu-goes-and-comes-back-with-a-gap
}

@test "a CPU that was not there at the start is traced when it arrives" {
    promised cpu-that-arrives-gets-buffers cpu-that-arrives-is-counted-exactly
}

@test "200 processes are each recorded in the order of their lives" {
    promised processes-lose-no-record processes-in-order processes-are-killed-once \
        no-tick-of-a-process-unknown
}

@test "fork, vfork, threads, renaming and exec in a thread are told apart" {
    promised vfork-shares-its-parents-mappings renaming-is-recorded \
        threads-are-created-named-and-killed exec-in-a-thread-ends-its-id
}

@test "a mapping that mremap moves or mprotect makes executable is recorded" {
    promised mremap-is-recorded-at-the-new-address mprotect-is-recorded
}

@test "anonymous code is recorded when asked for, and only then" {
    promised anonymous-code-is-not-recorded-unless-asked anonymous-code-is-recorded-when-asked
}

@test "a trace starts with the kernel's module and the start-up group" {
    promised snapshot-starts-with-the-kernel start-up-group-in-order
}

@test "a program of 32 bits is named as one" {
    promised program-of-32-bits-is-named-so
}

@test "function probes that were switched off under us are noticed" {
    promised kprobes-switched-off-are-noticed kprobes-switched-on-again-work
    if grep -q ftrace-switched "$BATS_FILE_TMPDIR/6.1"; then
        promised ftrace-switched-off-is-noticed ftrace-switched-on-again-works
    fi
}

@test "wrong calls fail with the documented error" {
    promised refusals refusals-are-the-documented-errors
}

@test "a mapping stays readable after its buffers were freed" {
    promised mapping-outlives-its-buffers
}

@test "only the privileged and the members of the group may open the device" {
    promised unprivileged-open-is-refused member-of-the-group-may-open \
        member-of-another-group-may-not no-group-no-access
}

@test "there is one owner, and while there is one the module stays" {
    promised second-owner-is-refused unloading-while-in-use-is-refused
}

@test "unloading leaves nothing behind" {
    promised unloading-after-the-owner-was-killed unloading-leaves-nothing
}

@test "processes that trace are killed at random moments, and each time the module unloads and loads again" {
    promised killed-unloaded-and-loaded
}

@test "calls at random return what a model of the module predicts, and do no harm" {
    promised calls-return-what-a-model-predicts fuzzing-leaves-a-working-module buffers-are-freed-at-close unloading-after-fuzzing
}
