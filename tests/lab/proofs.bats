#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# The proofs of tests/proofs with the module, in Debian's kernels: each in one of them, two guests at a time. What the
# module does in both of them is tested by itself. LAB_KERNELS is "one other"; long/proofs-other exchanges them, and runs
# the tests that have the tag long as well.

setup_file() { : "${STAGE:?is where the programs are installed}"; }

setup() {
  read -r one other <<<"${LAB_KERNELS:-6.1 6.12}"
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
    env BUILD_DIR="$BUILD_DIR" SOURCE_DIR="$SOURCE_DIR" STAGE="$STAGE" PROOF_SOURCE=driver bats -T --filter-tags "${LAB_TAGS:-!long,!lab:long}" "$@"
}

# beside WORD... with WORD...: two of in_lab at the same time, for guests that take one processor of the host each.
beside() {
  local first words=()
  for (( ; $# > 0; )); do
    if [[ $1 == with ]]; then break; fi
    words+=("$1")
    shift
  done
  shift
  in_lab "${words[@]}" &
  first=$!
  in_lab "$@"
  wait "$first"
}

@test "the report is right, and user hooks and names are" {
  beside "$one" --single-thread -- tests/proofs/tprof.bats tests/proofs/calls.bats \
    with "$other" --single-thread -- tests/proofs/hooks.bats tests/proofs/names.bats
}

# Disks that fill and buffers that wrap in time need both processors.
@test "modes are right" {
  in_lab "$other" -- tests/proofs/modes.bats
}

# Where time is counted in instructions, the host cannot hold up a processor between a wait's end and its measurement.
@test "times waited and times idle are right" {
  beside "$one" --icount -- tests/proofs/off_cpu.bats with "$other" --icount -- tests/proofs/ai.bats
}

# Emulated by two threads, now and then a Java virtual machine runs into code that it has just replaced; and those of the
# recorder's death switch the probes on and off all the time.
@test "Java and JavaScript are named, the hooks of JProf are right, and the module survives the death of its users" {
  beside "$other" --single-thread -- tests/proofs/java.bats tests/proofs/java_agent.bats \
    with "$one" --single-thread -- tests/proofs/recorder.bats
}

# More writers than processors of the host, and CPUs that go offline.
@test "random schedules lose no record unseen" {
  in_lab "$one" --smp 4 -- tests/proofs/schedule.bats
}
