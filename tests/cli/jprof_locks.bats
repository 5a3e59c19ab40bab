#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# JLM and JLML of JProf in real Java virtual machines: gets of monitors are counted exactly, hold times are those of the program's
# own clock, and the program stays as it is.

bats_require_minimum_version 1.5.0

# shellcheck source=tests/support/page_data.bash
source "$SOURCE_DIR/tests/support/page_data.bash"

setup() {
  PATH="$BUILD_DIR/bin:$PATH"
  agent=$BUILD_DIR/lib/libjprof.so
  classes=$BUILD_DIR/tests/java
  if ! command -v java >/dev/null || [ ! -e "$agent" ]; then skip "needs a JDK"; fi
  ! readelf -d "$agent" | grep -qE 'NEEDED.*lib(a|t|ub)san' || skip "needs a build without sanitizers"
  [ -s "$BUILD_DIR/jprof/java/transformer.pack" ] || skip "needs libasm-java"
  cd "$BATS_TEST_TMPDIR" || return
  export PITRACE_JVMS=$PWD/jvms
  unset JPROFOPTS jprofopts JAVA_TOOL_OPTIONS _JAVA_OPTIONS
  pid=
}

teardown() {
  [ -z "$pid" ] || kill -9 "$pid" 2>/dev/null || true
}

# sums LOG: CLASS NONREC REC SLOW HOLD of the program's classes of monitors. HOLD is 0 without times.
sums() {
  awk '$NF !~ /^Locks.*@/ { next }
    { name = $NF; sub(/@.*/, "", name); gets[name] += $3; slow[name] += $4; rec[name] += $5
      hold[name] += NF > 8 ? $9 * $3 : 0
      if ($2 != $3 + $5) print "GETS", $0 }
    END { for (name in gets) printf "%s %d %d %d %d\n", name, gets[name], rec[name], slow[name], hold[name] }' "$1" | LC_ALL=C sort
}

# counted OUT LOG: the report has what the program printed.
counted() {
  local name nonrecursive recursive
  sums "$2" >found
  while read -r name nonrecursive recursive; do
    grep -q "^$name $nonrecursive $recursive " found || {
      echo "$name: expected $nonrecursive $recursive, found: $(grep -F "$name " found)"
      return 1
    }
  done < <(grep '^Locks' "$1")
}

# value FILE NAME COLUMN: of the line whose field before COLUMN, or first field, is NAME.
value() {
  awk -v name="$2" -v column="$3" '$1 == name || $2 == name { print $column }' "$1"
}

@test "gets, recursions, blocked gets and hold times are those of the program; -Xcheck:jni and the verifier find nothing" {
  local own held gc attempt
  # Hold times: 5 %. Waits are not part of them. A thread that is preempted between the program's reading of the clock and the probe's
  # is off by more, so three runs have a chance.
  for attempt in 1 2 3; do
    rm -f log-jlm.1*
    java -Xcheck:jni -XX:+UnlockDiagnosticVMOptions -XX:+BytecodeVerificationLocal -XX:+BytecodeVerificationRemote \
      -agentpath:"$agent=jlm,nopidx,json" -cp "$classes" Locks 20000 >out 2>err || { cat out err; return 1; }
    cat out
    [ ! -s err ]
    # Warnings of -Xcheck:jni would be among the output.
    [ "$(grep -cv '^Locks\|^slow\|^held\|^collected' out)" -eq 0 ]
    [ "$(grep -c '^Locks' out)" -eq 9 ]
    counted out log-jlm.1
    [ "$(value found 'Locks$Contended' 4)" -eq "$(value out 'Locks$Contended' 3 | tail -n 1)" ]
    own=$(value out 'Locks$Timed' 3 | head -n 1) held=$(value found 'Locks$Timed' 5)
    if ((held > own * 95 / 100 && held < own * 105 / 100)); then break; fi
    echo "held $held, by the program's clock $own"
    ((attempt < 3))
  done
  # Garbage collections are in the program's measurement only. Some were before.
  own=$(value out 'Locks$Collected' 3) held=$(value found 'Locks$Collected' 5)
  gc=$(awk '/^ Garbage collection ::/ { print $4 }' log-jlm.1)
  ((held < own && held * 105 / 100 > own - gc && gc > 0)) || { echo "held $held of $own, GC $gc"; return 1; }
  ((held < own - gc / 2)) || { echo "held $held of $own, GC $gc: not taken out"; return 1; }
  grep -q 'System (Registered) Monitors' log-jlm.1
  grep -q 'not available on this JVM' log-jlm.1
  grep -q 'java.util.concurrent' log-jlm.1
  # JSON has the same monitors.
  python3 - <<'END'
import json
report = json.load(open("log-jlm.1.json"))
sums = {}
for row in report["monitors"]:
    assert row["gets"] == row["nonrec"] + row["rec"]
    sums[row["class"]] = sums.get(row["class"], 0) + row["nonrec"]
for line in open("found"):
    name, nonrec = line.split()[:2]
    assert sums[name] == int(nonrec), line
END
  # And the HTML page those of the text, whose numbers are rounded.
  page_of log-jlm.1.json
  page_rows data.json 0 | awk '{ printf "%.2f %d %d %d %d %.2f %.0f %s\n", $3, $4, $5, $6, $7, $8, $9, $2 }' >in-page
  awk '$6 == "-" && $7 == "-" { printf "%s %s %s %s %s %s %s %s\n", $1, $2, $3, $4, $5, $8, $9, $10 }' log-jlm.1 >in-text
  [ "$(wc -l <in-text)" -gt 5 ]
  cmp in-text in-page
}

@test "classes defined without a name, full methods and a small heap: counted, or said to be not counted" {
  java -Xmx8m -XX:+UseSerialGC -agentpath:"$agent=jlm,nopidx" -cp "$classes" LockFiles "$classes" >out 2>err || { cat out err; return 1; }
  [ ! -s err ]
  has_gets() { awk -v name="$1" '$NF ~ "^" name "@" { sum += $2 } END { print sum + 0 }' log-jlm.1; }
  [ "$(has_gets LockUsual.class)" -eq "$(value out LockUsual.class 3)" ]
  [ "$(has_gets LockInitialiser.class)" -eq 0 ]
  [ "$(has_gets java.lang.StringBuffer)" -eq "$(value out java.lang.StringBuffer 3)" ]
  grep -qF 'LockVariables.run(I)I: its variables or its stack are too large for probes' log-jlm.1
  grep -qF 'LockPlaces.run(I)I: too large for probes' log-jlm.1
}

@test "rtdriver starts, stops, resets and writes reports; JLML has no hold times" {
  mkfifo in
  java -XX:TieredStopAtLevel=1 -agentpath:"$agent=jlml,nostart,nopidx" -cp "$classes" Locks commands <in >out 2>err &
  pid=$!
  exec {input}>in
  wait_for() { timeout 60 bash -c 'until grep -qx "$1" out; do sleep 0.05; done' - "$1"; }
  gets() { sums "log-jlm.$1" | awk '$1 == "Locks$Shared" { print $2 }'; }
  wait_for ready
  echo 5 >&"$input"
  wait_for 'done 5'
  run ! rtdriver --pid "$pid" -c jlmdump
  [[ $output == *"nothing is counted"* ]]
  rtdriver --pid "$pid" -c jlmlite
  echo 100 >&"$input"
  wait_for 'done 105'
  rtdriver --pid "$pid" -c jd
  [ "$(gets 1)" -eq 100 ]
  run ! grep -q AVER_HTM log-jlm.1
  echo 10 >&"$input"
  wait_for 'done 115'
  rtdriver --pid "$pid" -c jdr
  [ "$(gets 2)" -eq 110 ]
  echo 7 >&"$input"
  wait_for 'done 122'
  rtdriver --pid "$pid" -c jlmstop
  echo 1000 >&"$input"
  wait_for 'done 1122'
  rtdriver --pid "$pid" -c jlmdump
  [ "$(gets 3)" -eq 7 ]
  grep -q 'Ended ::' log-jlm.3
  rtdriver --pid "$pid" -c jlm
  echo 20 >&"$input"
  wait_for 'done 1142'
  run rtdriver --pid "$pid" -c jprofinfo -c 'gc jlmdump'
  [ "$status" -eq 0 ]
  [[ $output == *"monitors: counted, with hold times"* ]]
  [ "$(gets 4)" -eq 20 ]
  grep -q AVER_HTM log-jlm.4
  run rtdriver --pid "$pid" -c flush
  [ "$status" -eq 1 ]
  [[ $output == *"this JVM counts monitors"* ]]
  # The example of the manual.
  example=$(sed -n 's/^\.Dl \$ \(.* jlm .*\)/\1/p' "$SOURCE_DIR/docs/man/rtdriver.1")
  [ "$example" = 'rtdriver -l -c jlm -c jd 10 -c jlmstop' ]
  bash -euc "${example/ 10/}"
  [ -e log-jlm.5 ]
  # When the JVM ends, the last report is written.
  rtdriver --pid "$pid" -c jlm
  echo 30 >&"$input"
  exec {input}>&-
  wait "$pid"
  pid=
  [ ! -s err ]
  [ "$(gets 6)" -eq 30 ]
}

# bats test_tags=long
@test "virtual threads are counted as others" {
  java -version 2>&1 | grep -qE 'version "(2[1-9]|[3-9][0-9])' || skip "needs JDK 21"
  java -Dvirtual=true -agentpath:"$agent=jlm,nopidx" -cp "$classes" Locks 20000 >out 2>err || { cat out err; return 1; }
  counted out log-jlm.1
  [ "$(value found 'Locks$Contended' 4)" -eq "$(value out 'Locks$Contended' 3 | tail -n 1)" ]
}

# bats test_tags=long
@test "starts, stops, resets and reports while many threads enter monitors: the program stays as it is" {
  java -agentpath:"$agent=jlm,nopidx" -cp "$classes" Locks 2000000 >out 2>err &
  pid=$!
  local done=0
  while kill -0 "$pid" 2>/dev/null; do
    # It fails while the JVM starts or ends.
    if rtdriver --pid "$pid" -c jlmstop -c jlmlite -c jd -c jreset -c jlm -c 'gc jd' >>answers 2>&1; then
      done=$((done + 1))
    else
      sleep 0.1
    fi
  done
  # The program checks what its monitors protect.
  wait "$pid"
  pid=
  [ ! -s err ]
  ! grep -q '^wrong' out || { cat out; return 1; }
  [ "$(grep -c '^Locks' out)" -eq 9 ]
  echo "$done rounds"
  [ "$done" -ge 10 ]
}

# bats test_tags=long
@test "ten million gets at random and more objects than are listed, with each kind of compiler and collector" {
  local options
  for options in '' '-Xint' '-XX:TieredStopAtLevel=1' '-XX:-TieredCompilation' '-XX:+UseSerialGC' '-XX:+UseParallelGC' '-XX:+UseZGC'; do
    local steps=10000000
    [ "$options" != -Xint ] || steps=300000
    for kind in jlm jlml; do
      # shellcheck disable=SC2086 # no option is no word
      java $options -Xmx512m -agentpath:"$agent=$kind,nopidx" -cp "$classes" Locks 20000 400000 $steps >out 2>err || { cat out err; return 1; }
      [ ! -s err ]
      counted out log-jlm.1
      [ "$(grep -c '^Locks' out)" -eq 11 ]
    done
  done
}
