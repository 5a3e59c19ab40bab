#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# SCS of JProf in real Java virtual machines: samples have the shares of the program's own clock, and the program stays as it is.

bats_require_minimum_version 1.5.0

setup() {
  PATH="$BUILD_DIR/bin:$PATH"
  agent=$BUILD_DIR/lib/libjprof.so
  classes=$BUILD_DIR/tests/java
  if ! command -v java >/dev/null || [ ! -e "$agent" ]; then skip "needs a JDK"; fi
  ! readelf -d "$agent" | grep -qE 'NEEDED.*lib(a|t|ub)san' || skip "needs a build without sanitizers"
  cd "$BATS_TEST_TMPDIR" || return
  export PITRACE_JVMS=$PWD/jvms
  unset JPROFOPTS jprofopts JAVA_TOOL_OPTIONS _JAVA_OPTIONS
  pid=
}

teardown() {
  [ -z "$pid" ] || kill -9 "$pid" 2>/dev/null || true
}

# shares LOG OUT RATE [POINTS]: the samples below each method of Sampled, or function of Natives, are those of its own clock, within five standard
# deviations of the number of signals, and within POINTS of a hundred. A signal finds each method with a probability of its share, nearly
# independently of the one before, because a slice of a method is not longer than a tick of the kernel; so a share p of n signals deviates by
# sqrt(p * (1 - p) / n). There are at most RATE of them in a second, and not more than ticks, of which each takes the resolution of a coarse
# clock. Five deviations are exceeded once in more than a million shares, and leave something for ticks that a busy machine loses.
shares() {
  python3 - "$@" <<'END'
import json, math, sys, time
log = json.load(open(sys.argv[1]))
took = {name: int(ns) for name, ns in (line.split() for line in open(sys.argv[2]) if line.strip() != "done")}
monotonic_coarse = 6
period = max(1 / float(sys.argv[3]), time.clock_getres(monotonic_coarse))
most = float(sys.argv[4]) if len(sys.argv) > 4 else 100
found = dict.fromkeys(took, 0)
for thread in log["threads"]:
    inside = None
    for node in thread["nodes"]:
        if inside and node["level"] <= inside[1]:
            inside = None
        name = node.get("name", "").removeprefix("Sampled.").split("(")[0].removesuffix("-@-libnatives.so")
        if not inside and name in took:
            inside = (name, node["level"])
        if inside:
            found[inside[0]] += node["base"][0]
samples, taken = sum(found.values()), sum(took.values())
signals = taken / 1e9 / period
for name in took:
    own, seen = took[name] / taken, found[name] / samples
    limit = min(most, 500 * math.sqrt(own * (1 - own) / signals))
    print(f"{name}: {100 * seen:.2f} %, by its own clock {100 * own:.2f} %, limit {limit:.2f} points")
    assert abs(100 * own - 100 * seen) < limit, name
print(samples, "samples,", taken, "ns")
END
}

# Where inlined code of one method ends is known to the JVM only by the instruction: in one of twenty runs a third of one method's samples
# were another's that is inlined beside it.
exact=(-XX:CompileCommand=quiet '-XX:CompileCommand=dontinline,Sampled.*')

# value LOG KEY: the number of samples in the line ' KEY :: N'.
value() {
  awk -v key="$2" '$1 == key && $2 == "::" { print $3 }' "$1"
}

@test "samples have the shares of the program's own clock, as many as its processor time; as text, JSON and folded stacks" {
  java -Xcheck:jni "${exact[@]}" -agentpath:"$agent=scs,start,scs_rate=1000,nopidx,json,folded" -cp "$classes" Sampled 1000 2 >out 2>err || { cat out err; return 1; }
  [ ! -s err ]
  [ "$(wc -l <out)" -eq 4 ]
  # Some five hundred signals where the kernel has 250 ticks a second; the test of 10,000 is among the long ones.
  shares log-rt.1.json out 1000
  # A sample for each millisecond, also where the kernel's clock is slower. The rest of the JVM's start is sampled, too.
  local samples ms
  samples=$(awk '$1 ~ /^[0-9]+$/ { n += $2 } END { print n }' log-rt.1)
  ms=$(awk '{ n += $2 } END { printf "%d", n / 1e6 }' out)
  ((samples > ms * 95 / 100 && samples < ms * 125 / 100 + 300))
  # What could not be walked is in the head, by reason, and all samples are walked or not.
  local unwalked
  unwalked=$(awk '/^ Not walked ::/ { n += $4 } END { print n + 0 }' log-rt.1)
  [ $(($(awk '/^ Walked ::/ { print $3 }' log-rt.1) + unwalked)) -eq "$samples" ]
  ((unwalked * 10 < samples))
  [ "$(awk '$1 == 0 { n += $2 } END { print n + 0 }' log-rt.1)" -eq "$unwalked" ]
  # The columns are those of samples.
  grep -qE '^  LV     SAMPLES  NAME$' log-rt.1
  run ! grep -qE 'CALLS|CEE' log-rt.1
  grep -qE '^ +0 +[0-9]+  [0-9A-F]{8}_sampled-1$' log-rt.1
  grep -qE '^ +[0-9]+ +[0-9]+  M:Sampled.half\(J\)V$' log-rt.1
  # Deep stacks are cut where SCS_FRAMES says, and the other formats have the same sums.
  grep -qE '^ +1 +0  M:\[callers-beyond-SCS_FRAMES\]$' log-rt.1
  [ "$(awk '$1 ~ /^[0-9]+$/ && $1 > n { n = $1 } END { print n }' log-rt.1)" -eq 2049 ]
  [ "$(jq '[.threads[].nodes[].base[0]] | add' log-rt.1.json)" -eq "$samples" ]
  [ "$(jq '.sampling.walked + ([.sampling.unwalked[].samples] | add // 0)' log-rt.1.json)" -eq "$samples" ]
  [ "$(awk '{ n += $NF } END { print n }' log-rt.1.folded)" -eq "$samples" ]
  grep -qE '_sampled-0;.*Sampled.work\(IJ\)V;Sampled.half\(J\)V;Sampled.spin\(\)V [0-9]+$' log-rt.1.folded
  logrt log-rt.1.json | grep -qE '^.* Sampled\.half\(J\)V$'
  # No thread of the agent is sampled.
  run ! grep -q '_JProf' log-rt.1
}

@test "at safepoints: the log says that it is biased; a stack of few frames" {
  java -agentpath:"$agent=scs,start,scs_walk=safepoint,scs_rate=100,scs_frames=3,nopidx,json" -cp "$classes" Sampled 500 2 >out 2>err || { cat out err; return 1; }
  [ ! -s err ]
  grep -q '^ Sampled :: 100 in each second .* at the next safepoint .* biased' log-rt.1
  [ "$(awk '$1 ~ /^[0-9]+$/ && $1 > n { n = $1 } END { print n }' log-rt.1)" -eq 4 ]
  # The program took some 1,050 ms.
  local samples
  samples=$(jq '[.threads[].nodes[].base[0]] | add' log-rt.1.json)
  ((samples > 60 && samples < 200))
}

@test "threads that end, classes that are unloaded, garbage collection and every end of a JVM" {
  local end status trees=0
  for end in return exit halt; do
    status=0
    timeout 120 java -Xmx64m -agentpath:"$agent=scs,start,scs_rate=1000,nopidx,json" -cp "$classes" Churn 90 "$end" >out 2>err || status=$?
    cat err
    [ ! -s err ]
    grep -qx churned out
    case $end in return) [ "$status" -eq 0 ] ;; exit) [ "$status" -eq 3 ] ;; halt) [ "$status" -eq 4 ] ;; esac
    grep -qE '_short-lived$' log-rt.1
    grep -qE 'M:Churn.down\(I\)J$' log-rt.1
    ((trees += $(jq '[.threads[] | select(.name | endswith("_short-lived"))] | length' log-rt.1.json)))
    jq -e '.lost | [.[]] | add == 0' log-rt.1.json
    rm log-rt.1*
  done
  # Each thread has its own tree, since the kernel's ids are not enough. On a busy machine few of them run for a sample's time.
  ((trees >= 5))
}

# works N: waits until the JVM has used the processor for N hundredths of a second.
works() {
  timeout 120 awk -v more="$1" -v file="/proc/$pid/stat" 'BEGIN {
    while ((getline line <file) > 0) {
      close(file)
      split(line, words, " ")
      time = words[14] + words[15]
      if (!begin) begin = time
      if (time - begin >= more) exit
      system("sleep 0.05")
    }
    exit 1 }'
}

@test "rtdriver starts, stops, resets and writes samples" {
  mkfifo in
  java -agentpath:"$agent=scs,scs_rate=1000,nopidx" -cp "$classes" Steady <in >out 2>err &
  pid=$!
  exec {input}>in
  timeout 60 bash -c 'until grep -q ^ready out; do sleep 0.05; done'
  run ! rtdriver --pid "$pid" -c flush
  [[ $output == *"nothing is sampled"* ]]
  run rtdriver --pid "$pid" -c start -c jprofinfo
  [[ $output == *"stacks: sampled"* ]]
  # Threads that ran already are sampled, and their names known.
  sampled() { awk '$1 ~ /^[0-9]+$/ { n += $2 } END { print n + 0 }' "log-rt.$1"; }
  works 30
  rtdriver --pid "$pid" -c flush -c flush
  grep -qE '_worker_one_of_two$|_worker_.one._of_two$' log-rt.1
  (($(sampled 1) > 100 && $(sampled 2) >= $(sampled 1)))
  rtdriver --pid "$pid" -c reset -c stop
  (($(sampled 3) < $(sampled 2)))
  [ -e log-rt.3 ]
  run ! rtdriver --pid "$pid" -c stop
  run ! rtdriver --pid "$pid" -c jlmdump
  [[ $output == *"this JVM samples stacks"* ]]
  rtdriver --pid "$pid" -c start
  works 15
  exec {input}>&-
  wait "$pid"
  pid=
  [ ! -s err ]
  (($(sampled 4) > 50))
}

# occurs EVENT TIMES JAVA-OPTION...: samples of the program (Occurs) by an event, in log-rt.1.
occurs() {
  rm -f log-rt.1*
  java "${@:3}" -agentpath:"$agent=scs=$1,start,nopidx,json,folded" -cp "$classes" Occurs "$2" >out 2>err || { cat out err; return 1; }
  [ ! -s err ]
  grep -qx occurred out
}

# below METHOD COLUMN: the sum of the column, from 1, in the lines of the method and below it, for a method of Occurs.
below() {
  awk -v name=":Occurs.$1(" -v column="$2" '$1 !~ /^[0-9]+$/ { next }
    inside && $1 <= level { inside = 0 }
    !inside && index($NF, name) { inside = 1; level = $1 + 0 }
    inside { sum += $(column + 1) } END { print sum + 0 }' log-rt.1
}

# own METHOD COLUMN: the sum of the column, from 1, in the lines of a method of Occurs.
own() {
  awk -v name=":Occurs.$1(" -v column="$2" '$1 ~ /^[0-9]+$/ && index($NF, name) { sum += $(column + 1) } END { print sum + 0 }' log-rt.1
}

@test "by events: allocations, bytes, waits, blocked gets and loaded classes are counted exactly where they occur" {
  local options
  for options in -Xint -XX:+UseSerialGC; do
    occurs allocations=1:1 2000 "$options"
    grep -qE '^  LV +AO +AB  NAME$' log-rt.1
    [ "$(own arrays 1) $(own arrays 2)" = "2000 $((2000 * 1016))" ]
    # The JVM itself may allocate a few objects below.
    [ "$(own objects 1) $(own objects 2)" = "38000 $((38000 * 32))" ]
    [ "$(own tables 1) $(own tables 2)" = "2000 $((2000 * 408))" ]
    [ "$(jq '[.threads[].nodes[].base[0]] | add' log-rt.1.json)" -eq "$(awk '$1 ~ /^[0-9]+$/ { n += $2 } END { print n }' log-rt.1)" ]
  done
  occurs allocated_bytes+ 1000
  [ "$(below arrays 1)" -eq $((1000 * 1016)) ]
  grep -qE '^ +[0-9]+ +1016000  M:\(\[B\)$' log-rt.1
  occurs allocations=100:10000 1000
  grep -qE '^  LV +AO_SAMPLES +AB_SAMPLES  NAME$' log-rt.1
  (($(below objects 1) >= 189 && $(below objects 1) <= 191 && $(below arrays 2) >= 80 && $(below arrays 2) <= 122))
  occurs monitor_wait 100
  [ "$(below waits 1)" -eq 20 ]
  occurs monitor_waited=5 100
  grep -qE '^  LV EVENT_SAMPLES  NAME$' log-rt.1
  (($(below waits 1) >= 3 && $(below waits 1) <= 4))
  for event in monitor_contended_enter monitor_contended_entered; do
    occurs "$event+" 100
    [ "$(below blocked 1)" -eq 7 ]
    [ "$(grep -cE '^ +[0-9]+ +1  M:\(Occurs[$]Lock\)$' log-rt.1)" -eq 7 ]
  done
  occurs class_load+ 100
  [ "$(below loads 1)" -ge 9 ]
  grep -qE '^ +[0-9]+ +9  M:\(Occurs\)$' log-rt.1
}

@test "by allocated bytes: 10,000 samples have the known shares within two points" {
  local all kind
  occurs allocated_bytes=10000 50000 -Xmx200m
  all=$(($(below arrays 1) + $(below objects 1) + $(below tables 1)))
  ((all >= 9500 && all <= 10900))
  for kind in 'arrays 5000' 'objects 2992' 'tables 2008'; do
    read -r name share <<<"$kind"
    echo "$name $(below "$name" 1) of $all, expected $share of 10000"
    ((10000 * $(below "$name" 1) / all > share - 200 && 10000 * $(below "$name" 1) / all < share + 200))
  done
}

@test "OBJECTINFO: the objects and bytes of each method in the tree of calls are exact, interpreted and compiled" {
  [ -s "$BUILD_DIR/jprof/java/transformer.pack" ] || skip "needs libasm-java"
  local options more
  for options in -Xint -XX:+UseSerialGC; do
    rm -f log-*
    java "$options" -agentpath:"$agent=calltree,objectinfo,start,nopidx" -cp "$classes" Occurs 1000 >out 2>err || { cat out err; return 1; }
    [ ! -s err ]
    grep -qE '^  LV +CALLS +CEE +AO +AB  NAME$' log-rt.1
    [ "$(own arrays 1) $(own arrays 3) $(own arrays 4)" = "10 1000 $((1000 * 1016))" ]
    [ "$(own tables 3) $(own tables 4)" = "1000 $((1000 * 408))" ]
    # The JVM itself may allocate a few objects while it compiles.
    more=$(($(own objects 3) - 19000))
    ((more >= 0 && more <= 10))
    [[ $more -eq 0 || $options != -Xint ]]
    ((($(own objects 4) - 19000 * 32) <= more * 64))
    [ "$(own '<init>' 3)" -eq 0 ]
    run ! grep -q '^ Calibration ::' log-rt.1
  done
}

# in_use METHOD: the sums of AO, AB, LO and LB in the lines of a method of InUse, in the log with this number.
in_use() {
  awk -v name=":InUse.$2(" '$1 ~ /^[0-9]+$/ && index($NF, name) { for (i = 4; i < 8; ++i) sum[i] += $i }
    END { print sum[4] + 0, sum[5] + 0, sum[6] + 0, sum[7] + 0 }' "log-rt.$1"
}

# counts_in_use JAVA-OPTION...: every number of objects of InUse, in a log while it runs, after a reset, and at its end.
counts_in_use() {
  rm -f log-* in
  mkfifo in
  java "$@" -agentpath:"$agent=calltree,liveobjects,start,nopidx,json" -cp "$classes" InUse 1000 <in >out 2>err &
  pid=$!
  exec {input}>in
  timeout 60 bash -c 'until grep -q ^waits out; do sleep 0.05; done'
  rtdriver --pid "$pid" -c flush
  echo >&"$input"
  timeout 60 bash -c 'until [ "$(grep -c ^waits out)" -eq 2 ]; do sleep 0.05; done'
  rtdriver --pid "$pid" -c flush -c reset -c flush
  echo >&"$input"
  exec {input}>&-
  # While it ends, some collectors run no more; a JVM that waits for them would never end.
  timeout 60 bash -c 'while kill -0 "$0" 2>/dev/null; do sleep 0.05; done' "$pid"
  wait "$pid"
  pid=
  [ ! -s err ]
  grep -qE '^  LV +CALLS +CEE +AO +AB +LO +LB  NAME$' log-rt.1
  # 250 of the 1000 were replaced by those of the other path.
  [ "$(in_use 1 keeps)" = "1250 $((1250 * 1016)) 1000 $((1000 * 1016))" ]
  grep -qE '^ +[0-9]+ +1 +0 +250 +254000 +250 +254000  [A-Za-z]:InUse.keeps\(I\)V$' log-rt.1
  [ "$(in_use 1 halves)" = "1000 $((1000 * 96)) 500 $((500 * 96))" ]
  [ "$(in_use 1 wastes)" = "1000 $((1000 * 16)) 0 0" ]
  [ "$(in_use 1 keepsForOthers)" = "1000 $((1000 * 416)) 1000 $((1000 * 416))" ]
  [ "$(in_use 2 keeps)" = "1250 $((1250 * 1016)) 0 0" ]
  [ "$(in_use 2 halves)" = "1000 $((1000 * 96)) 500 $((500 * 96))" ]
  [ "$(in_use 3 halves)" = "0 0 0 0" ]
  [ "$(jq '[.threads[].nodes[].base[2]] | add' log-rt.1.json)" -eq "$(awk '$1 ~ /^[0-9]+$/ { n += $6 } END { print n }' log-rt.1)" ]
  [ "$(jq -r '[.metrics[].name] | join(" ")' log-rt.1.json)" = "AO AB LO LB" ]
  [ "$(in_use 4 fills)" = "500 $((500 * 56)) 500 $((500 * 56))" ]
  [ "$(in_use 4 halves)" = "0 0 0 0" ]
}

@test "LIVEOBJECTS: the objects and bytes that are in use, by the path that allocated them, are exact" {
  [ -s "$BUILD_DIR/jprof/java/transformer.pack" ] || skip "needs libasm-java"
  counts_in_use -XX:+UseSerialGC
}

# bats test_tags=long
@test "LIVEOBJECTS: a JVM ends whatever a command does, also if its collector ends before the garbage is collected" {
  [ -s "$BUILD_DIR/jprof/java/transformer.pack" ] || skip "needs libasm-java"
  local round commands
  for round in {10..29}; do
    rm -f log-* in out
    mkfifo in
    java -XX:+UseZGC -agentpath:"$agent=calltree,liveobjects,start,nopidx" -cp "$classes" InUse 1000 <in >out 2>err &
    pid=$!
    exec {input}>in
    timeout 60 bash -c 'until grep -qs ^waits out; do sleep 0.05; done'
    rtdriver --pid "$pid" -c flush -c flush -c flush -c flush -c flush -c flush >/dev/null 2>&1 &
    commands=$!
    sleep "0.$round"
    kill "$pid"
    timeout 60 bash -c 'while kill -0 "$0" 2>/dev/null; do sleep 0.05; done' "$pid"
    exec {input}>&-
    wait "$pid" || true
    wait "$commands" || true
    pid=
  done
}

# bats test_tags=long
@test "LIVEOBJECTS with each collector" {
  [ -s "$BUILD_DIR/jprof/java/transformer.pack" ] || skip "needs libasm-java"
  local collector
  counts_in_use -Xint
  for collector in Serial Parallel G1 Z Shenandoah; do
    java "-XX:+Use${collector}GC" -version || continue
    counts_in_use -XX:+Use${collector}GC
  done
}

# natives OPTIONS ARGUMENT...: the program (Natives) with native functions, in log-rt.1.
natives() {
  java --enable-native-access=ALL-UNNAMED -Xcheck:jni "-agentpath:$agent=scs,scs_a2n,start,scs_rate=1000,nopidx,json,folded$1" -cp "$classes" Natives "${@:2}" >out 2>err || { cat out err; return 1; }
  [ "$(tail -1 out)" = done ]
}

@test "SCS_A2N: native functions have the shares of the program's own clock, above the native method that called them" {
  natives "" "$classes/libnatives.so" shares 600 2
  [ ! -s err ]
  shares log-rt.1.json out 1000
  grep -qx ' Method types :: M = sampled Java method, U = function of native code' log-rt.1
  grep -q '^ Sampled :: 1000 in each second .*native' log-rt.1
  local method='Natives.shares\(JI\)V;Java_Natives_shares-@-libnatives.so'
  grep -qE "_shares-0;java/lang/Thread.run\(\)V;.*;$method;thirty-@-libnatives.so [0-9]+$" log-rt.1.folded
  grep -qE "$method;seventy-@-libnatives.so [0-9]+$" log-rt.1.folded
  # Nine of ten samples of the method are in these two.
  (($(grep -E "$method;(thirty|seventy)-" log-rt.1.folded | awk '{ n += $NF } END { print n * 10 }') > $(grep -F 'Natives.shares(JI)V' log-rt.1.folded | awk '{ n += $NF } END { print n * 9 }')))
  grep -qE '^ +[0-9]+ +[0-9]+  U:thirty-@-libnatives.so$' log-rt.1
  [ "$(jq -r '[.threads[].nodes[] | select(.name == "thirty-@-libnatives.so").type] | unique[]' log-rt.1.json)" = U ]
  # All samples are in the tree, once.
  [ "$(awk '$1 ~ /^[0-9]+$/ { n += $2 } END { print n }' log-rt.1)" -eq "$(awk '/^ (Walked|Not walked) ::/ { n += $(NF > 4 && $1 == "Not" ? 4 : 3) } END { print n }' log-rt.1)" ]
}

@test "SCS_A2N: libraries without symbols, and an agent without liba2n" {
  mkdir alone
  strip -o libnatives.so "$classes/libnatives.so"
  natives ,scs_frames=5 "$PWD/libnatives.so" shares 300 1
  [ ! -s err ]
  local thirty
  thirty=$(nm "$classes/libnatives.so" | awk '$3 == "thirty" { sub(/^0+/, "", $1); print $1 }')
  grep -qE "^ +6 +[0-9]+  U:\[0x$thirty\]-@-libnatives.so$" log-rt.1
  # A library of that name, but another one.
  cp "$agent" "$classes/libcalls_back.so" alone
  mv alone/libcalls_back.so alone/liba2n.so.0
  agent=$PWD/alone/libjprof.so natives "" "$PWD/libnatives.so" shares 100 1
  [ "$(cat err)" = "JProf: liba2n.so.0 lacks functions: it is of another version: native functions are shown by their addresses." ]
  grep -qE '^ +[0-9]+ +[0-9]+  U:\[0x[0-9a-f]+\]-@-libnatives.so$' log-rt.1
}

@test "SCS_A2N: libraries that are unloaded while samples are taken; no sample gets the name of another library" {
  local times
  for times in '400 1' '1300 300'; do
    natives "" "$classes/libnatives.so" unload "${times% *}" "$classes/libnatives_first.so" "$classes/libnatives_second.so" "${times#* }"
    [ ! -s err ]
    run ! grep -E 'callFirst.*second-@-|callSecond.*first-@-' log-rt.1.folded
    grep -qE 'call(First|Second).*-@-(NoModule|libnatives_(first|second).so) [0-9]+$' log-rt.1.folded
  done
  # Most of the time no library is unloaded.
  local named all
  named=$(grep -E ';take-@-libnatives_(first|second).so;' log-rt.1.folded | awk '{ n += $NF } END { print n + 0 }')
  all=$(grep -E 'Natives.call(First|Second)\(' log-rt.1.folded | awk '{ n += $NF } END { print n + 0 }')
  echo "$named of $all"
  ((all > 100 && named * 2 > all))
}

@test "SCS_A2N: signals in the loader and the allocator, threads that end, and stacks that overflow" {
  natives "" "$classes/libnatives.so" loader 500 "$classes/libnatives_first.so"
  [ ! -s err ]
  grep -qE 'Natives.allocate.*-@-libc.so.6 [0-9]+$' log-rt.1.folded
  natives "" "$classes/libnatives.so" overflow 400
  [ ! -s err ]
  grep -A1 'M:Natives.leaf(J)V$' log-rt.1 | grep -qE 'U:(Java_Natives_leaf|thirty)-@-libnatives.so$'
}

@test "wrong options of call-stack sampling stop the JVM" {
  local words
  for words in scs,calltree,start scs,jlm scs,noserver scs_rate=0 scs_rate=1001 scs_frames=x scs_walk=native scs=allocations scs=allocations=1 scs=allocations=1:0 scs=monitor_wait=x scs=fuel scs=class_load,scs_walk=safepoint objectinfo calltree,calltrace,liveobjects calltree,objectinfo,metrics=raw_cycles scs_a2n scs,scs_a2n,scs_walk=safepoint scs=class_load,scs_a2n; do
    run java -agentpath:"$agent=$words" -version
    [ "$status" -ne 0 ]
    [[ $output == *"JProf: wrong options: the JVM is stopped"* ]]
  done
  [[ $output == *"SCS_A2N needs SCS by time"* ]]
}

# bats test_tags=long
@test "shares within two points of 10,000 samples" {
  java "${exact[@]}" -agentpath:"$agent=scs,start,scs_rate=200,nopidx,json" -cp "$classes" Sampled 25000 2 >out
  shares log-rt.1.json out 200 2
  [ "$(jq '[.threads[].nodes[].base[0]] | add' log-rt.1.json)" -ge 10000 ]
}

# bats test_tags=long
@test "SCS_A2N: shares of native functions within two points of 10,000 samples" {
  java --enable-native-access=ALL-UNNAMED "-agentpath:$agent=scs,scs_a2n,start,scs_rate=200,nopidx,json" -cp "$classes" Natives "$classes/libnatives.so" shares 25500 2 >out
  shares log-rt.1.json out 200 2
  (($(jq '[.threads[].nodes[].base[0]] | add' log-rt.1.json) >= 10000))
}

# churns JAVA-OPTION...: threads, classes and compiled code that come and go, with and without native functions: the JVM stays whole, and
# each sample is in the trees once.
churns() {
  local options in_trees in_head
  for options in "" ,scs_a2n; do
    rm -f log-rt.1*
    echo "$* $options"
    java "$@" -Xmx256m -agentpath:"$agent=scs,start,scs_rate=1000,nopidx,json$options" -cp "$classes" Churn 400 return >out 2>err || { cat out err; return 1; }
    grep -qx churned out
    run ! grep -vE '^(OpenJDK 64-Bit Server VM warning:|CodeCache:| bounds | total_blobs=| *compilation:| *stopped_count=| full_count=)' err
    grep -E '^ (Walked|Not walked|Lost)' log-rt.1
    in_trees=$(awk '$1 ~ /^[0-9]+$/ { n += $2 } END { print n }' log-rt.1)
    in_head=$(jq '.sampling.walked + ([.sampling.unwalked[].samples] | add // 0)' log-rt.1.json)
    ((in_trees == in_head && in_trees == $(jq '[.threads[].nodes[].base[0]] | add' log-rt.1.json)))
    (($(jq .sampling.walked log-rt.1.json) > 300))
    jq -e '.lost | [.[]] | add == 0' log-rt.1.json
  done
}

# bats test_tags=long
@test "hundreds of threads and classes that end, with each collector" {
  local collector
  churns -Xint
  churns -XX:TieredStopAtLevel=1
  # A small code cache, whose methods are thrown out and compiled again.
  churns -XX:ReservedCodeCacheSize=3m
  for collector in Serial Parallel G1 Z Shenandoah; do
    java "-XX:+Use${collector}GC" -version || continue
    churns "-XX:+Use${collector}GC"
  done
}
