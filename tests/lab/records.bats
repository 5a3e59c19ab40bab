#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# What the module records of the system, in real kernels: one boot a kernel runs records-guest.sh, one
# test a promise looks at what it said.

read -ra kernels <<<"${LAB_KERNELS:-6.1 6.12}"
# shellcheck source=tests/lab/guests.bash
source "$BATS_TEST_DIRNAME/guests.bash"

setup_file() {
    cd "$BATS_TEST_DIRNAME/../.." || return 1
    : "${BUILD_DIR:?is the folder that the tests were built in}"
    program_of_32_bits "$BATS_FILE_TMPDIR/exit32"
    boot_all --single-thread --timeout 900 -- \
        tests/lab/records-guest.sh "$BUILD_DIR/tests/drivertool" "$BATS_FILE_TMPDIR/exit32"
}

@test "the guest comes to its end with a clean console" {
    promised finished
    ended_well
}

@test "the kernels have every hook that the module wants" {
    promised every-hook-exists
}

@test "dispatches are those of the kernel's own trace, in the same order and with the same states" {
    promised dispatches-are-those-of-the-kernels-trace dispatches-lose-no-record
}

@test "the order holds whatever the kernel keeps its clock by, and when that changes" {
    local source
    for source in hpet acpi_pm; do
        promised "the-clock-is-kept-by-$source" "order-holds-by-$source" "ping-pong-alternates-by-$source" \
            "times-are-in-order-by-$source"
    done
    promised order-holds-when-the-clock-changes times-are-in-order-when-the-clock-changes
}

@test "a wake-up comes before the dispatch that it causes" {
    promised wake-ups-come-before-their-dispatches
}

@test "who is woken by an interrupt is told apart from who is woken by a thread" {
    promised wake-ups-by-interrupts-are-told-apart
}

@test "two processes that play ping-pong are dispatched in strict alternation" {
    promised ping-pong-alternates
}

@test "a fork is recorded before the child first runs" {
    promised fork-is-recorded-before-the-first-dispatch
}

@test "who a task switch brings in is who the next one takes out" {
    promised switches-are-a-chain
}

@test "a task switch tells the user stacks, and none of kernel threads" {
    promised switches-tell-the-stacks-of-user-threads
}

@test "interrupts are as many as /proc/interrupts counts" {
    promised interrupts-are-as-many-as-the-kernel-counts interrupts-lose-no-record
}

@test "the exit of an interrupt has the count of its entry" {
    promised interrupts-nest-and-are-counted
}

@test "soft interrupts are recorded" {
    promised soft-interrupts-are-recorded
}

@test "1000 system calls are 1000 entries and exits of the thread that made them" {
    promised system-calls-are-counted-exactly system-calls-have-an-entry-and-an-exit
}

@test "system calls of 32 bits are told apart" {
    promised system-calls-of-32-bits-are-told-apart
}

@test "the end of a signal handler is a system call without a number, not with a false one" {
    promised the-end-of-a-signal-has-no-number system-calls-have-numbers
}

@test "each page touched for the first time is a page fault at its address" {
    promised page-faults-are-at-the-addresses-touched page-faults-have-their-error-code
}

@test "a division by zero, a step, a breakpoint and an invalid instruction are recorded where they are" {
    promised traps-are-recorded-where-they-are
}

@test "each source runs while its major is enabled and not longer" {
    promised source-0x03-runs-while-it-is-enabled source-0x04-runs-while-it-is-enabled \
        source-0x05-runs-while-it-is-enabled source-0x12-runs-while-it-is-enabled \
        source-0x13-runs-while-it-is-enabled
}

@test "all sources together count what a small buffer loses" {
    promised all-sources-count-losses-exactly all-sources-lose-in-a-small-buffer
}

@test "a CPU goes offline and comes back while all sources run" {
    promised all-sources-while-a-cpu-goes-and-comes dispatches-on-the-cpu-that-came-back
}

@test "the module unloads and loads again after all sources have run" {
    promised unloading-after-all-sources all-sources-after-loading-again
}
