#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Records 19/41 and 19/42 place each record of JProf's logs in the trace. PROOF_SOURCE is perf (on this machine) or driver
# (in the lab).

setup_file() { export PATH=${STAGE:?}/bin:$BUILD_DIR/tests:$PATH; }

setup() {
  agent=$(compgen -G "$STAGE/lib*/libjprof.so" || compgen -G "$STAGE/lib/*/libjprof.so") || skip "needs a JDK"
  classes=$BUILD_DIR/tests/java
  cd "$BATS_TEST_TMPDIR" || return
  export PITRACE_SOCKET=$BATS_TEST_TMPDIR/socket
}

teardown() {
  swtrace free >/dev/null 2>&1 || true
}

start() {
  swtrace init --source "$PROOF_SOURCE" -s 32
  swtrace enable 0x19 16
  swtrace on
}

# finish: ends the trace and writes post.show; no record may be lost.
finish() {
  swtrace off
  swtrace info --json >info.json
  swtrace get trace.nrm2
  swtrace free
  post -showx -r trace.nrm2 -o .
  jq -e '[.trace.trace.lost[]] | add == 0' info.json
}

# hooks MINOR: the hexadecimal ints and the strings of the records of major 19 with that minor.
hooks() {
  awk -v minor="$1" '$1 == "****" && $4 == 19 && $5 == minor { $1 = $2 = $3 = $4 = $5 = $6 = ""; $0 = $0; $1 = $1; print }' post.show
}

# same_as_log PID LOG-SUFFIX: the hooks of that process equal its logs.
same_as_log() {
  local pid interval
  pid=$(printf '%X' "$1")
  interval=$(sed -n 's/^ SeqNo //p' "log-jita2n$2")
  [ "$(wc -w <<<"$interval")" -eq 1 ]
  gawk 'NF == 6 && $1 ~ /^[0-9a-f]{8}$/ { printf "%X %X %X\n", strtonum("0x" $2), strtonum("0x" $1), and(strtonum("0x" $3), 0xffffffff) }' \
    "log-jita2n$2" | sort >logged
  hooks 41 | gawk -v pid="$pid" -v interval="$(printf '%X' "$interval")" '$1 == interval && $2 == pid { print $3, $4, $5 }' |
    sort >placed
  [ "$(wc -l <logged)" -gt 500 ]
  diff logged placed
  gawk '/^TNM/ { printf "%X %X %X %d [%d]%s\n", strtonum("0x" substr($2, 9)), strtonum("0x" substr($2, 1, 8)), strtonum("0x" $3),
      $5 == "END", length($4), $4 }' "log-jtnm$2" | sort >logged
  hooks 42 | gawk -v pid="$pid" -v interval="$(printf '%X' "$interval")" '$1 == interval && $2 == pid { $1 = $2 = ""; $0 = $0; $1 = $1; print }' |
    sort >placed
  [ "$(wc -l <logged)" -gt 5 ]
  diff logged placed
}

# bats test_tags=lab:long
@test "each record of the JProf logs has its hook in the trace" {
  start
  java -agentpath:"$agent"=tprof -cp "$classes" Replace 60 >out &
  pid=$!
  wait $pid
  finish
  same_as_log $pid "_$pid"
  # A hook never precedes the event that it reports.
  gawk '$1 == "****" && $4 == 19 && $5 == 41 { split($6, t, ":"); if (strtonum("0x" t[1] t[2]) < strtonum("0x" $10 sprintf("%08s", $9))) bad++ }
    END { exit bad > 0 }' post.show
}

# bats test_tags=lab:long
@test "hooks of a JVM in a container have the process id outside it" {
  unshare -pf true 2>/dev/null || skip "needs root to create namespaces"
  start
  unshare -pf --mount-proc java -agentpath:"$agent"=tprof -cp "$classes" Replace 60 >out &
  outer=$!
  until [ -n "${inside:=$(pgrep -P $outer)}" ]; do sleep 0.05; done
  wait $outer
  finish
  same_as_log "$inside" _1
}

# bats test_tags=lab:long
@test "JProf works without a trace, and when one starts and ends" {
  java -agentpath:"$agent"=tprof,nopidx -cp "$classes" Replace 100000 >out &
  pid=$!
  until grep -q 'round 50$' out; do sleep 0.1; done
  start
  sleep 1
  finish
  kill $pid
  wait $pid || true
  "$SOURCE_DIR"/tests/support/check-jit-log log-jita2n log-jtnm >found
  cat found
  hooks 41 | awk '{ print $1 }' | sort | uniq -c
  [ "$(awk '$1 == "intervals" { print $2 }' found)" -ge 1 ]
  [ "$(hooks 41 | wc -l)" -gt 0 ]
}

@test "ptt names the threads of a JVM from its log" {
  [ "$PROOF_SOURCE" = driver ] || skip "needs the module"
  ptt init -- java -agentpath:"$agent"=threadinfo -cp "$classes" Replace 20 >out
  ptt dump -jtnm --json >dump.json
  gawk '$1 == "TNM:" && $NF == "START" { name[strtonum("0x" $3)] = $4 } END { for (tid in name) print tid, name[tid] }' log-jtnm_* |
    sort >named
  grep -q ' Reference_Handler$' named
  [ "$(wc -l <named)" -gt 5 ]
  jq -r '.threads[] | "\(.tid) \(.name)"' dump.json | sort | comm -12 - named >reported
  diff named reported
}
