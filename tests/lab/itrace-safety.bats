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
    promised consecutive-popf-are-followed consecutive-popf-do-not-block-interrupts
}

@test "ITrace's single steps are not recorded as exceptions" {
    promised exceptions-without-steps
}

@test "ITrace ends in seconds and the module can be unloaded while a followed process is stopped" {
    promised ending-while-a-process-is-stopped-takes-seconds the-module-unloads-although-a-followed-process-is-stopped \
        the-module-unloads-although-a-process-was-stopped-before a-stopped-process-continues-and-is-followed \
        a-stopped-process-continues-after-the-trace
}

@test "a followed thread may end the trace and attach hooks" {
    promised a-followed-thread-can-end-the-trace a-followed-thread-ends-the-trace-in-seconds
}

@test "slots of ended threads are reused" {
    promised many-children-in-few-slots-are-followed
}

@test "continuous ITrace delays threads for a limited time, and never the machine" {
    promised a-thread-is-delayed-while-the-buffer-is-full the-delay-ends-after-itrace-hold-seconds \
        the-end-of-the-delay-makes-a-gap a-thread-is-delayed-again the-machine-suspends-while-a-thread-is-delayed \
        no-thread-is-followed-after-suspend a-delayed-thread-can-be-killed \
        commands-run-while-all-processes-are-followed following-all-processes-can-be-turned-off
}

@test "ITrace follows only processes that its user may debug" {
    promised a-group-member-can-follow-his-own-program a-group-member-cannot-follow-kernel-code \
        a-group-member-cannot-follow-processes-of-other-users a-group-member-cannot-follow-pid-ranges \
        a-set-user-id-program-is-not-followed a-set-user-id-program-runs-to-its-end
}
