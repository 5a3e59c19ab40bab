#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# PTT in real kernels: one boot of each kernel runs ptt-guest.sh; each test checks promises in its output.

read -ra kernels <<<"${LAB_KERNELS:-6.1 6.12}"
# shellcheck source=tests/lab/guests.bash
source "$BATS_TEST_DIRNAME/guests.bash"

setup_file() {
    cd "$BATS_TEST_DIRNAME/../.." || return 1
    : "${BUILD_DIR:?must be the build folder}"
    build_fake_pmus || return
    # The default run has a fifth of the threads.
    local threads=${LAB_TAGS:+5000}
    # --single-thread: probes are attached and detached all the time, and each time the kernel patches its code.
    boot_all --single-thread --timeout 1800 -- tests/lab/ptt-guest.sh "$BUILD_DIR" "$BATS_FILE_TMPDIR/pmu-%k/pitrace_fake_pmu.ko" "${threads:-1000}"
}

@test "the guest finishes, and its kernel reports no error" {
    promised finished
    ended_well
}

@test "wrong calls fail with the documented error" {
    promised wrong-calls-are-refused closing-the-handle-ends-ptt
}

@test "thousands of threads read the same values from their slots as from the system call" {
    promised many-threads-of-4-processes-agree all-accounts-add-up
}

@test "slots and accounts are freed at exit, exec and SIGKILL" {
    promised threads-end-while-they-read exec-of-the-leader exec-of-another-thread \
        a-killed-reader-leaves-nothing-behind
}

@test "100 million reads of a thread that migrates between CPUs never go backwards" {
    promised forced-migration-tears-nothing
}

@test "threads have as many context switches as the kernel's scheduler counts" {
    promised dispatches-equal-the-kernels-context-switches
}

@test "readers see the end of PTT, and their counts remain" {
    promised readers-see-the-end counts-remain-after-the-end
}

@test "accounts add up while CPUs go offline and come back" {
    promised accounts-add-up-with-an-offline-cpu a-cpu-counts-after-it-is-online-again
}

@test "accounts add up when there are fewer accounts than threads" {
    promised discarded-accounts-of-ended-threads-add-up accounts-of-ended-threads-were-discarded \
        threads-without-an-account-are-reported
}

@test "an unprivileged user reads only his own threads" {
    promised an-unprivileged-user-reads-only-his-own-threads a-user-gets-only-the-permitted-number-of-pages
}

@test "slots end at exec and when credentials change" {
    promised slots-end-at-exec-and-with-credentials
}

@test "what a setuid program counted is not read by the next program, and is in the dump" {
    promised a-setuid-program-reads-its-own-counts the-next-program-reads-none-of-them a-dump-has-the-counts-of-all-three \
        accounts-add-up-after-exec
}

@test "counters are visible only where perf_event_paranoid allows" {
    promised counters-shown-at-level-{3,2,1} counters-shown-at-level-{3,2}-user-only withheld-counters-are-counted
}

@test "a dump and the end of PTT finish when no thread has an account" {
    promised a-dump-without-accounts-finishes an-instance-without-accounts-ends
}

@test "counters of a PMU are exact, also when they wrap, and are released" {
    promised counters-of-a-pmu-add-up counters-that-wrap-are-exact counters-are-released \
        a-single-counter-is-refused-for-two-metrics
}

@test "ptt and pttstats report the same instance" {
    promised ptt-info-reports-the-active-instance ptt-dump-shows-itself pttstats-adds-up pttstats-after-the-end
}

@test "the module cannot be unloaded while PTT is active, and unloading leaves nothing behind" {
    promised unloading-while-active-is-refused fuzzing-leaves-a-working-module \
        unloading-leaves-nothing loading-again
}
