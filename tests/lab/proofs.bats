#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# The proofs of tests/proofs with the module, in Debian's kernels.

setup_file() {
  export STAGE=$BUILD_DIR/stage
  cmake --install "$BUILD_DIR" --prefix "$STAGE" >/dev/null
}

# in_lab KERNEL [LAB-OPTION]... -- FILE...: bats in the guest; its own output is shown when it fails.
in_lab() {
  local options=(--kernel "$1" --timeout 1200)
  for (( ; $# > 0; )); do
    shift
    [[ $1 != -- ]] || break
    options+=("$1")
  done
  shift
  PITRACE_WERROR=1 "$SOURCE_DIR/scripts/lab" "${options[@]}" -- \
    env BUILD_DIR="$BUILD_DIR" SOURCE_DIR="$SOURCE_DIR" STAGE="$STAGE" PROOF_SOURCE=driver bats -T "$@"
}

# both_in_lab WORD...: as in_lab, on both kernels at the same time, for guests that take one processor of the host each.
both_in_lab() {
  local first
  in_lab 6.1 "$@" &
  first=$!
  in_lab 6.12 "$@"
  wait "$first"
}

@test "kernels 6.1 and 6.12: the report is right" {
  both_in_lab --single-thread -- tests/proofs/tprof.bats tests/proofs/calls.bats
}

@test "kernels 6.1 and 6.12: user hooks and names are right" {
  both_in_lab --single-thread -- tests/proofs/hooks.bats tests/proofs/names.bats
}

# Disks that fill and buffers that wrap in time need both processors.
@test "kernel 6.1: modes are right" {
  in_lab 6.1 -- tests/proofs/modes.bats
}

@test "kernel 6.12: modes are right" {
  in_lab 6.12 -- tests/proofs/modes.bats
}

# Where time is counted in instructions, the host cannot hold up a processor between a wait's end and its measurement.
@test "kernels 6.1 and 6.12: times waited and times idle are right" {
  both_in_lab --icount -- tests/proofs/off_cpu.bats tests/proofs/ai.bats
}

# Emulated by two threads, now and then a Java virtual machine runs into code that it has just replaced.
@test "kernels 6.1 and 6.12: Java and JavaScript are named, and the hooks of JProf are right" {
  both_in_lab --single-thread -- tests/proofs/java.bats tests/proofs/java_agent.bats
}

# These switch the probes on and off all the time.
@test "kernels 6.1 and 6.12: the module survives the death of its users" {
  both_in_lab --single-thread -- tests/proofs/recorder.bats
}

# More writers than processors of the host, and CPUs that go offline.
@test "kernel 6.1: random schedules lose no record unseen" {
  in_lab 6.1 --smp 4 -- tests/proofs/schedule.bats
}

@test "kernel 6.12: random schedules lose no record unseen" {
  in_lab 6.12 --smp 4 -- tests/proofs/schedule.bats
}
