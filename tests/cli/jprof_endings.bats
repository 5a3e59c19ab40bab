#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Each way of ending a Java virtual machine writes what CALLTREE and CALLTRACE have collected, and does not change how it ends.

setup() {
  agent=$BUILD_DIR/lib/libjprof.so
  if ! command -v java >/dev/null || [ ! -e "$agent" ]; then skip "needs a JDK"; fi
  ! readelf -d "$agent" | grep -qE 'NEEDED.*lib(a|t|ub)san' || skip "needs a build without sanitizers"
  [ -s "$BUILD_DIR/jprof/java/transformer.pack" ] || skip "needs libasm-java"
  # shellcheck source=tests/support/call_tree.bash
  source "$SOURCE_DIR/tests/support/call_tree.bash"
  cd "$BATS_TEST_TMPDIR" || return
  unset JPROFOPTS jprofopts JAVA_TOOL_OPTIONS _JAVA_OPTIONS
  options=calltree,calltrace,metrics=raw_cycles,start,nopidx,json
}

# ending STATUS STEPS HOW [OPTION...]: the program ends with STATUS, and each log has STEPS calls of step().
ending() {
  local status=0
  rm -f log-*
  java "${@:4}" -agentpath:"$agent=$options" -cp "$BUILD_DIR/tests/java" Endings "$3" >out 2>err || status=$?
  echo "$3: $status"
  cat err
  [ "$status" -eq "$1" ]
  logs "$2"
}

# logs STEPS
logs() {
  [ "$(awk '$NF ~ /:Endings\.step\(\)V$/ { n += $2 } END { print n }' log-rt.1)" -eq "$1" ]
  [ "$(grep -c '> .:Endings[.]step()V ' log-gen.1)" -eq "$1" ]
  [ "$(jq '[.threads[].nodes[] | select(.name == "Endings.step()V").calls] | add' log-rt.1.json)" -eq "$1" ]
  [ "$(jq '[.events[] | select(.name == "Endings.step()V" and .event == "entry")] | length' log-gen.1.json)" -eq "$1" ]
  fits log-rt.1
  grep -q 'Lost ::' log-rt.1 log-gen.1 && return 1
  [ -s log-unrecorded.1 ]
}

# killed SIGNAL [OPTION...]: a JVM that waits ends by the signal; its status must be that of the signal.
killed() {
  local pid status=0 tries
  rm -f log-* out
  # A shell without job control starts commands in the background with SIGINT ignored.
  env --default-signal=HUP,INT java "${@:2}" -agentpath:"$agent=$options" -cp "$BUILD_DIR/tests/java" Endings wait >out 2>err &
  pid=$!
  for ((tries = 0; tries < 600; tries++)); do
    ! grep -qs ready out || break
    sleep 0.1
  done
  kill -s "$1" "$pid"
  wait "$pid" || status=$?
  [ "$status" -eq $((128 + $(kill -l "$1"))) ]
}

# bats test_tags=long
@test "exit, halt, an exception, several exits at once, and the end of the last thread write all calls, those of hooks too" {
  ending 3 13 exit
  ending 4 10 halt
  ending 1 13 throw
  grep -q '^Exception in thread "main" java.lang.IllegalStateException: the last exception' err
  ending 6 13 race
  ending 0 13 last
  ending 1 13 memory -Xmx64m
}

# bats test_tags=long
@test "SIGHUP, SIGINT and SIGTERM write all calls; SIGKILL, and signals that the JVM does not handle, leave empty logs" {
  for signal in HUP INT TERM; do
    killed "$signal"
    logs 13
  done
  nothing='log-gen.1 0 log-rt.1 0 log-unrecorded.1 0'
  killed KILL
  [ "$(stat -c '%n %s' log-* | paste -sd ' ')" = "$nothing" ]
  killed TERM -Xrs
  [ "$(stat -c '%n %s' log-* | paste -sd ' ')" = "$nothing" ]
  # No file without a name remains.
  [ -z "$(find . -name '*.events')" ]
}

@test "on a full disk a message names each log that is missing, no part of one remains, and the program ends as ever" {
  unshare -m true 2>/dev/null || skip "needs root to mount a small file system"
  mkdir disk
  cat >script <<'END'
mount -t tmpfs -o size="$1" none disk || exit 1
head -c "$4" /dev/zero >disk/other || exit 1
java -agentpath:"$2,logpath=disk" -cp "$3" Endings exit
echo "status $?"
rm disk/other
ls disk
grep -hs '^ Lost ::' disk/log-gen.1
END
  small() { unshare -m bash script "$1" "$agent=$2" "$BUILD_DIR/tests/java" "${3-0}"; }
  run small 64k "$options"
  echo "$output"
  [[ $output == "JProf: cannot write '"*"/disk/log-rt.1': No space left on device"*$'\n''status 3' ]]
  # There is space for log-rt, and not for a second form of it.
  run small 2m calltree,start,nopidx,json,folded
  echo "$output"
  [[ $output == "JProf: cannot write '"*"/log-rt.1.json': No space left on device; cannot write '"*"/log-rt.1.folded': No space"* ]]
  [[ $output == *$'\nstatus 3\nlog-rt.1\nlog-unrecorded.1' ]]
  # Events leave the last twentieth of the file system to others.
  run small 100m calltree,calltrace,metrics=raw_cycles,start,nopidx 96m
  echo "$output"
  [[ $output == $'status 3\nlog-gen.1\nlog-rt.1\nlog-unrecorded.1\n Lost :: '*""*" events that could not be written to the log of events"* ]]
}
