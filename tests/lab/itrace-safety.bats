#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# ITrace in real kernels: it stops neither the machine nor a process for good, and follows what its user may debug.

read -ra kernels <<<"${LAB_KERNELS:-6.1 6.12}"
# shellcheck source=tests/lab/guests.bash
source "$BATS_TEST_DIRNAME/guests.bash"

setup_file() {
    cd "$BATS_TEST_DIRNAME/../.." || return 1
    : "${BUILD_DIR:?is the folder that the tests were built in}"
    # Emulated by one thread: hooks come and go all the time, and each time the kernel patches itself.
    boot_all --single-thread --timeout 1800 -- tests/lab/itrace-safety-guest.sh "$BUILD_DIR"
}

@test "the guest comes to its end with a clean console" {
    promised finished
    ended_well
}

@test "interrupts come in a row of popf" {
    promised popf-in-a-row-is-followed popf-in-a-row-lets-interrupts-come
}

@test "steps are no exceptions for a source that was there before" {
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

@test "slots of threads that ended are used again" {
    promised many-children-in-few-slots-are-followed
}

@test "continuous ITrace holds threads for a while, never the machine" {
    promised a-thread-is-held-while-there-is-no-room it-is-held-for-as-long-as-is-said what-was-not-held-is-a-gap \
        it-is-held-again the-machine-is-suspended-with-a-thread-held and-nothing-is-followed-afterwards \
        a-thread-that-is-held-can-be-killed with-everything-followed-commands-run and-it-can-be-turned-off
}

@test "ITrace follows what its user may debug" {
    promised a-member-of-the-group-follows-his-own-program but-not-its-kernel-code nor-processes-of-others nor-ranges \
        a-set-user-id-program-is-not-followed but-it-runs-to-its-end
}

# second_kernel FILE: an initial file system that says that its kernel runs, and turns the machine off.
second_kernel() {
    local folder=$BATS_TEST_TMPDIR/second
    mkdir -p "$folder/bin" "$folder/dev"
    cp "$(command -v busybox)" "$folder/bin/busybox"
    printf '#!/bin/busybox sh\n/bin/busybox echo the second kernel runs\n/bin/busybox poweroff -f\n' >"$folder/init"
    chmod 755 "$folder/init"
    (cd "$folder" && find . | cpio -o -H newc --quiet) >"$1"
}

# bats test_tags=long
@test "a followed thread starts another kernel" {
    cd "$BATS_TEST_DIRNAME/../.." || return
    # shellcheck source=scripts/lab.d/kernels.bash
    source scripts/lab.d/kernels.bash
    second_kernel "$BATS_TEST_TMPDIR/initrd"
    local kernel release image
    for kernel in "${kernels[@]}"; do
        release=$(lab_resolve "$kernel")
        image=$(lab_kernel "$release")/boot/vmlinuz-$release
        # shellcheck disable=SC2016 # the guest's shell expands it
        run scripts/lab --kernel "$kernel" --single-thread --out "$BATS_TEST_TMPDIR/kexec-$kernel" -- bash -c '
            tests=$1/tests
            "$tests/kexec" load "$2" "$3" "console=ttyS0 loglevel=5 panic=-1" || exit
            "$tests/itracer" run "$tests/kexec" now' kexec "$BUILD_DIR" "$image" "$BATS_TEST_TMPDIR/initrd"
        grep -q 'the second kernel runs' "$BATS_TEST_TMPDIR/kexec-$kernel/lab-console.log"
    done
}
