#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# ITrace in real kernels: one boot of each kernel runs itrace-guest.sh; each test checks promises in its output. The guest
# decodes each block of each flow: it must begin at the target of the previous branch, and have the counted number of
# instructions.

# shellcheck disable=SC2016 # expanded by the guest
kernels=(6.1 6.12)
# shellcheck source=tests/lab/guests.bash
source "$BATS_TEST_DIRNAME/../lab/guests.bash"

setup_file() {
    cd "$BATS_TEST_DIRNAME/../.." || return 1
    : "${BUILD_DIR:?must be the build folder}"
    # --random-maps: the blocks of a child that has executed another program cannot be decoded with the memory of its parent.
    # At fixed addresses the parent has other code there. --single-thread: probes are attached and detached all the time. A
    # thousand cycles, in the last test, take almost an hour.
    boot_all --single-thread --random-maps --timeout 1800 -- tests/lab/itrace-guest.sh "$BUILD_DIR/tests" 5
}

@test "the guest finishes, and its kernel reports no error" {
    promised finished
    ended_well
}

@test "code without system calls is followed" {
    for options in -i -iuc; do
        promised "flow-of-"{loop,straight,recursion,rep}$options
    done
}

@test "system calls, page faults, signals and their handlers are followed" {
    for options in -i -iuc; do
        promised "flow-of-"{plt,getppid,write,fault,segv,kill,timer,sleep,migrate}$options
    done
}

@test "every block of a million branches with sleeps, migrations, signals and faults is decoded" {
    promised a-million-branches-are-decoded there-are-a-million-branches they-have-gaps-{3,5} nothing-is-undecoded
}

@test "new threads, fork, vfork and exec are followed" {
    for options in -i -iuc; do
        promised "flow-of-"{threads,fork,vfork}$options
    done
    promised children-are-followed children-are-not-followed-by-default new-threads-are-followed
}

@test "user code only or kernel code only can be followed" {
    promised flow-of-{write,kill,fork}-ik user-code-only-has-no-kernel kernel-code-only-has-no-user
}

@test "interrupts are recorded at their addresses, only on request" {
    promised flow-with-interrupts{,-of-the-kernel} interrupts-are-shown interrupts-of-the-kernel-are-shown \
        no-interrupts-by-default
}

@test "programs do not see the trap flag in r11, pushf, popf and signal frames" {
    for options in -i -iuc; do
        promised "flow-of-"{r11,pushf,popf,kill,timer}$options
    done
}

# itrace-branch.bats tests watchpoints: Debian's QEMU fails when a single step hits one, also with ptrace.
@test "int3, uprobes and programs that single-step themselves work while followed" {
    promised flow-of-{int3,own}-{i,iuc} a-uprobe-in-traced-code-{i,ik,iuc}
    promised the-uprobe-was-hit-each-time
}

@test "kernel code that runs too long with preemption off makes one gap, and the flow continues" {
    promised flow-of-a-stretch code-that-cannot-be-stepped-is-a-gap
}

@test "a debugger steps a followed thread" {
    promised a-debugger-steps-a-traced-program
}

@test "a seccomp filter works in a followed program" {
    promised a-seccomp-filter-works
}

@test "whole programs, also 32-bit ones, are followed from the first instruction to the last" {
    promised a-program-is-traced-from-its-first-instruction-to-its-last the-program-has-its-own-exit-status \
        a-shell-and-its-children-are-traced the-shell-has-its-own-exit-status a-32-bit-program-is-traced
}

@test "a full buffer ends the trace, not the program" {
    promised a-full-buffer-ends-the-trace the-program-continues-after-a-full-buffer
}

@test "64 busy threads run correctly while ITrace is turned on and off" {
    promised many-threads-run-correctly many-threads-ended-without-error
}

@test "after tools and targets are killed the module can be unloaded and leaves nothing" {
    promised a-program-continues-after-the-tool-was-killed unloading-leaves-nothing \
        programs-run-correctly-after-unloading loading-again it-works-again
}

@test "wrong calls fail with the documented error" {
    promised wrong-calls-are-refused
}

@test "threads run correctly through a thousand on/off cycles in both kernels, with pti=on" {
    cd "$BATS_TEST_DIRNAME/../.." || return 1
    : "${BUILD_DIR:?must be the build folder}"
    boot_all --single-thread --timeout 5400 --append pti=on -- tests/lab/itrace-guest.sh "$BUILD_DIR/tests" 1000
    promised finished many-threads-run-correctly many-threads-ended-without-error unloading-leaves-nothing \
        it-works-again
    ended_well
    holds '/^not ok/ { bad++ } END { exit bad > 0 }'
}

# An emulated Haswell has the bug (MDS) for which the kernel clears the processor's buffers, by VERW, before it returns to user mode.
@test "where the kernel clears the processor's buffers, it does so after the last step" {
    local guest='cd "$LAB_OUT" && PATH=$1/bin:$PATH
        grep -q "Clear CPU buffers" /sys/devices/system/cpu/vulnerabilities/mds || exit
        swtrace init --source driver -s 32 && swtrace it_install -i && swtrace on && swtrace it_run -- /bin/true &&
            swtrace it_off && swtrace off && swtrace get && swtrace free && post -r swtrace.nrm2 -arc -ss'
    cd "$BATS_TEST_DIRNAME/../.." || return 1
    scripts/lab --kernel 6.12 --cpu Haswell --out "$BATS_TEST_TMPDIR/out" -- bash -c "$guest" guest "$BUILD_DIR"
    # From SWAPGS on the instructions belong to one block, which ends with SYSRET: the module reads them, and no step is between them.
    awk '$1 == "ss:" && $4 == "verw" { n++; if (before != "swapgs") bad = 1; cleared = 1; next }
        cleared && $4 != "sysret" { bad = 1 }
        { cleared = 0; before = $1 == "ss:" ? $4 : "" }
        END { exit bad || n < 10 }' "$BATS_TEST_TMPDIR/out/arc"
}
