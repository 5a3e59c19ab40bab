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

# shares LOG OUT POINTS: the samples below each method of the program (Sampled) are those of its own clock, within POINTS of a hundred.
shares() {
  python3 - "$@" <<'END'
import json, sys
log = json.load(open(sys.argv[1]))
took = {name: int(ns) for name, ns in (line.split() for line in open(sys.argv[2]) if line[0] in "htfd")}
points = float(sys.argv[3])
found = dict.fromkeys(took, 0)
for thread in log["threads"]:
    inside = None
    for node in thread["nodes"]:
        if inside and node["level"] <= inside[1]:
            inside = None
        name = node.get("name", "")
        if not inside and name.startswith("Sampled.") and name[8:].split("(")[0] in took:
            inside = (name[8:].split("(")[0], node["level"])
        if inside:
            found[inside[0]] += node["base"][0]
samples, time = sum(found.values()), sum(took.values())
for name in took:
    own, seen = 100 * took[name] / time, 100 * found[name] / samples
    print(f"{name}: {seen:.2f} %, by its own clock {own:.2f} %")
    assert abs(own - seen) < points, name
print(samples, "samples,", time, "ns")
END
}

# value LOG KEY: the number of samples in the line ' KEY :: N'.
value() {
  awk -v key="$2" '$1 == key && $2 == "::" { print $3 }' "$1"
}

@test "samples have the shares of the program's own clock, as many as its processor time; as text, JSON and folded stacks" {
  java -Xcheck:jni -agentpath:"$agent=scs,start,scs_rate=1000,nopidx,json,folded" -cp "$classes" Sampled 1000 2 >out 2>err || { cat out err; return 1; }
  [ ! -s err ]
  [ "$(wc -l <out)" -eq 4 ]
  shares log-rt.1.json out 6
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
  local end status
  for end in return exit halt; do
    status=0
    timeout 120 java -Xmx64m -agentpath:"$agent=scs,start,scs_rate=1000,nopidx,json" -cp "$classes" Churn 600 "$end" >out 2>err || status=$?
    cat err
    [ ! -s err ]
    grep -qx churned out
    case $end in return) [ "$status" -eq 0 ] ;; exit) [ "$status" -eq 3 ] ;; halt) [ "$status" -eq 4 ] ;; esac
    grep -qE '_short-lived$' log-rt.1
    grep -qE 'M:Churn.down\(I\)J$' log-rt.1
    # Each has its own tree, since the kernel's ids are not enough.
    jq -e '[.threads[] | select(.name | endswith("_short-lived"))] | length > 3' log-rt.1.json
    jq -e '.lost | [.[]] | add == 0' log-rt.1.json
    rm log-rt.1*
  done
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
  sleep 0.5
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
  sleep 0.3
  exec {input}>&-
  wait "$pid"
  pid=
  [ ! -s err ]
  (($(sampled 4) > 50))
}

@test "wrong options of call-stack sampling stop the JVM" {
  local words
  for words in scs,calltree,start scs,jlm scs,noserver scs_rate=0 scs_rate=1001 scs_frames=x scs_walk=native scs,scs_a2n; do
    run java -agentpath:"$agent=$words" -version
    [ "$status" -ne 0 ]
    [[ $output == *"JProf: wrong options: the JVM is stopped"* ]]
  done
  [[ $output == *"SCS samples the methods of Java only"* ]]
}

# bats test_tags=long
@test "shares within two points of 10,000 samples" {
  java -agentpath:"$agent=scs,start,scs_rate=200,nopidx,json" -cp "$classes" Sampled 25000 2 >out
  shares log-rt.1.json out 2
  [ "$(jq '[.threads[].nodes[].base[0]] | add' log-rt.1.json)" -ge 10000 ]
}

# bats test_tags=long
@test "a minute of threads and classes that end, with each collector" {
  local options
  for options in '-XX:+UseSerialGC' '-XX:+UseParallelGC' '-XX:+UseG1GC' '-XX:+UseZGC' '-Xint' '-XX:TieredStopAtLevel=1'; do
    # shellcheck disable=SC2086 # several words
    java $options -Xmx256m -agentpath:"$agent=scs,start,scs_rate=1000,nopidx,json" -cp "$classes" Churn 10000 return >out 2>err || { cat out err; return 1; }
    [ ! -s err ]
    grep -E '^ (Walked|Not walked|Lost)' log-rt.1
    (($(awk '/^ Walked ::/ { print $3 }' log-rt.1) > 1000))
  done
}
