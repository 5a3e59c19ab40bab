#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Call stacks, event ticks and AboveIdle of the module in real kernels: one boot of each kernel runs stacks-guest.sh; each
# test checks promises in its output.

read -ra kernels <<<"${LAB_KERNELS:-6.1 6.12}"
# shellcheck source=tests/lab/guests.bash
source "$BATS_TEST_DIRNAME/guests.bash"

setup_file() {
    cd "$BATS_TEST_DIRNAME/../.." || return 1
    : "${BUILD_DIR:?must be the build folder}"
    build_fake_pmus || return
    boot_all --single-thread --timeout 900 -- \
        tests/lab/stacks-guest.sh "$BUILD_DIR/tests" "$BATS_FILE_TMPDIR/pmu-%k/pitrace_fake_pmu.ko"
}

@test "the guest finishes, and its kernel reports no error" {
    promised finished
    ended_well
}

@test "stacks of a known call tree are correct, in 64-bit and 32-bit programs" {
    promised known-calls-have-the-expected-stacks traces-with-stacks-are-counted-exactly \
        a-32-bit-program-has-its-stack
}

@test "stacks deeper than the maximum depth are cut, others are whole" {
    promised deep-recursion-is-cut-at-the-depth recursion-below-the-depth-is-whole one-frame-of-each
}

@test "an invalid frame pointer is flagged and does no harm" {
    promised invalid-frame-pointers-are-flagged invalid-frame-pointers-do-no-harm
}

@test "the stack of a system call has kernel frames, then user frames" {
    promised a-system-call-has-kernel-frames-down-to-its-entry the-user-stack-follows-the-kernel-stack \
        the-unwinder-reaches-the-end stacks-of-the-kernel-only
}

@test "idle and kernel threads have no user stack" {
    promised idle-and-kernel-threads-have-kernel-frames-only
}

@test "user stacks are copied once for each change, and what has no space is counted" {
    promised a-tick-has-the-id-of-a-copy-of-its-stack copies-are-counted-exactly a-tick-in-the-kernel-has-a-copy-of-the-user-stack \
        a-copy-is-not-repeated-while-the-thread-is-in-the-kernel a-full-buffer-of-copies-is-counted-and-frame-pointers-are-used \
        a-full-buffer-of-copies-is-counted-exactly stacks-are-copied-on-a-cpu-after-it-is-online-again dispatches-have-the-id-of-a-copy
}

@test "stacks are copied only of processes that the user may debug, or with CAP_PERFMON" {
    promised the-group-alone-gives-copies-of-own-processes-only perfmon-gives-copies-of-all-processes
}

@test "frame pointers give no words but addresses of code of processes that the user may not debug" {
    promised the-group-gets-the-addresses-of-code-in-others-stacks the-group-alone-gives-no-words-of-other-processes \
        perfmon-gives-words-of-all-processes
}

@test "a context switch has the stack of the thread that is switched out" {
    promised dispatches-have-the-stack-of-the-previous-thread dispatches-have-the-stack-with-another-probe-attached
}

@test "records have no extra byte while stacks are off" {
    promised records-without-stacks-have-no-extra-byte
}

@test "software events give the exact number of ticks" {
    promised page-faults-tick-every-100th every-context-switch-ticks migrations-tick the-clock-event-ticks \
        events-of-user-mode-only the-start-up-group-names-the-event ticks-of-events-are-counted-exactly
}

@test "a known event count gives the exact number of ticks, and random periods have the requested mean" {
    promised a-known-event-count-gives-the-exact-ticks random-periods-have-the-requested-mean \
        fixed-periods-are-all-equal random-periods-are-spread-as-documented
}

@test "a counter that the kernel throttles is reported" {
    promised a-throttled-event-is-reported a-throttled-event-is-counted-exactly each-stop-of-a-counter-is-one-loss
}

@test "ticks by NMI have a user stack only where the kernel's entry code has stored the registers" {
    promised a-tick-in-the-entry-of-a-system-call-has-no-user-stack a-tick-in-the-entry-of-a-system-call-has-no-copy \
        ticks-by-nmi-are-counted-exactly
}

@test "events tick on a CPU that comes back online, and timer ticks work after them" {
    promised an-event-ticks-on-a-cpu-after-it-is-online-again timer-ticks-work-after-events
}

@test "invalid stack and event settings fail with the documented errors" {
    promised wrong-sample-settings-are-refused wrong-sample-settings-give-the-documented-errors
}

@test "AboveIdle reports duty cycles of 10, 50 and 90 percent within two points on a busy host" {
    promised above-idle-at-10-percent above-idle-at-50-percent above-idle-at-90-percent
}

@test "AboveIdle handles CPU hotplug and refuses invalid calls" {
    promised above-idle-of-an-offline-cpu-fails above-idle-of-a-cpu-that-comes-online \
        above-idle-does-not-account-offline-time above-idle-refuses-with-the-documented-errors
}

@test "softirqs at the end of a task's own system call count as busy, not as interrupt" {
    promised softirqs-of-a-task-are-busy-time
}

@test "the module works after random calls, and unloading leaves nothing behind" {
    promised fuzzing-leaves-a-working-module unloading-leaves-nothing
}
