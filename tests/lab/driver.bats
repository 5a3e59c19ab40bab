#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# The module in real kernels: one boot of each kernel runs driver-guest.sh; each test checks promises in its output.

read -ra kernels <<<"${LAB_KERNELS:-6.1 6.12}"
# shellcheck source=tests/lab/guests.bash
source "$BATS_TEST_DIRNAME/guests.bash"

setup_file() {
    cd "$BATS_TEST_DIRNAME/../.." || return 1
    : "${BUILD_DIR:?must be the build folder}"
    program_of_32_bits "$BATS_FILE_TMPDIR/exit32"
    # --single-thread: probes are attached and detached all the time, and each time the kernel patches its code.
    # At random addresses the mappings of one process are not those of another.
    boot_all --single-thread --random-maps --timeout 900 -- tests/lab/driver-guest.sh "$BUILD_DIR/tests/drivertool" "$BATS_FILE_TMPDIR/exit32"
}

@test "the guest finishes, and its kernel reports no error" {
    promised finished
    ended_well
}

@test "every probe is attached" {
    promised all-probes-are-attached
}

@test "idle CPUs tick at the requested rate" {
    promised ticks-within-10-percent-on-both-cpus
}

@test "a source records only while its major is enabled" {
    promised only-start-up-records-when-no-source-is-enabled no-names-when-only-ticks-are-enabled \
        ticks-start-and-stop-with-their-major
}

@test "a buffer that is too small stops recording and counts every lost record" {
    promised small-buffer-counts-exactly small-buffer-stops-recording a-small-buffer-reports-full \
        full-names-count-exactly the-next-on-clears-the-full-state
}

@test "a CPU goes offline and comes back during a trace" {
    promised cpu-hotplug-is-counted-exactly cpu-hotplug-makes-a-gap-in-the-ticks
}

@test "a CPU that comes online after the start is traced" {
    promised a-cpu-that-comes-online-gets-buffers a-cpu-that-comes-online-is-counted-exactly
}

@test "the records of 100 processes are each in order from fork to exit" {
    promised processes-lose-no-record processes-in-order processes-are-killed-once \
        no-tick-of-an-unknown-process
}

@test "fork, vfork, threads, renaming and exec in a thread have different records" {
    promised vfork-shares-its-parents-mappings renaming-is-recorded \
        threads-are-created-named-and-killed exec-in-a-thread-ends-its-id
}

@test "a mapping that mremap moves or mprotect makes executable is recorded" {
    promised mremap-is-recorded-at-the-new-address mprotect-is-recorded
}

@test "a user who makes thousands of mappings at once causes the loss of no other user's mappings" {
    promised a-user-with-many-mappings-makes-nobody-else-lose-one mappings-beyond-the-limit-of-a-user-are-counted-as-lost
}

@test "anonymous code is recorded only on request" {
    promised anonymous-code-is-not-recorded-by-default anonymous-code-is-recorded-on-request
}

@test "a trace starts with the kernel's module record and the start-up records" {
    promised snapshot-starts-with-the-kernel start-up-group-in-order
}

@test "a 32-bit program is recorded as a 32-bit program" {
    promised a-32-bit-program-is-marked-as-such
}

@test "function probes that the administrator disables are reported" {
    promised disabled-kprobes-are-reported kprobes-work-after-they-are-enabled-again
    if grep -q ftrace-switched "$BATS_FILE_TMPDIR/6.1"; then
        promised disabled-ftrace-is-reported ftrace-works-after-it-is-enabled-again
    fi
}

@test "wrong calls fail with the documented error" {
    promised wrong-calls-are-refused-at-least-once wrong-calls-give-the-documented-errors
}

@test "a mapping stays readable after its buffers are freed" {
    promised a-mapping-is-readable-after-its-buffers-are-freed
}

@test "only privileged users and members of the device's group may open the device" {
    promised unprivileged-open-is-refused member-of-the-group-may-open \
        member-of-another-group-may-not no-group-no-access
}

@test "a second owner is refused, and the module cannot be unloaded while in use" {
    promised second-owner-is-refused unloading-while-in-use-is-refused
}

@test "unloading leaves nothing behind" {
    promised unloading-after-the-owner-was-killed unloading-leaves-nothing
}

@test "the module unloads and loads again after tracing processes are killed at random moments" {
    promised killed-unloaded-and-loaded
}

@test "random calls return what a model of the module predicts, and the module still works" {
    promised calls-return-what-a-model-predicts fuzzing-leaves-a-working-module buffers-are-freed-at-close \
        unloading-after-fuzzing
}
