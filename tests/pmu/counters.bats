#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Tests that need hardware counters: events of known work. Only scripts/check --pmu runs them.

setup_file() { export PATH=${STAGE:?}/bin:$PATH programs=${BUILD_DIR:?}/tests; }

setup() {
  # shellcheck source=tests/support/profile.bash
  source "$SOURCE_DIR/tests/support/profile.bash"
  cd "$BATS_TEST_TMPDIR" || return
}

teardown() { mpevt term >/dev/null 2>&1 || true; }

@test "the machine has hardware counters, and they count" {
  mpevt -l --json >events.json
  jq -e '.hardware_counters > 0' events.json
  mpevt start INSTR NONHALTED_CYCLES
  "$programs/shares" 1
  mpevt read --json | jq -e '.events | length == 2 and all(.total > 100000000)'
}

@test "a thread reads its exact instruction count without a system call" {
  constant=''
  for rounds in 1 1000 1000000; do
    for _ in 1 2 3 4 5 6 7 8 9 10; do
      read -r _ known _ counted _ method _ < <("$programs/pttloop" INSTR "$rounds")
      echo "$known counted $counted read $method"
      # Method 3 is PI_PTT_READ_PAGE: perf's page, if the kernel permits RDPMC.
      ((method == 3)) || [ "$(cat /sys/bus/event_source/devices/cpu/rdpmc)" = 0 ]
      # On many processors the return of an interrupt counts as a user instruction.
      ((counted - known < 1000))
      if ((rounds == 1)); then constant=$((counted - known)); fi
      ((counted - known >= constant - 5))
    done
  done
}

@test "cpi counts a command's instructions within one percent of its loop" {
  cpi --json -- "$programs/pttloop" INSTR 1000000000 >out
  tail -n 1 out | jq -e '.instructions > 2e9 and .instructions < 2.02e9 and .cpi > 0.1 and .cpi < 4'
}

@test "ticks of an event have the shares of the instructions" {
  run.tprof --source=perf -m event -e INSTR -c 1000000 -o out --lines=0 --post='-clip 0' -- "$programs/shares" 10
  check_shares out/tprof.json shares 2 ten=10 twenty=20 thirty=30 forty=40
}

@test "with the module, the instructions of every thread are in its account and equal the system call's" {
  [ -e /dev/pitrace ] || skip "needs the module"
  ptt init INSTR priv_user
  read -r _ known _ counted _ _ _ source < <("$programs/pttloop" INSTR 1000000)
  ptt term
  echo "$known counted $counted"
  # PI_PTT_SOURCE_MODULE
  ((source == 1 && counted >= known && counted - known < 1000))
}
