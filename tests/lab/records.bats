#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# The module's system records in real kernels: one boot of each kernel runs records-guest.sh; each test checks promises in
# its output.

read -ra kernels <<<"${LAB_KERNELS:-6.1 6.12}"
# shellcheck source=tests/lab/guests.bash
source "$BATS_TEST_DIRNAME/guests.bash"

setup_file() {
    cd "$BATS_TEST_DIRNAME/../.." || return 1
    : "${BUILD_DIR:?must be the build folder}"
    program_of_32_bits "$BATS_FILE_TMPDIR/exit32"
    boot_all --single-thread --timeout 900 -- \
        tests/lab/records-guest.sh "$BUILD_DIR/tests/drivertool" "$BATS_FILE_TMPDIR/exit32"
}

@test "the guest finishes, and its kernel reports no error" {
    promised finished
    ended_well
}

@test "the kernels have every tracepoint and function that the module uses" {
    promised every-probe-can-be-attached
}

@test "context switches equal those of the kernel's own trace, with the same order and states" {
    promised dispatches-equal-those-of-the-kernels-trace dispatches-lose-no-record
}

@test "records are in order with every clocksource, and when the clocksource changes" {
    local source
    for source in hpet acpi_pm; do
        promised "the-clocksource-is-$source" "wake-ups-precede-dispatches-with-$source" \
            "ping-pong-alternates-by-$source" "times-are-in-order-by-$source"
    done
    promised wake-ups-precede-dispatches-when-the-clocksource-changes times-are-in-order-when-the-clocksource-changes
}

@test "a wake-up is recorded before the context switch that it causes" {
    promised wake-ups-precede-their-dispatches
}

@test "wake-ups by interrupts differ from wake-ups by threads" {
    promised wake-ups-by-interrupts-are-marked
}

@test "two processes that wake each other are switched in alternately" {
    promised ping-pong-alternates
}

@test "a fork is recorded before the child first runs" {
    promised fork-is-recorded-before-the-first-dispatch
}

@test "the thread that a context switch switches in is switched out by the next one" {
    promised switches-are-a-chain
}

@test "a context switch record has the stacks of user threads and none of kernel threads" {
    promised switches-have-the-stacks-of-user-threads
}

@test "the number of interrupts agrees with /proc/interrupts" {
    promised interrupts-agree-with-proc-interrupts interrupts-lose-no-record
}

@test "the exit record of an interrupt has the count of its entry record" {
    promised interrupts-nest-and-are-counted
}

@test "softirqs are recorded" {
    promised softirqs-are-recorded
}

@test "1000 system calls give 1000 entry and exit records of their thread" {
    promised system-calls-are-counted-exactly system-calls-have-an-entry-and-an-exit
}

@test "32-bit system calls are marked as such" {
    promised 32-bit-system-calls-are-marked
}

@test "the exit of sigreturn has no system call number instead of a wrong one" {
    promised sigreturn-has-no-system-call-number system-calls-have-numbers
}

@test "the first access to each page is recorded as a page fault at its address" {
    promised page-faults-have-the-accessed-addresses page-faults-have-their-error-code
}

@test "divide error, single step, breakpoint and invalid opcode are recorded at their addresses" {
    promised traps-are-recorded-at-their-addresses
}

@test "each source records only while its major is enabled" {
    promised source-0x03-runs-while-it-is-enabled source-0x04-runs-while-it-is-enabled \
        source-0x05-runs-while-it-is-enabled source-0x12-runs-while-it-is-enabled \
        source-0x13-runs-while-it-is-enabled
}

@test "all sources together count the records that a small buffer loses" {
    promised all-sources-count-losses-exactly all-sources-lose-in-a-small-buffer
}

@test "a CPU goes offline and comes back while all sources run" {
    promised all-sources-count-exactly-during-cpu-hotplug dispatches-on-the-cpu-after-it-is-online-again
}

@test "the module unloads and loads again after all sources have run" {
    promised unloading-after-all-sources all-sources-after-loading-again
}
