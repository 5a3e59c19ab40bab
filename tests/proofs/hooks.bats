#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# User hooks of other programs are in the trace, complete, in order, and counted. PROOF_SOURCE is perf (on this machine) or
# driver (in the lab).

setup_file() { export PATH=${STAGE:?}/bin:$BUILD_DIR/tests:$PATH; }

setup() {
  cd "$BATS_TEST_TMPDIR" || return
  export PITRACE_SOCKET=$BATS_TEST_TMPDIR/socket
}

teardown() {
  swtrace free >/dev/null 2>&1 || true
}

# start OPTION...: starts a trace with hooks of the majors 0x30 and 0x71 and ticks, and with little space for names.
start() {
  swtrace init --source "$PROOF_SOURCE" -sm 64K "$@"
  swtrace enable 0x30 0x71 16
  swtrace on
}

# finish: ends the trace and writes post.show.
finish() {
  swtrace off
  swtrace get trace.nrm2
  swtrace free
  post -showx -r trace.nrm2 -o .
}

# as_written MAJOR: prints the program's output in the form of post.show's lines, from the major on.
as_written() {
  gawk -v major="$1" '$1 ~ "^" major "/" {
    split($1, kind, "/"); line = sprintf("%X %X", strtonum("0x" kind[1]), strtonum("0x" kind[2]))
    for (i = 2; i <= NF; i++) line = line ($i ~ /^[0-9]+$/ ? sprintf(" %X", $i) : " [" length($i) "]" $i)
    print line }'
}

# in_trace MAJOR: prints post.show's lines of that major, from the major on, without the time.
in_trace() { awk -v major="$1" '$1 == "****" && $4 == major { $1 = $2 = $3 = $6 = ""; $0 = $0; $1 = $1; print }' post.show; }

# bats test_tags=lab:long
@test "hooks of many threads and signal handlers are all stored or counted as lost" {
  start -s 32
  hooker -w -n 20000 -t 3 -s -f >w1 &
  hooker -w -n 500 -t 30 -u 50 >w2 &
  wait
  swtrace info --json >info.json
  finish
  cat w1 w2 >written
  "$SOURCE_DIR"/tests/support/check-hooks 30 written post.show
  jq -e '.trace.full == false' info.json
  # Writers count all losses while the buffer is not full.
  lost=$(awk '{ sum += $9 } END { print sum + 0 }' written)
  [ "$(jq '[.trace.trace.lost[]] | add' info.json)" -eq "$lost" ]
}

@test "the C sample's file contains its ints and strings" {
  [[ $PROOF_SOURCE != driver ]] || [ -e /dev/pitrace ]
  "$BUILD_DIR/examples/example_hooks_c" own.nrm2 >printed
  post -showx -r own.nrm2 -o .
  as_written 70 <printed >expected
  [ "$(wc -l <expected)" -eq 103 ]
  in_trace 70 | diff expected -
}

# bats test_tags=lab:long
@test "the spans of the C++ sample are in the trace, in order for each thread" {
  start -s 8
  "$BUILD_DIR/examples/example_hooks_cpp" >printed
  finish
  as_written 71 <printed >expected
  [ "$(wc -l <expected)" -eq 1600 ]
  for thread in 0 1 2 3; do
    diff <(awk -v t=$thread '$3 == t' expected) <(in_trace 71 | awk -v t=$thread '$3 == t')
  done
  [ "$(in_trace 71 | wc -l)" -eq 1600 ]
}

# bats test_tags=lab:long
@test "the C++ sample works without a trace" {
  "$BUILD_DIR/examples/example_hooks_cpp" >printed
}

# bats test_tags=lab:long
@test "threads that write their first hook at the same time all find the trace" {
  start -s 8
  for i in $(seq 30); do hooker -n 1 -t 8; done >written
  finish
  "$SOURCE_DIR"/tests/support/check-hooks 30 written post.show
  [ "$(in_trace 30 | wc -l)" -eq 240 ]
}

@test "hooks that are disabled, before on or after off are ignored without error" {
  swtrace init --source "$PROOF_SOURCE" -s 8
  swtrace enable 0x30
  hooker -w -n 10
  swtrace on
  hooker -w -n 10 -M 0x31
  hooker -w -n 7 >written
  swtrace off
  hooker -w -n 10
  swtrace get trace.nrm2
  post -showx -r trace.nrm2 -o .
  "$SOURCE_DIR"/tests/support/check-hooks 30 written post.show
  [ "$(in_trace 31 | wc -l)" -eq 0 ]
}

# bats test_tags=lab:long
@test "a process killed while it writes leaves exactly the hooks that it had written" {
  start -s 32
  for i in 1 2 3; do
    hooker -w -t 3 -x -u 100 >ready.$i &
    pid=$!
    until [ -s ready.$i ]; do sleep 0.02; done
    sleep 0.3
    kill -9 $pid
    wait $pid || true
  done
  hooker -w -n 100 -t 2 >after
  finish
  "$SOURCE_DIR"/tests/support/check-hooks 30 /dev/null post.show >seen
  cat seen
  [ "$(awk '{ print $4 }' seen)" -eq 11 ]
  [ "$(awk '{ print $1 }' seen)" -gt 300 ]
}

# bats test_tags=lab:long
@test "a process whose recorder was killed writes to the next recorder" {
  start -s 8
  hooker -w -t 2 -x -u 1000 >ready &
  writer=$!
  until [ -s ready ]; do sleep 0.02; done
  kill -9 "$(swtrace info --json | jq .trace.recorder)"
  sleep 0.3
  start -s 8
  sleep 1
  finish
  kill -9 $writer
  wait $writer || true
  "$SOURCE_DIR"/tests/support/check-hooks 30 /dev/null post.show >seen
  cat seen
  [ "$(awk '{ print $1 }' seen)" -gt 100 ]
}

# bats test_tags=lab:long
@test "another user cannot write hooks and gets PU_ERROR_NO_BUFFER" {
  [ "$EUID" -eq 0 ] || skip "needs root to become another user"
  # shellcheck source=tests/support/other_user.bash
  source "$SOURCE_DIR/tests/support/other_user.bash"
  make_public "$BUILD_DIR/tests/hooker" "$BUILD_DIR/lib/libperfutil.so.0"
  start -s 8
  run as_nobody hooker -n 5
  rm -rf "$public"
  [ "$status" -eq 1 ]
  [[ $output == *PU_ERROR_NO_BUFFER* ]]
  hooker -w -n 5 >written
  finish
  "$SOURCE_DIR"/tests/support/check-hooks 30 written post.show
}

# bats test_tags=lab:long
@test "threads beyond the number of rings write their hooks or count them as lost" {
  [[ $PROOF_SOURCE == perf ]] || skip "the module has no per-thread rings"
  start -s 64
  for i in $(seq 3); do hooker -w -n 20 -t 600 -u 5000 >>w1; done
  swtrace info --json >info.json
  finish
  "$SOURCE_DIR"/tests/support/check-hooks 30 w1 post.show
  lost=$(awk '{ sum += $9 } END { print sum + 0 }' w1)
  [ "$(jq '[.trace.trace.lost[]] | add' info.json)" -eq "$lost" ]
}
