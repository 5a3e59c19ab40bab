#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# ITrace in real kernels: it blocks neither the machine nor a process, and follows only what its user may debug.

read -ra kernels <<<"${LAB_KERNELS:-6.1 6.12}"
# shellcheck source=tests/lab/guests.bash
source "$BATS_TEST_DIRNAME/guests.bash"

setup_file() {
    cd "$BATS_TEST_DIRNAME/../.." || return 1
    : "${BUILD_DIR:?must be the build folder}"
    # --single-thread: probes are attached and detached all the time, and each time the kernel patches its code.
    boot_all --single-thread --timeout 1800 -- tests/lab/itrace-safety-guest.sh "$BUILD_DIR"
}

@test "the guest finishes, and its kernel reports no error" {
    promised finished
    ended_well
}

@test "interrupts are delivered while a traced program runs only popf" {
    promised popf-in-a-row-is-followed popf-in-a-row-lets-interrupts-come
}

@test "ITrace's single steps are not recorded as exceptions" {
    promised exceptions-without-steps
}

@test "ITrace ends in seconds and the module can be unloaded while a followed process is stopped" {
    promised ending-while-a-process-is-stopped-takes-seconds \
        a-process-that-is-stopped-while-followed-does-not-keep-the-module nor-does-one-that-was-stopped-before \
        it-goes-on-and-is-followed it-goes-on-afterwards
}

@test "a followed thread may end the trace and attach hooks" {
    promised a-followed-thread-ends-the-trace which-takes-seconds
}

@test "slots of ended threads are reused" {
    promised many-children-in-few-slots-are-followed
}

@test "continuous ITrace delays threads for a limited time, and never the machine" {
    promised a-thread-is-held-while-there-is-no-room it-is-held-for-as-long-as-is-said what-was-not-held-is-a-gap \
        it-is-held-again the-machine-is-suspended-with-a-thread-held and-nothing-is-followed-afterwards \
        a-thread-that-is-held-can-be-killed with-everything-followed-commands-run and-it-can-be-turned-off
}

@test "ITrace follows only processes that its user may debug" {
    promised a-member-of-the-group-follows-his-own-program but-not-its-kernel-code nor-processes-of-others nor-ranges \
        a-set-user-id-program-is-not-followed but-it-runs-to-its-end
}
