#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# msr, mpevt and cpi in real kernels: registers are compared with the kernel's own values, counts with a PMU of known rates
# (fake_pmu/pitrace_fake_counters.c). One boot of each kernel runs counters-guest.sh; each test checks promises in its output.

read -ra kernels <<<"${LAB_KERNELS:-6.1 6.12}"
# shellcheck source=tests/lab/guests.bash
source "$BATS_TEST_DIRNAME/guests.bash"

setup_file() {
    cd "$BATS_TEST_DIRNAME/../.." || return 1
    : "${BUILD_DIR:?must be the build folder}"
    build_fake_pmus || return
    boot_all --single-thread --no-module --timeout 900 -- \
        tests/lab/counters-guest.sh "$BUILD_DIR/bin" "$BATS_FILE_TMPDIR/pmu-%k/pitrace_fake_counters.ko"
}

@test "the guest finishes, and its kernel reports no error" {
    promised finished
    ended_well
}

@test "msr reads the values that the kernel, the firmware and rdmsr report" {
    promised system-calls-enter-where-the-kernel-says the-processor-is-in-long-mode the-apic-is-where-the-firmware-says \
        each-cpu-has-its-own-registers every-register-is-what-rdmsr-reads json fields-are-shown
}

@test "msr writes only to the named CPU" {
    promised what-is-written-is-there-on-that-cpu-alone
}

@test "msr without permission fails with the reason and the remedy" {
    promised without-the-module-it-says-so writing-that-the-module-forbids-is-told reading-goes-on-meanwhile \
        others-than-root-are-refused root-without-the-capability-is-told
}

@test "msr reports missing and offline CPUs, and reads the others" {
    promised a-cpu-that-is-not-there-is-told a-cpu-that-is-offline-is-told the-others-are-read-without-it
}

@test "mpevt and cpi report a processor without counters" {
    promised hardware-events-are-refused-without-counters cpi-needs-counters
}

@test "software events are counted exactly, also across CPU hotplug" {
    promised switches-are-as-many-as-the-kernel-says a-cpu-goes-and-comes-back-and-that-is-told
}

@test "hardware events are listed, and counted at their known rates" {
    promised events-that-are-counted-but-not-sampled-are-told-apart the-number-of-counters-is-found \
        counts-have-the-rates-that-they-must-have
}

@test "mpevt refuses counters that are in use and unsupported privilege levels" {
    promised a-counter-that-is-not-free-is-refused a-privilege-that-a-counter-cannot-tell-is-refused
}

@test "cpi of all CPUs reports the known cycles per instruction" {
    promised cpi-of-all-cpus-is-what-the-rates-say scaled-cycles-leave-the-idle-cpu-out as-many-samples-as-were-asked-for \
        an-interrupt-ends-it-with-what-there-is
}

@test "cpi of a command includes its children and reports its exit status" {
    promised cpi-of-a-command-and-its-status what-a-command-starts-is-counted-too a-command-that-cannot-be-run-is-told \
        a-command-that-is-killed-is-told
}

@test "counters are free after the mpevt daemon was killed" {
    promised the-counters-are-in-use after-a-kill-nothing-holds-them
}

@test "cpi counts a command's instructions within 0.5 percent, timer interrupts included" {
    cd "$SOURCE_DIR"
    local kernel rounds
    for rounds in 1000000 11000000; do
        gcc -nostdlib -static -x assembler -o "$BATS_TEST_TMPDIR/loop-$rounds" - <<END
.globl _start
_start: mov \$$rounds, %rcx
1:      dec %rcx
        jnz 1b
        mov \$60, %eax
        xor %edi, %edi
        syscall
END
    done
    for kernel in "${kernels[@]}"; do
        scripts/lab --kernel "$kernel" --icount --no-module -- tests/lab/counters-icount-guest.sh "$BUILD_DIR/bin" \
            "$BATS_FILE_TMPDIR/pmu-$kernel/pitrace_fake_counters.ko" "$BATS_TEST_TMPDIR"/loop-{1000000,11000000} \
            >"$BATS_TEST_TMPDIR/$kernel" &
    done
    wait
    for kernel in "${kernels[@]}"; do
        sed "s/^/# $kernel: /" "$BATS_TEST_TMPDIR/$kernel" >&3
        # Both have the same number of kernel instructions.
        awk '{ if (!($2 in min) || $4 < min[$2]) min[$2] = $4 }
            END { more = min[11000000] - min[1000000]; exit !(more >= 20000000 && more < 20100000) }' \
            "$BATS_TEST_TMPDIR/$kernel"
    done
}

@test "in a locked-down kernel msr reads registers and refuses to write them" {
    cd "$SOURCE_DIR"
    local name
    scripts/lab --kernel 6.12 --no-module --append lockdown=integrity -- \
        tests/lab/counters-lockdown-guest.sh "$BUILD_DIR/bin" >"$BATS_TEST_TMPDIR/said"
    cat "$BATS_TEST_TMPDIR/said"
    for name in locked-down registers-are-read writing-is-refused; do grep -qx "ok $name" "$BATS_TEST_TMPDIR/said"; done
}
