#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# PTT in real kernels: one boot a kernel runs ptt-guest.sh, one test a promise looks at what it said.

read -ra kernels <<<"${LAB_KERNELS:-6.1 6.12}"
# shellcheck source=tests/lab/guests.bash
source "$BATS_TEST_DIRNAME/guests.bash"

setup_file() {
    cd "$BATS_TEST_DIRNAME/../.." || return 1
    : "${BUILD_DIR:?is the folder that the tests were built in}"
    build_fake_pmus || return
    # The default run has a fifth of the threads.
    local threads=${LAB_TAGS:+5000}
    # Emulated by one thread: hooks come and go all the time, and each time the kernel patches itself.
    boot_all --single-thread --timeout 1800 -- tests/lab/ptt-guest.sh "$BUILD_DIR" "$BATS_FILE_TMPDIR/pmu-%k/pitrace_fake_pmu.ko" "${threads:-1000}"
}

@test "the guest comes to its end with a clean console" {
    promised finished
    ended_well
}

@test "wrong calls fail with the documented error" {
    promised wrong-calls-are-refused closing-the-handle-has-ended-it
}

@test "thousands of threads in 4 processes read the same by their slots as by the call" {
    promised many-threads-of-4-processes-agree all-accounts-add-up
}

@test "threads that exit, exec and are killed leave nothing behind" {
    promised threads-end-as-they-read exec-of-the-leader exec-of-another-thread \
        a-reader-that-is-killed-leaves-nothing-behind
}

@test "100 million reads of a thread that is moved from CPU to CPU never go backwards" {
    promised forced-migration-tears-nothing
}

@test "threads have as many dispatches as the kernel's scheduler says" {
    promised dispatches-are-the-kernels-switches
}

@test "readers are told of the end, and what was counted stays" {
    promised readers-are-told-of-the-end what-was-counted-stays
}

@test "CPUs come and go, and all adds up" {
    promised without-a-cpu-all-adds-up a-cpu-that-comes-back-counts
}

@test "with fewer accounts than threads nothing is lost" {
    promised short-threads-are-forgotten-exactly threads-were-forgotten \
        threads-without-an-account-are-told
}

@test "a user without rights reads his own threads, and nothing else" {
    promised anybody-reads-his-own-threads-and-nothing-else a-user-has-as-many-pages-as-allowed
}

@test "slots end at exec and with credentials" {
    promised slots-end-at-exec-and-with-credentials
}

@test "counters are shown as perf would show them" {
    promised counters-shown-at-level-{3,2,1} counters-shown-at-level-{3,2}-user-only what-is-withheld-is-counted
}

@test "where no thread has an account a dump and the end come to theirs" {
    promised a-dump-without-accounts-ends so-does-the-instance
}

@test "counters of a PMU are exact, wrapping or not, and given back" {
    promised counters-of-a-pmu-add-up counters-that-wrap-are-exact counters-are-given-back \
        a-counter-that-is-there-once-is-refused-twice
}

@test "ptt and pttstats tell the same" {
    promised ptt-info-says-it-is-active ptt-dump-shows-itself pttstats-adds-up pttstats-after-the-end
}

@test "while it is active the module stays, and unloading it leaves nothing" {
    promised unloading-while-active-is-refused fuzzing-leaves-a-working-module \
        unloading-leaves-nothing loading-again
}
