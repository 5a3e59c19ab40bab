#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# C that Java calls, with hooks of hookit, in JProf's trees: calls are counted exactly, whichever of both was loaded first.

bats_require_minimum_version 1.5.0

setup() {
  agent=$BUILD_DIR/lib/libjprof.so
  classes=$BUILD_DIR/tests/java
  if ! command -v java >/dev/null || [ ! -e "$agent" ]; then skip "needs a JDK"; fi
  ! readelf -d "$agent" | grep -qE 'NEEDED.*lib(a|t|ub)san' || skip "needs a build without sanitizers"
  [ -s "$BUILD_DIR/jprof/java/transformer.pack" ] || skip "needs libasm-java"
  # shellcheck source=tests/support/call_tree.bash
  source "$SOURCE_DIR/tests/support/call_tree.bash"
  cd "$BATS_TEST_TMPDIR" || return
  unset JPROFOPTS jprofopts JAVA_TOOL_OPTIONS _JAVA_OPTIONS
  export HOOKIT_PROFILING=on
  # What Mixed.measured() calls, by level.
  {
    level=1
    for _ in 3 2 1 0; do
      echo "$level 1 n:Mixed.down(I)I"
      echo "$((level + 1)) 1 F:Java_Mixed_down"
      echo "$((level + 2)) 1 F:calls_back"
      echo "$((level + 3)) 1 i:Mixed.up(I)I"
      level=$((level + 4))
    done
    echo "1 1 n:Mixed.catches(I)I
2 1 F:Java_Mixed_catches
3 4 F:calls_back
4 4 i:Mixed.fails(I)I
5 2 n:Mixed.leaves(I)I
6 2 F:Java_Mixed_leaves
7 2 F:mixed_jni_leaf
1 1 n:Mixed.raises(I)I
2 1 F:Java_Mixed_raises
3 1 F:raise_at
4 1 F:raise_at
5 1 F:raise_at
6 1 F:raise_at
7 1 F:raise_at
8 1 F:raise_at
1 1 I:Mixed.<init>()V
1 1 N:Mixed.object(I)I
2 1 F:Java_Mixed_object
3 2 I:Mixed.method(I)I"
  } >expected
}

# mixed LIBRARY ARGUMENT...: the program Mixed; the options of the agent are in options, those of the JVM in jvm. Since Java 24 the JVM
# warns of native libraries that it was not told of.
jvm=(-Xint) options=''
mixed() {
  java --enable-native-access=ALL-UNNAMED "${jvm[@]}" -agentpath:"$agent=calltree,start,nopidx$options" -cp "$classes" Mixed "$classes/$1" "${@:2}" >out 2>err
}

# below LOG: the methods of the program below Mixed.measured(), with their level there.
below() {
  awk '$1 !~ /^[0-9]+$/ || NF < 4 { next }
    inside && $1 + 0 <= level { exit }
    !inside && $NF ~ /:Mixed\.measured\(/ { inside = 1; level = $1 + 0; next }
    inside && $NF ~ /^(F:|.:Mixed\.)/ { print $1 - level, $2, $NF }' "$1"
}

# sums LOG: the calls of the program's methods and functions.
sums() {
  awk '$1 ~ /^[0-9]+$/ && NF > 3 && $NF ~ /^(F:|.:Mixed\.)/ { sub(/^[A-Za-z]:/, "", $NF); calls[$NF] += $2 }
    END { for (name in calls) print name, calls[name] }' "$1" | LC_ALL=C sort
}

@test "Java calls C, which calls Java, which calls C: one tree, exact calls; exceptions in callbacks and from C" {
  options=,json mixed libmixed_jni.so 1
  [ ! -s err ]
  [ "$(cat out)" = 'measured 31203' ]
  below log-rt.1 | diff expected -
  fits log-rt.1
  [ ! -e log-rt.2 ]
  # hookit loaded before JProf.
  rm log-*
  options=,json LD_PRELOAD=$BUILD_DIR/lib/libhookit.so mixed libmixed_jni.so 1
  [ ! -s err ]
  below log-rt.1 | diff expected -
  [ "$(find . -name 'log-*' | sort | paste -sd ' ')" = './log-rt.1 ./log-rt.1.json ./log-unrecorded.1' ]
}

# bats test_tags=long
@test "without HOOKIT_PROFILING there is no C in the tree; patched functions are in it if they were loaded with the program" {
  HOOKIT_PROFILING=off mixed libmixed_jni.so 1
  [ ! -s err ]
  grep -v ' F:' expected | awk '{ print $2, $3 }' | LC_ALL=C sort >java
  grep ' F:' log-rt.1 && return 1
  below log-rt.1 | awk '{ print $2, $3 }' | LC_ALL=C sort | diff java -
  rm log-*
  options=,json LD_PRELOAD=$BUILD_DIR/lib/libhookit.so:$classes/libmixed_patched.so mixed libmixed_patched.so 1
  [ ! -s err ]
  sed 's/mixed_jni_leaf/mixed_patched_leaf/' expected | diff - <(below log-rt.1)
  fits log-rt.1
  # The compiler's NOPs cannot be replaced while other threads run.
  rm log-*
  mixed libmixed_patched.so 1
  grep -qE '^hookit: [0-9]+ functions of libraries that were loaded while other threads ran are not patched' err
}

# bats test_tags=long
@test "with the JIT, four threads and a metric: calls are exact, and C functions are calibrated as categories of their own" {
  jvm=() options=,json,metrics=raw_cycles
  mixed libmixed_jni.so 200
  [ ! -s err ]
  # 200 times measured(); 4 threads with 100 times down(2).
  awk '/^[0-9]/ { sub(/^.:/, "", $3); calls[$3] += 200 * $2 }
    END { calls["Mixed.down(I)I"] += 1200; calls["Java_Mixed_down"] += 1200; calls["calls_back"] += 1200; calls["Mixed.up(I)I"] += 1200
      calls["Mixed.measured()I"] = 200
      for (name in calls) print name, calls[name] }' expected | LC_ALL=C sort >counted
  sums log-rt.1 | grep -vE '^Mixed[.](main|threads|work|lambda)' | diff counted -
  fits log-rt.1
  [ "$(jq '[.lost[]] | add' log-rt.1.json)" -eq 0 ]
  for i in 0 1 2 3; do
    jq -e --arg name "_mixed-$i" '[.threads[] | select(.name | endswith($name)) | .nodes[] | select(.name == "calls_back") | .calls] | add == 300' log-rt.1.json
  done
  # hookit's trainer has called functions of C, although they are loaded while a recording runs.
  awk '$1 == "RAW_CYCLES" && $2 $3 $4 $5 $6 == "FEnFExF" { found = 1; bad = $NF == "untrained" } END { exit bad || !found }' log-rt.1
}

# bats test_tags=long
@test "functions of unloaded libraries keep their names, also where two libraries had the same address; threads that are no Java threads" {
  mixed libmixed_jni.so plugins "$classes"/libmixed_{first,second}.so
  [ ! -s err ]
  [ "$(sort -u out)" = 'unloaded true' ]
  [ "$(wc -l <out)" -eq 2 ]
  # The main thread calls it seven times, and the thread of C nine times; the names may be those of both.
  for name in mixed_first_leaf mixed_second_leaf; do
    grep -E "F:(mixed_[a-z_]+ or )?$name( |$)" log-rt.1 >rows
    awk -v name="$name" '{ sum += $2 } END { exit sum % 16 != 0 || sum == 0 }' rows
  done
  grep -E ' F:0x' log-rt.1 && return 1
  awk '/F:mixed_.*_leaf/ { sum += $2 } END { exit sum != 32 }' log-rt.1
}

@test "rtdriver starts, stops and resets C with Java; exit() and quick_exit() in C write the log" {
  export PITRACE_JVMS=$BATS_TEST_TMPDIR/jvms PATH=$BUILD_DIR/bin:$PATH
  mkfifo in
  java --enable-native-access=ALL-UNNAMED -Xint -agentpath:"$agent=calltree,nopidx" -cp "$classes" Mixed "$classes/libmixed_jni.so" phases <in >out 2>err &
  pid=$!
  exec {input}>in
  # work N: down(N) is done.
  work() {
    local done
    done=$(wc -l <out)
    echo "$1" >&"$input"
    until [ "$(wc -l <out)" -gt "$done" ]; do
      kill -0 "$pid"
      sleep 0.05
    done
  }
  work 9
  run -0 rtdriver --pid "$pid" -c start
  work 5
  run -0 rtdriver --pid "$pid" -c reset
  work 1
  work 2
  run -0 rtdriver --pid "$pid" -c stop
  work 8
  run -0 rtdriver --pid "$pid" -c start
  work 0
  exec {input}>&-
  wait "$pid"
  [ ! -s err ]
  [ "$(sums log-rt.1 | grep -E '^(Java_Mixed_down|calls_back|Mixed.down|Mixed.up)' | awk '{ print $2 }' | paste -sd ' ')" = '5 5 5 5' ]
  [ "$(sums log-rt.2 | grep -E '^(Java_Mixed_down|calls_back|Mixed.down|Mixed.up)' | awk '{ print $2 }' | paste -sd ' ')" = '1 1 1 1' ]
  rm log-*
  for way in exit quick_exit; do
    status=0
    mixed libmixed_jni.so "$way" || status=$?
    [ "$status" -eq 5 ]
    [ "$(sums log-rt.1 | grep -c '^Java_Mixed_leaves 1$')" -eq 1 ]
    rm log-*
  done
}

@test "a child that C makes by fork(), and that ends by exit(), leaves its parent's logs alone" {
  jvm=()
  options=,noserver mixed libmixed_jni.so child
  [ ! -s err ]
  [ "$(cat out)" = 'child 6' ]
  # They have the calls of the parent.
  [ "$(ls)" = $'err\nexpected\nlog-rt.1\nlog-unrecorded.1\nout' ]
  [ "$(sums log-rt.1 | grep -E '^(Java_Mixed_down|Java_Mixed_leaves|child|mixed_jni_leaf) ' | paste -sd ' ')" = 'Java_Mixed_down 5 Java_Mixed_leaves 1 child 1' ]
}
