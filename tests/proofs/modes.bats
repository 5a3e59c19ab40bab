#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Continuous and wrap-around mode: contents of the file under suspension, full disks and killed recorders. PROOF_SOURCE is
# perf (on this machine) or driver (in the lab).

setup_file() {
  export PATH=${STAGE:?}/bin:$PATH
  export programs=${BUILD_DIR:?}/tests
}

setup() {
  # shellcheck source=tests/support/profile.bash
  source "$SOURCE_DIR/tests/support/profile.bash"
  export LC_ALL=C PITRACE_SOCKET=$BATS_TEST_TMPDIR/socket
  cd "$BATS_TEST_TMPDIR" || return
}

teardown() {
  [[ -z ${busy:-} ]] || kill "$busy" 2>/dev/null || true
  swtrace free >/dev/null 2>&1 || true
  if [[ -n ${small_disk:-} ]]; then umount -l "$small_disk"; fi
}

begin() { # begin RATE INIT-OPTION...
  local rate=$1
  shift
  swtrace init --source "${PROOF_SOURCE:?}" "$@"
  swtrace enable tprof
  swtrace setrate "$rate"
  swtrace on
}

# make_small_disk: mounts $small_disk, with space for the kernel's symbols and a little more.
make_small_disk() {
  [ "$(id -u)" -eq 0 ] || skip "needs root to mount a small disk"
  small_disk=$BATS_TEST_TMPDIR/small
  mkdir "$small_disk"
  mount -t tmpfs -o size=24m none "$small_disk"
}

# Waits until the file has the kernel's symbols; then the header has their size. A test that fills the disk must wait for
# them, since they take space. They are written after a second, in an emulated kernel later.
until_the_kernel_is_named() { # until_the_kernel_is_named FILE
  local tries=0
  while [ "$(od -An -t u8 -j 88 -N 8 "$1")" -eq 0 ]; do
    ((++tries < 100)) || return
    sleep 0.1
  done
}

# until_state COMMAND: waits until COMMAND accepts the output of 'swtrace info'.
until_state() {
  local tries=0
  until swtrace info | eval "$1"; do
    ((++tries < 600)) || { swtrace info && return 1; }
    sleep 0.1
  done
}

report() { # report [POST-OPTION]...: reports on swtrace.nrm2, which must be undamaged
  post --json -clip 0 "$@"
  check_accounts tprof.json
  jq -e '.damage.places == 0' tprof.json >/dev/null
}

losses() { jq ".losses.$1" tprof.json; }

recorder_pid() { swtrace info --json | jq -r .trace.recorder; }

# bats test_tags=lab:long
@test "continuous: the file contains far more records than the buffers could, and every name" {
  begin 1000 -t cont -s 64K -sm 256K -ss 16
  "$programs/churn" 300 200000 >/dev/null
  "$programs/shares" 3 >/dev/null
  run swtrace off
  [ "$status" -eq 0 ]
  [[ $output == *"swtrace.nrm2: $(stat -c %s swtrace.nrm2) bytes written: "* ]]
  [ "$(stat -c %a swtrace.nrm2)" = 600 ]
  report
  [ "$(losses lost)" = 0 ]
  [ "$(losses overwritten)" = 0 ]
  [ "$(jq .unresolved.no_module tprof.json)" = 0 ]
  # More than the buffers of both CPUs could contain.
  [ "$(jq .records.counted tprof.json)" -gt 4700 ]
  check_shares tprof.json shares 5 ten=10 twenty=20 thirty=30 forty=40
}

# bats test_tags=lab:long
@test "continuous: an older file is kept, and a second interval starts a new one" {
  echo older >swtrace.nrm2
  begin 100 -t cont
  [ "$(cat swtrace.nrm2.old)" = older ]
  sleep 0.3
  swtrace off
  first=$(sha256sum <swtrace.nrm2)
  swtrace on
  [ "$(sha256sum <swtrace.nrm2.old)" = "$first" ]
  run swtrace get
  [ "$status" -eq 1 ]
  [[ $output == *"is on and being written to"* ]]
  swtrace off
  swtrace get
  swtrace get copy.nrm2
  cmp copy.nrm2 swtrace.nrm2
  report
}

# bats test_tags=lab:long
@test "continuous: a recorder killed with SIGKILL leaves a file that is readable up to that moment" {
  begin 1000 -t cont -ss 4
  "$programs/shares" 3 >/dev/null
  kill -9 "$(recorder_pid)"
  run post --json -clip 0
  [ "$status" -eq 3 ]
  [[ $output == *"the recorder did not end the trace"* ]]
  [ "$(jq .damage.places tprof.json)" = 0 ]
  [ "$(jq .unresolved.no_module tprof.json)" = 0 ]
  [ "$(jq '[.trace.kallsyms] | .[0]' tprof.json)" != '"missing"' ]
  # All but one section of each CPU.
  [ "$(process_ticks tprof.json shares)" -gt 1000 ]
  check_shares tprof.json shares 6 ten=10 twenty=20 thirty=30 forty=40
}

# bats test_tags=lab:long
@test "continuous: records are lost while the disk is full, and recording continues when there is space" {
  make_small_disk
  begin 5000 -t cont -s 64K -ss 16 -f "$small_disk/trace.nrm2"
  until_the_kernel_is_named "$small_disk/trace.nrm2"
  dd if=/dev/zero of="$small_disk/ballast" bs=64K 2>dd.out || true
  "$programs/shares" 600 >/dev/null 3>&- &
  busy=$!
  until_state 'grep -q "No space left on device"'
  # Wait until the buffers are full too, and a second longer.
  until_state 'grep -q "^ *Trace records .*lost: [1-9]"'
  sleep 1
  rm "$small_disk/ballast"
  until_state '! grep "No space left on device"'
  sleep 0.5
  kill "$busy"
  swtrace off
  swtrace free
  report -r "$small_disk/trace.nrm2"
  [ "$(losses lost)" -gt 0 ]
  [ "$(losses unwritten)" = 0 ]
  # The report has each loss at its time.
  [ "$(jq '[.losses.gaps[].records] | add' tprof.json)" = "$(losses lost)" ]
  [ "$(jq '[.losses.gaps[] | .first[] | select(.to_ns - .from_ns > 500000000)] | length > 0' tprof.json)" = true ]
}

# bats test_tags=lab:long
@test "continuous: if the disk stays full only the newest records are missing from the file" {
  make_small_disk
  begin 5000 -t cont -s 64K -ss 16 -f "$small_disk/trace.nrm2"
  until_the_kernel_is_named "$small_disk/trace.nrm2"
  dd if=/dev/zero of="$small_disk/ballast" bs=4K 2>dd.out || true
  timeout 3 "$programs/shares" 3 >/dev/null || true
  run swtrace off
  [ "$status" -eq 1 ]
  [[ $output == *"trace.nrm2' is not complete: No space left on device."* ]]
  reported=$(sed -n 's/.* The newest \([0-9]*\) records are not in the file.*/\1/p' <<<"$output")
  run post --json -clip 0 -r "$small_disk/trace.nrm2"
  [ "$status" -eq 3 ]
  [ "$reported" -gt 0 ]
  [ "$reported" = "$(losses unwritten)" ]
  [[ $output == *"the disk was full"* ]]
  check_accounts tprof.json
  # No record of this interval gets into the next file.
  rm "$small_disk/ballast"
  swtrace on
  sleep 0.5
  swtrace off
  swtrace free
  report -r "$small_disk/trace.nrm2"
  [ "$(losses unwritten)" = 0 ]
}

# bats test_tags=lab:long
@test "run.tprof on a full disk keeps the trace, returns the command's status, and its advice gives the report" {
  make_small_disk
  dd if=/dev/zero of="$small_disk/ballast" bs=4K 2>dd.out || true
  for code in 7 0; do
    run run.tprof --source="${PROOF_SOURCE:?}" -o "$small_disk" -b 1 --no-java -- sh -c "exit $code"
    echo "$output"
    [ "$status" -eq $((code ? code : 125)) ]
    [[ $output == *"No space left on device"*"keeps the whole trace"* ]]
    sed -n 's/^  //p' <<<"$output" >"advice-$code"
    socket=$(sed -n "s/^export PITRACE_SOCKET='\(.*\)'\/recorder$/\1\/recorder/p" "advice-$code")
    [ -S "$socket" ]
    if [ "$code" -ne 0 ]; then PITRACE_SOCKET=$socket swtrace free && rm -r "${socket%/run/*}"; fi
    rm -f "$small_disk"/swtrace.nrm2*
  done
  rm "$small_disk/ballast"
  bash -e advice-0 >report
  [ ! -e "${socket%/run/*}" ]
  grep -q 'of processor time' report
  grep -q "^Files.*: tprof.out, tprof.json, swtrace.nrm2" report
  [ "$(jq .damage.places "$small_disk/tprof.json")" = 0 ]
}

# bats test_tags=lab:long
@test "run.itrace -cont on a full disk makes a report of the written part, and names the missing part" {
  make_small_disk
  dd if=/dev/zero of="$small_disk/ballast" bs=4K 2>dd.out || true
  # The kernel's symbols need more than this space.
  truncate -s -512K "$small_disk/ballast"
  run run.itrace --source="${PROOF_SOURCE:?}" -cont -user -t 1 -n 0 -o "$small_disk" --lines=0 -- "$programs/shares" 1
  echo "$output"
  [ "$status" -eq 125 ]
  [[ $output == *"swtrace.nrm2' is not complete: No space left on device."*"kernel's symbols are not in the file"* ]]
  [ -s "$small_disk/arc" ] || [[ $output == *"cannot make the report"* ]]
}

@test "wrap-around: the newest records are kept with their names, also after snapshots" {
  begin 4000 -t wrap -s 64K -ss 8
  timeout 3 "$programs/doubling" 3 >/dev/null || true
  "$programs/churn" 200 100000 >/dev/null
  swtrace get first.nrm2
  [ "$(swtrace info --json | jq .trace.active)" = true ]
  "$programs/shares" 2 >/dev/null
  swtrace get second.nrm2
  "$programs/churn" 100 100000 >/dev/null
  swtrace off
  swtrace get
  [ -e swtrace.nrm2.mte ]
  swtrace free
  [ ! -e swtrace.nrm2.mte ]
  for file in first.nrm2 second.nrm2 swtrace.nrm2; do
    report -r "$file"
    [ "$(losses overwritten)" -gt 0 ]
    [ "$(jq .unresolved.no_module tprof.json)" = 0 ]
    # Each CPU's buffer has space for 2,340 ticks; all but one block survives.
    [ "$(jq .records.tprof tprof.json)" -gt 2000 ]
  done
  # The oldest records are overwritten, but the names of all processes are in the file.
  post -r first.nrm2 -showx
  [ "$(grep -c churn post.show)" -ge 200 ]
  post -r second.nrm2 --json -clip 0
  # The newest half second of a program whose rounds may take that long.
  [ "$(process_ticks tprof.json shares)" -gt 300 ]
  process_symbols tprof.json shares | grep -q ' forty '
}

# bats test_tags=lab:long
@test "wrap-around: a recorder killed with SIGKILL leaves all names" {
  begin 1000 -t wrap
  "$programs/churn" 100 100000 >/dev/null
  sleep 1.5
  kill -9 "$(recorder_pid)"
  run post -r swtrace.nrm2.mte -showx
  [ "$status" -eq 3 ]
  [[ $output == *"the recorder did not end the trace"* ]]
  [ "$(grep -c churn post.show)" -ge 100 ]
}

# bats test_tags=lab:long
@test "normal: records after a full buffer are counted as lost, also after a suspension" {
  begin 4000 -s 64K
  timeout 2 "$programs/shares" 2 >/dev/null || true
  [ "$(swtrace info --json | jq .trace.full)" = true ]
  swtrace suspend
  swtrace resume
  before=$(swtrace info --json | jq .trace.trace.lost.stopped)
  timeout 1 "$programs/shares" 1 >/dev/null || true
  swtrace off
  [ "$(swtrace info --json | jq .trace.trace.lost.stopped)" -gt $((before + 500)) ]
  swtrace get
  report
}

# cpu_time PID: its CPU time in hundredths of a second.
cpu_time() { awk '{ print $14 + $15 }' "/proc/$1/stat"; }

# suspended MODE: no ticks of the suspension and, after discard, no older ones; but names.
suspended() {
  # An emulated processor is too slow for the higher rate.
  local mode=$1 rate=4000 enough=20 program start
  if [[ $PROOF_SOURCE == driver ]]; then rate=1000 enough=50; fi
  begin "$rate" -t "$mode" -ss 8
  "$programs/doubling" 1 >/dev/null
  swtrace suspend
  swtrace suspend
  [ "$(swtrace info --json | jq .trace.active)" = false ]
  before=$(swtrace info --json | jq .trace.trace.produced)
  "$programs/churn" 50 200000 >/dev/null
  "$programs/shares" 120 >/dev/null 3>&- &
  program=$!
  sleep 0.5
  [ "$(swtrace info --json | jq .trace.trace.produced)" = "$before" ]
  swtrace discard
  [ "$(swtrace info --json | jq .trace.trace.produced)" = 0 ]
  swtrace resume
  swtrace resume
  start=$(cpu_time "$program")
  until (($(cpu_time "$program") >= start + enough)); do sleep 0.1; done
  swtrace off
  [[ $mode == cont ]] || swtrace get
  swtrace free
  kill "$program"
  wait "$program" || true
  report
  [ "$(process_ticks tprof.json doubling)" = 0 ]
  [ "$(process_ticks tprof.json churn)" = 0 ]
  # The process's mapping was recorded while the trace was suspended.
  [ "$(process_ticks tprof.json shares)" -gt 100 ]
  [ "$(jq .unresolved.no_module tprof.json)" = 0 ]
}

# bats test_tags=lab:long
@test "suspended, normal mode: names but no ticks are recorded; discard removes older ticks" { suspended norm; }

# bats test_tags=lab:long
@test "suspended, continuous mode: names but no ticks are recorded; discard removes older ticks and their file" { suspended cont; }

# bats test_tags=lab:long
@test "suspended, wrap-around mode: names but no ticks are recorded; discard removes older ticks" { suspended wrap; }

# bats test_tags=lab:long
@test "wrong use of the modes fails with the reason" {
  run swtrace init --source "$PROOF_SOURCE" -t cont -s 64K -ss 64
  [ "$status" -eq 1 ]
  [[ $output == *"at most half of the smaller buffer"* ]]
  swtrace init --source "$PROOF_SOURCE" -t wrap
  for command in suspend resume discard off; do
    run swtrace "$command"
    [ "$status" -eq 1 ]
    [[ $output == *"not on"* ]]
  done
  swtrace on
  run swtrace get swtrace.nrm2.mte
  [ "$status" -eq 1 ]
  [[ $output == *"the file of the names"* ]]
  run env PITRACE_SOCKET="$BATS_TEST_TMPDIR/other" swtrace init --source "$PROOF_SOURCE"
  if [[ $PROOF_SOURCE == driver ]]; then
    [ "$status" -eq 1 ]
    [[ $output == *"busy: process $(recorder_pid) (swtrace) owns it"* ]]
  fi
  PITRACE_SOCKET=$BATS_TEST_TMPDIR/other swtrace free >/dev/null 2>&1 || true
  ln -s /etc/passwd link.nrm2
  swtrace off
  swtrace free
  run swtrace init --source "$PROOF_SOURCE" -t cont -f link.nrm2
  [ "$status" -eq 1 ]
  [[ $output == *"symbolic link"* ]]
  run swtrace init --source "$PROOF_SOURCE" -t wrap -f missing/x.nrm2
  [ "$status" -eq 1 ]
  [[ $output == *"/missing/x.nrm2.mte' cannot be written: No such file"* ]]
}
