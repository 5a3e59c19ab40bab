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
    # shellcheck source=tests/support/documented_commands.bash
    source tests/support/documented_commands.bash
    tests/support/documented-commands "$BUILD_DIR/bin" |
        commands_of tests/support/documented_commands.table lab/counters >"$BATS_FILE_TMPDIR/commands"
    boot_all --single-thread --no-module --timeout 900 -- \
        tests/lab/counters-guest.sh "$BUILD_DIR/bin" "$BATS_FILE_TMPDIR/pmu-%k/pitrace_fake_counters.ko" "$BATS_FILE_TMPDIR/commands"
}

@test "the guest finishes, and its kernel reports no error" {
    promised finished
    ended_well
}

@test "msr reads the values that the kernel, the firmware and rdmsr report" {
    promised lstar-has-the-kernels-system-call-entry the-processor-is-in-long-mode the-apic-has-the-firmwares-address \
        each-cpu-has-its-own-registers every-register-equals-the-value-of-rdmsr json fields-are-shown
}

@test "msr writes only to the named CPU" {
    promised a-write-changes-only-that-cpu
}

@test "msr without permission fails with the reason and the remedy" {
    promised without-the-msr-module-the-remedy-is-named writing-forbidden-by-the-msr-module-is-reported \
        registers-can-be-read-while-writing-is-forbidden users-without-root-are-refused \
        root-without-the-capability-gets-an-error the-advice-for-the-msr-module-works the-advice-for-writing-works
}

@test "msr reports missing and offline CPUs, and reads the others" {
    promised a-missing-cpu-is-reported an-offline-cpu-is-reported the-online-cpus-are-still-read
}

@test "mpevt and cpi report a processor without counters" {
    promised hardware-events-are-refused-without-counters cpi-needs-counters
}

@test "software events are counted exactly, also across CPU hotplug" {
    promised switches-agree-with-the-kernels-count cpu-hotplug-is-reported-as-a-gap
}

@test "hardware events are listed, and counted at their known rates" {
    promised events-that-can-only-be-counted-are-listed-as-such the-number-of-counters-is-detected \
        counts-have-their-known-rates
}

@test "documented commands work as printed, and so does the advice for users without the right to count" {
    promised the-advice-for-counting-works documented-commands-work
}

@test "mpevt refuses counters that are in use and unsupported privilege levels" {
    promised a-counter-in-use-is-refused an-unsupported-privilege-is-refused
}

@test "cpi of all CPUs reports the known cycles per instruction" {
    promised cpi-of-all-cpus-has-the-known-rates scaled-cycles-do-not-include-the-idle-cpu \
        cpi-takes-the-requested-number-of-samples sigint-ends-cpi-with-the-counts-so-far
}

@test "cpi of a command includes its children and reports its exit status" {
    promised cpi-of-a-command-returns-its-status children-of-a-command-are-counted \
        a-command-that-cannot-run-is-reported a-killed-command-is-reported
}

@test "counters are free after the mpevt daemon was killed" {
    promised the-counters-are-in-use after-a-kill-no-process-uses-the-counters
}

# bats test_tags=long
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

# bats test_tags=long
@test "in a locked-down kernel msr reads registers and refuses to write them" {
    cd "$SOURCE_DIR"
    local name
    scripts/lab --kernel 6.12 --no-module --append lockdown=integrity -- \
        tests/lab/counters-lockdown-guest.sh "$BUILD_DIR/bin" >"$BATS_TEST_TMPDIR/said"
    cat "$BATS_TEST_TMPDIR/said"
    for name in locked-down registers-are-read writing-is-refused; do grep -qx "ok $name" "$BATS_TEST_TMPDIR/said"; done
}
