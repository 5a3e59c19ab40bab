#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# msr, mpevt and cpi in real kernels: registers against what the kernel itself says, counts against a PMU of known
# rates (fake_pmu/pitrace_fake_counters.c). One boot a kernel runs counters-guest.sh, one test a promise looks at what it said.

read -ra kernels <<<"${LAB_KERNELS:-6.1 6.12}"
# shellcheck source=tests/lab/guests.bash
source "$BATS_TEST_DIRNAME/guests.bash"

setup_file() {
    cd "$BATS_TEST_DIRNAME/../.." || return 1
    : "${BUILD_DIR:?is the folder that the tests were built in}"
    build_fake_pmus || return
    boot_all --single-thread --no-module --timeout 900 -- \
        tests/lab/counters-guest.sh "$BUILD_DIR/bin" "$BATS_FILE_TMPDIR/pmu-%k/pitrace_fake_counters.ko"
}

@test "the guest comes to its end with a clean console" {
    promised finished
    ended_well
}

@test "registers are what the kernel, this processor and rdmsr say" {
    promised system-calls-enter-where-the-kernel-says the-processor-is-in-long-mode the-apic-is-where-the-firmware-says \
        each-cpu-has-its-own-registers every-register-is-what-rdmsr-reads json fields-are-shown
}

@test "what is written is there, on the CPU that was named and no other" {
    promised what-is-written-is-there-on-that-cpu-alone
}

@test "who may not is told why and what to do" {
    promised without-the-module-it-says-so writing-that-the-module-forbids-is-told reading-goes-on-meanwhile \
        others-than-root-are-refused root-without-the-capability-is-told
}

@test "CPUs that are not there are told" {
    promised a-cpu-that-is-not-there-is-told a-cpu-that-is-offline-is-told the-others-are-read-without-it
}

@test "without counters mpevt and cpi say so" {
    promised hardware-events-are-refused-without-counters cpi-needs-counters
}

@test "software events are counted exactly, also over a CPU that goes and comes" {
    promised switches-are-as-many-as-the-kernel-says a-cpu-goes-and-comes-back-and-that-is-told
}

@test "hardware events are listed and counted at the rates that they have" {
    promised events-that-are-counted-but-not-sampled-are-told-apart the-number-of-counters-is-found \
        counts-have-the-rates-that-they-must-have
}

@test "what the counters cannot do is refused" {
    promised a-counter-that-is-not-free-is-refused a-privilege-that-a-counter-cannot-tell-is-refused
}

@test "cycles per instruction of all CPUs are what the rates say" {
    promised cpi-of-all-cpus-is-what-the-rates-say scaled-cycles-leave-the-idle-cpu-out as-many-samples-as-were-asked-for \
        an-interrupt-ends-it-with-what-there-is
}

@test "cycles per instruction of a command, with what it starts, and its exit status" {
    promised cpi-of-a-command-and-its-status what-a-command-starts-is-counted-too a-command-that-cannot-be-run-is-told \
        a-command-that-is-killed-is-told
}

@test "the counters are freed however the daemon ends" {
    promised the-counters-are-in-use after-a-kill-nothing-holds-them
}

@test "a command's instructions are as many as it executes, within 0.5 percent with the clock's interrupts" {
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
        # The kernel's part of both is the same.
        awk '{ if (!($2 in least) || $4 < least[$2]) least[$2] = $4 }
            END { more = least[11000000] - least[1000000]; exit !(more >= 20000000 && more < 20100000) }' \
            "$BATS_TEST_TMPDIR/$kernel"
    done
}

@test "a kernel that is locked down lets registers be read and not written" {
    cd "$SOURCE_DIR"
    local name
    scripts/lab --kernel 6.12 --no-module --append lockdown=integrity -- \
        tests/lab/counters-lockdown-guest.sh "$BUILD_DIR/bin" >"$BATS_TEST_TMPDIR/said"
    cat "$BATS_TEST_TMPDIR/said"
    for name in locked-down registers-are-read writing-is-refused; do grep -qx "ok $name" "$BATS_TEST_TMPDIR/said"; done
}
