#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# When the recorder is killed at any moment, the module releases everything. Runs in the lab with the module.

setup_file() { export PATH=${STAGE:?}/bin:$PATH; }
setup() { export PITRACE_SOCKET=$BATS_TEST_TMPDIR/socket; }

recorder_pid() { swtrace info --json | jq -r .trace.recorder; }

@test "after SIGKILL of the recorder at many moments the module unloads, loads and traces again" {
  module=$SOURCE_DIR/build/kmod/$LAB_KERNEL/pitrace.ko
  local times=8
  if [[ ${LAB_TAGS-} ]]; then times=40; fi # the long run
  for _ in $(seq "$times"); do
    swtrace init -s 1 -sm 2 --source driver
    pid=$(recorder_pid)
    # At a random moment: while it starts, takes a snapshot, records, stops or writes.
    (sleep "0.$((RANDOM % 6))$((RANDOM % 10))" && kill -9 "$pid") &
    swtrace enable tprof || true
    swtrace setrate 1000 || true
    swtrace on || true
    sleep 0.1 || true
    swtrace off || true
    swtrace get "$BATS_TEST_TMPDIR/killed.nrm2" || true
    wait $!
    # The kernel closes the descriptor after the process has ended, which can take a moment.
    for try in $(seq 50); do
      rmmod pitrace 2>/dev/null && break
      sleep 0.1
    done
    [[ ! -e /dev/pitrace ]]
    insmod "$module"
  done
  swtrace init -s 1 --source driver
  swtrace enable tprof
  swtrace on
  sleep 1
  swtrace off
  swtrace get "$BATS_TEST_TMPDIR/after.nrm2"
  swtrace free
  post -r "$BATS_TEST_TMPDIR/after.nrm2" -o "$BATS_TEST_TMPDIR"
}
