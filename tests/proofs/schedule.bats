#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Random schedules of all operations on a trace: the sequence numbers account for every record. PROOF_SOURCE is perf (on
# this machine) or driver (in the lab, where CPUs also go offline).
#
# To repeat a failed one: schedule --source SOURCE --mode MODE --seed SEED --steps STEPS [--hotplug], with the
# installed swtrace in PATH and PITRACE_SOCKET set.

setup_file() { export PATH=${STAGE:?}/bin:${BUILD_DIR:?}/tests:$PATH; }

setup() {
  export LC_ALL=C PITRACE_SOCKET=$BATS_TEST_TMPDIR/socket
  cd "$BATS_TEST_TMPDIR" || return
}

teardown() { swtrace free >/dev/null 2>&1 || true; }

# follow MODE STEPS SEED...: runs a schedule for each seed and for a random one. The mode must have kept and lost records.
follow() {
  local mode=$1 steps=$2 seed hotplug=()
  shift 2
  if [[ ${LAB:-} == 1 ]]; then hotplug=(--hotplug); fi
  for seed in "$@" "$((RANDOM * 32768 + RANDOM))"; do
    schedule --source "${PROOF_SOURCE:?}" --mode "$mode" --steps "$steps" --seed "$seed" "${hotplug[@]}" >out ||
      { cat out && return 1; }
    head -n 1 out
    tail -n 3 out
    kept=$((${kept:-0} + $(awk -v mode="$mode:" '$1 == mode { print $4 }' out)))
    missing=$((${missing:-0} + $(awk -v mode="$mode:" '$1 == mode { print $7 }' out)))
  done
  # Otherwise the schedules tested nothing.
  ((kept > 1000 && missing > 1000))
}

# A step in the lab takes twice as long.
steps() { if [[ $PROOF_SOURCE == driver ]]; then echo 12; else echo 30; fi; }

# bats test_tags=lab:long
@test "normal mode: every record of a random schedule is kept or counted as lost" {
  follow norm "$(steps)" 1
}

# bats test_tags=lab:long
@test "wrap-around mode: every record of a random schedule is kept, overwritten or counted as lost" {
  follow wrap "$(steps)" 2
}

@test "continuous mode: every record of a random schedule is kept, or reported as lost where it is missing" {
  follow cont "$(steps)" 3
}
