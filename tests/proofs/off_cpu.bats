#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Off-CPU time of threads that sleep, wait for a lock or wait for a pipe, compared with their own measurements
# (progs/waits.c). PROOF_SOURCE is perf (on this machine) or driver (in the lab).

setup_file() {
  export PATH=${STAGE:?}/bin:$PATH PITRACE_SOCKET=$BATS_FILE_TMPDIR/socket
  cd "$BATS_FILE_TMPDIR" || return
  # shellcheck source=tests/support/profile.bash
  source "$SOURCE_DIR/tests/support/profile.bash"
  local scope=()
  # The shell becomes the program when the trace is on. With perf, only the program is traced, since this machine may have
  # other load.
  mkfifo go
  bash -c 'read -r _ <go; exec "$@"' bash "${BUILD_DIR:?}/tests/waits" 10 >truth &
  local waits=$!
  echo "$waits" >pid
  [[ ${PROOF_SOURCE:?} == driver ]] || scope=(--scope process --pid "$waits")
  swtrace init --source "$PROOF_SOURCE" -s 32 "${scope[@]}"
  swtrace enable dispatch mte
  swtrace stacks both
  swtrace on
  echo >go
  wait "$waits"
  swtrace off
  if [[ $PROOF_SOURCE == driver ]]; then keep_awake; fi
  swtrace get
  swtrace free
  post -offcpu --json -clip 0
  # jq needs seconds for the whole file on an emulated processor.
  jq -c '.off_cpu.threads[] | select(.process | startswith("waits_"))' tprof.json >threads
  if [[ $PROOF_SOURCE == driver ]]; then kill "$awake"; fi
}

# Kills the program if it still waits for a trace that could not be started.
teardown_file() { kill "$(cat "$BATS_FILE_TMPDIR/pid")" 2>/dev/null || true; }

setup() { cd "$BATS_FILE_TMPDIR" || return; }

# waits_of THREAD: a line of JSON for each wait in the function of that name.
waits_of() {
  jq -c --arg thread "$1" 'select(.thread | startswith("tid_" + $thread + "_")) | .waits[]
    | select(any(.frames[]; startswith($thread + ":")))' threads
}

# found THREAD MEMBER: the sum of this member over all waits in the function of that name.
found() { waits_of "$1" | jq -s "[.[].$2] | add // 0"; }

# near NAME FOUND TRUE: nanoseconds, equal within 2 % plus a millisecond.
near() {
  awk -v name="$1" -v found="$2" -v true="$3" 'BEGIN {
    off = found - true
    printf "%s: %.3f ms, true %.3f ms\n", name, found / 1e6, true / 1e6
    exit !(true > 0 && off <= 0.02 * true + 1e6 && off >= -0.02 * true - 1e6) }'
}

# truth THREAD FIELD: field 4 is the blocked time, 5 the runnable time.
truth() { awk -v thread="$1" -v field="$2" '$1 == "truth" && $2 == thread { print $field }' truth; }

@test "off-CPU time of each wait equals the thread's own measurement, in the function that waited" {
  local thread bad=0
  for thread in sleeper locker reader; do
    near "$thread" $(($(found $thread blocked_ns) + $(found $thread runnable_ns))) \
      $(($(truth $thread 4) + $(truth $thread 5))) || bad=1
  done
  jq -e '.off_cpu.gaps == 0 and .off_cpu.contradictions == 0' tprof.json
  ((!bad))
}

@test "blocked and runnable time are separate, or the report says that they cannot be separated" {
  if [[ $PROOF_SOURCE == perf ]]; then
    jq -e '.off_cpu.wakeups == 0' tprof.json
    grep -q '^ Wake-ups : none in this trace: time blocked includes the time for which the$' tprof.offcpu
    return
  fi
  # Not for the sleeper: its timer may expire late.
  local thread bad=0
  for thread in locker reader; do
    near "$thread blocked" "$(found $thread blocked_ns)" "$(truth $thread 4)" || bad=1
    near "$thread runnable" "$(found $thread runnable_ns)" "$(truth $thread 5)" || bad=1
  done
  # The lock's holder kept the CPU after the wake-up, so there is runnable time to separate.
  (($(truth locker 5) > 20000000))
  ((!bad))
}

@test "the waker is the thread that unlocked or wrote, or an interrupt for a sleeper" {
  # woken_by THREAD PATTERN: at least nine in ten of its wake-ups match; a wake-up may also come before the thread sleeps.
  woken_by() {
    waits_of "$1" | jq -s -e --arg waker "$2" '[.[].wakers[]] | ([.[].count] | add // 0) as $all
      | ([.[] | select(.chain | join(" < ") | test($waker)) | .count] | add // 0) as $good
      | "\($good) of \($all)", ($all >= 9 and $good >= 0.9 * $all)'
  }
  if [[ $PROOF_SOURCE == perf ]]; then
    [ "$(for thread in sleeper locker reader; do waits_of $thread; done | jq -s '[.[].wakers[]] | length')" = 0 ]
    return
  fi
  woken_by locker '^waits_[0-9a-f]+ tid_holder_[0-9a-f]+ < an interrupt'
  woken_by reader '^waits_[0-9a-f]+ tid_writer_[0-9a-f]+ < an interrupt'
  woken_by sleeper '^an interrupt'
}

@test "the stacks of waits reach the start of their threads, in the C library, which has no frame pointers" {
  [[ $PROOF_SOURCE == perf ]] || skip "lab/stacks has the module's"
  local thread
  for thread in sleeper locker reader; do
    # clone3() has called start_thread().
    waits_of "$thread" | jq -s -e '[.[] | {count, whole: all(.frames[-2:][]; test(":.*/libc[.-]"))}]
      | ([.[].count] | add // 0) as $all | ([.[] | select(.whole) | .count] | add // 0) as $whole
      | "\($whole) of \($all)", ($all >= 9 and $whole >= 0.9 * $all)'
  done
}
