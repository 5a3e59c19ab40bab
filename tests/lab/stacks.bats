#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Call stacks, event ticks and AboveIdle of the module in real kernels: one boot a kernel runs stacks-guest.sh, one
# test a promise looks at what it said.

read -ra kernels <<<"${LAB_KERNELS:-6.1 6.12}"
# shellcheck source=tests/lab/guests.bash
source "$BATS_TEST_DIRNAME/guests.bash"

setup_file() {
    cd "$BATS_TEST_DIRNAME/../.." || return 1
    : "${BUILD_DIR:?is the folder that the tests were built in}"
    build_fake_pmus || return
    boot_all --single-thread --timeout 900 -- \
        tests/lab/stacks-guest.sh "$BUILD_DIR/tests" "$BATS_FILE_TMPDIR/pmu-%k/pitrace_fake_pmu.ko"
}

@test "the guest comes to its end with a clean console" {
    promised finished
    ended_well
}

@test "a known call tree has the stacks it must have, 64 and 32 bits" {
    promised known-calls-have-the-expected-stacks traces-with-stacks-are-counted-exactly \
        a-program-of-32-bits-has-its-stack
}

@test "deep recursion is cut at the depth, and whole below it" {
    promised deep-recursion-is-cut-at-the-depth recursion-below-the-depth-is-whole one-frame-of-each
}

@test "garbage in the frame pointer is flagged and does no harm" {
    promised frame-pointers-that-lead-nowhere-are-flagged frame-pointers-that-lead-nowhere-do-no-harm
}

@test "a system call has the kernel's frames, and the user's behind them" {
    promised a-system-call-has-kernel-frames-down-to-its-entry the-user-stack-stands-behind-the-kernel-s \
        the-unwinder-comes-to-the-end stacks-of-the-kernel-only
}

@test "idle and kernel threads have no user stack" {
    promised idle-and-kernel-threads-have-kernel-frames-only
}

@test "a dispatch has the stack of who ran before it" {
    promised dispatches-have-the-stack-of-who-ran dispatches-have-it-beside-other-probes
}

@test "stacks that are off cost not a byte" {
    promised without-stacks-not-a-byte-more
}

@test "software events tick exactly" {
    promised page-faults-tick-every-100th every-context-switch-ticks migrations-tick the-clock-event-ticks \
        events-of-user-mode-only the-start-up-group-tells-the-event ticks-of-events-are-counted-exactly
}

@test "a known count of events gives exactly its ticks, and random periods their mean" {
    promised a-known-count-of-events-gives-exactly-its-ticks random-periods-have-the-mean-asked-for \
        periods-that-are-not-random-are-all-the-same random-periods-are-spread-as-documented
}

@test "a counter that the kernel stops is noticed" {
    promised a-throttled-event-is-noticed a-throttled-event-is-counted-exactly each-stop-of-a-counter-is-one-loss
}

@test "events tick on a CPU that comes back, and time ticks again after them" {
    promised an-event-ticks-on-a-cpu-that-comes-back time-ticks-again-after-events
}

@test "wrong stacks and events are refused with the documented errors" {
    promised wrong-samples-are-refused wrong-samples-are-refused-with-the-documented-errors
}

@test "AboveIdle is within a point of duty cycles of 10, 50 and 90 percent" {
    promised above-idle-at-10-percent above-idle-at-50-percent above-idle-at-90-percent
}

@test "AboveIdle follows CPUs that come and go, and refuses what it must" {
    promised above-idle-of-a-cpu-that-is-gone above-idle-of-a-cpu-that-comes \
        above-idle-leaves-out-the-time-without-the-cpu above-idle-refuses-with-the-documented-errors
}

@test "soft interrupts that a task calls for are its own time" {
    promised soft-interrupts-of-a-task-are-busy
}

@test "random calls do no harm, and unloading leaves nothing" {
    promised fuzzing-leaves-a-working-module unloading-leaves-nothing
}
