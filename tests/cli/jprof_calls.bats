#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# CALLTREE of JProf in real Java virtual machines: calls are counted exactly, and the program stays as it is.

bats_require_minimum_version 1.5.0

setup() {
  agent=$BUILD_DIR/lib/libjprof.so
  classes=$BUILD_DIR/tests/java
  if ! command -v java >/dev/null || [ ! -e "$agent" ]; then skip "needs a JDK"; fi
  ! readelf -d "$agent" | grep -qE 'NEEDED.*lib(a|t|ub)san' || skip "needs a build without sanitizers"
  [[ $BATS_TEST_DESCRIPTION == *JVMTI* || -s $BUILD_DIR/jprof/java/transformer.pack ]] || skip "needs libasm-java"
  # shellcheck source=tests/support/call_tree.bash
  source "$SOURCE_DIR/tests/support/call_tree.bash"
  cd "$BATS_TEST_TMPDIR" || return
  unset JPROFOPTS jprofopts JAVA_TOOL_OPTIONS _JAVA_OPTIONS
}

# calls ARGUMENT...: the program (Calls) without JProf, then with it; its output, exit status and exceptions must be the same.
# The options of the agent are in options, those of the JVM in jvm.
jvm=() options='' program=Calls
calls() {
  local plain=0 probed=0
  java "${jvm[@]}" -cp "$classes" "$program" "$@" >plain.out 2>plain.err || plain=$?
  java "${jvm[@]}" -agentpath:"$agent=calltree,start,nopidx$options" -cp "$classes" "$program" "$@" >out 2>err || probed=$?
  cat err
  diff plain.out out
  diff plain.err err
  [ "$plain" -eq "$probed" ]
}

# sums LOG ROOT: the methods below the first method whose name begins with ROOT, with the sum of their calls.
sums() {
  awk -v root="$2" '
    $1 !~ /^[0-9]+$/ || NF < 4 { next }
    { name = $NF; sub(/^[A-Za-z]:/, "", name) }
    inside && $1 <= level { exit }
    !inside && index(name, root) == 1 { inside = 1; level = $1 + 0 }
    inside { calls[name] += $2 }
    END { for (name in calls) if (calls[name] > 0) print name, calls[name] }' "$1" | LC_ALL=C sort
}

# has METHOD NUMBER...: the calls of methods of the program in the file counted.
has() {
  while (($#)); do
    grep -qxF "$program$1 $2" counted || {
      echo "$program$1: expected $2, found: $(grep -F "$program$1 " counted)"
      return 1
    }
    shift 2
  done
}

# shellcheck disable=SC2016 # a dollar is part of the names of Java classes
@test "calls are exact: recursion, exceptions, constructors, generics, lambdas, monitors, with the JIT" {
  options=,json,folded calls 300
  sums log-rt.1 'Calls.second(' >counted
  # JSON and folded stacks have the same calls.
  [ "$(awk '$NF ~ /:Calls.fibonacci/ { n += $2 } END { print n }' log-rt.1)" = \
    "$(jq '[.threads[].nodes[] | select((.name // "") | startswith("Calls.fibonacci")) | .calls] | add' log-rt.1.json)" ]
  grep -q ';\[deeper\] [0-9]*$' log-rt.1.folded
  [ "$(awk '$NF ~ /:Calls.fibonacci/ { n += $2 } END { print n }' log-rt.1)" = \
    "$(awk '/;Calls\.fibonacci\(I\)I [0-9]+$/ { n += $NF } END { print n }' log-rt.1.folded)" ]
  has '.second()V' 1 '.fibonacci(I)I' 1973 '.isEven(I)Z' 11 '.isOdd(I)Z' 10 '.fail(I)V' 60 '.locked(I)I' 11
  has '$Square.area()Ljava/lang/Integer;' 10 '$Square.area()Ljava/lang/Number;' 10 '$Shape.twice()D' 10
  has '.lambda$lambdas$0(I)I' 100 '.twice(I)I' 100
  # Twenty objects and one by this(); an odd one fails in super(), the thirteenth before it.
  has '$Derived.<init>(I)V' 21 '$Derived.<init>()V' 1 '$Derived.check(I)Z' 21 '$Base.<init>(I)V' 20 '.after()V' 20
  # Each thread is one tree.
  for i in 0 1 2 3 4 5 6 7; do
    awk -v name="_worker-$i" '$1 == 0 { inside = $NF ~ name "$" } inside && $NF ~ /Calls.after\(\)V$/ { n += $2 } END { exit n != 1000 }' log-rt.1
  done
  grep -qE '^ +0 .*_main$' log-rt.1
  # Interpreted first, then compiled.
  grep -q ' i:Calls.fibonacci' log-rt.1
  grep -q ' j:Calls.fibonacci' log-rt.1
  # A stack overflow unwinds thousands of frames.
  [ "$(grep -c ':Calls.deep(I)V$' log-rt.1)" -gt 100 ]
  grep -E "^ +[0-9]+ +1 .*:Calls.threads" log-rt.1
  fits log-rt.1
  # Neither the transformer nor ASM appears.
  grep -E ' [A-Za-z]:(pitrace|org/objectweb)/' log-rt.1 && return 1
  true
}

@test "all counts equal those of the JVM's own events, and what is not counted is listed (JVMTI and probes)" {
  [ -s "$BUILD_DIR/jprof/java/transformer.pack" ] || skip "needs libasm-java"
  jvm=(-Xint)
  calls 2
  options=,events=jvmti,logprefix=events calls 2
  sums log-rt.1 'Calls.second(' >probes
  sums events-rt.1 'Calls.second(' >events
  [ "$(wc -l <probes)" -gt 200 ]
  [ "$(comm -23 probes events | wc -l)" -eq 0 ]
  # Hidden classes have other names in each run.
  comm -13 probes events | sed 's/ [0-9]*$//' | grep -vE '[$]Lambda|LambdaForm' >missing
  cat missing
  [ -s missing ]
  while read -r method; do grep -qF "$method: " log-unrecorded.1; done <missing
  grep -q '/LambdaForm.*: hidden' log-unrecorded.1
}

# The events of the JVM are those of its interpreter.
# bats test_tags=long
@test "with the JIT, too, all counts equal those of the JVM's own events (JVMTI), but for methods that are listed" {
  [ -s "$BUILD_DIR/jprof/java/transformer.pack" ] || skip "needs libasm-java"
  options=,events=jvmti,logprefix=events calls 2
  sums events-rt.1 'Calls.second(' >events
  jvm=(-Xbatch -XX:CompileThresholdScaling=0.02) options=
  calls 2
  sums log-rt.1 'Calls.second(' >probes
  [ "$(awk '$NF ~ /^[jJ]:/ { print $NF }' log-rt.1 | sort -u | wc -l)" -gt 100 ]
  [ "$(wc -l <probes)" -gt 200 ]
  diff probes events | sed -n 's/^[<>] \(.*\) [0-9]*$/\1/p' | grep -vE '[$]Lambda|LambdaForm' | sort -u >differ
  cat differ
  # Where the JVM has code of its own for a method, it does not call what is below that method either.
  awk 'FNR == NR { if (/: intrinsic: /) { sub(/: intrinsic: .*/, ""); intrinsic[$0] }; next }
    $1 ~ /^[0-9]+$/ && NF > 3 { name = $NF; sub(/^[A-Za-z]:/, "", name); level = $1 + 0
      if (level > 0 && below[level - 1]) print name
      below[level] = level > 0 && (below[level - 1] || name in intrinsic) }' log-unrecorded.1 events-rt.1 | sort -u >below
  while read -r method; do
    grep -qF "$method: " log-unrecorded.1 || grep -qxF "$method" below || { echo "not listed: $method" && return 1; }
  done <differ
}

@test "exit and SIGTERM write the log; metrics are measured for each method" {
  options=,metrics=raw_cycles calls 1 exit
  grep -q 'Calls.threads' log-rt.1
  grep -q 'BASE and DELTA :: RAW_CYCLES' log-rt.1
  grep -qE 'Calibration :: RAW_CYCLES: error bound [0-9.]+ .* of fewer than 32 observations$' log-rt.1
  grep -q "^ Inlined methods :: BASE is what they execute in their callers' code; " log-rt.1
  # All sequences of interpreted methods are trained, and none with an exception, whose cost is the JVM's.
  awk '$1 == "RAW_CYCLES" && ($2 $4 $6) ~ /^[Ii]+$/ { if ($3 == "XX" || $5 == "XX") { xx++; bad = bad || $NF != "untrained" }
      else { n++; bad = bad || $NF == "untrained" } } END { exit bad || n < 20 || xx < 1 }' log-rt.1
  rm log-*
  options=,metrics=raw_cycles,nocalibrate calls 1 exit
  grep -q 'Calibration :: RAW_CYCLES: off' log-rt.1
  rm log-*
  java -agentpath:"$agent=callflow,start,saveminima=none/minima,nolegend,nomethodtypes,nopidx" -cp "$classes" Calls 1 wait >out 2>err &
  pid=$!
  until grep -q ready out; do
    kill -0 "$pid"
    sleep 0.1
  done
  kill "$pid"
  wait "$pid" || status=$?
  [ "${status:-0}" -eq 143 ]
  grep -q 'with SAVEMINIMA=FILE' err
  if [ ! -e /dev/pitrace-ptt ]; then
    # Without the module: on stderr and in the report.
    for file in err log-rt.1; do grep -q "Without the module pitrace PTT_CYCLES is the thread's clock" "$file"; done
  fi
  grep -qE '^ +2 .* Calls.second' log-rt.1
  grep -q 'Method types ::' log-rt.1 && return 1
  true
}

@test "an exception that ends the program is unchanged; probes pass -Xcheck:jni and the verifier for all classes" {
  jvm=(-Xcheck:jni -XX:+UnlockDiagnosticVMOptions -XX:+BytecodeVerificationLocal -XX:+BytecodeVerificationRemote)
  calls 2 throw
  grep -q 'Calls.second' log-rt.1
  grep -E 'refuses|failed' log-unrecorded.1 && return 1
  true
}

# bats test_tags=long
# shellcheck disable=SC2016 # a dollar is part of the names of Java classes
@test "a stack overflow leaves a tree that agrees with the program: handlers, and calls where the stack is nearly full" {
  for jvm in -Xint '-XX:TieredStopAtLevel=1 -Xss512k' '-Xss1m -Xverify:all -XX:-BackgroundCompilation'; do
    # shellcheck disable=SC2086 # words
    java $jvm -agentpath:"$agent=calltree,start,nopidx" -cp "$classes" Overflow 3 >out 2>err
    # The JVM's own error, whose trace begins with the program's method.
    [ "$(cat out)" = 'java.lang.StackOverflowError in deep' ]
    read -r marks depths deepest <err
    ((marks >= 6 && deepest > 500))
    # The levels of main and of a method that it calls are 1 and 2, and depths begin with -1.
    awk -v marks="$marks" -v depths="$depths" -v deepest="$deepest" '
      $NF ~ /:Overflow[.]mark[(]/ { n += $2; sum += $2 * ($1 - 3) }
      $NF ~ /:Overflow[.]deep[(]/ { deep += $2 }
      END { print n, sum, deep; exit n != marks || sum != depths || deep != deepest }' log-rt.1
    rm log-rt.1 log-unrecorded.1
  done
}

@test "C that calls Java, large methods, old class files, hidden classes, monitors, constructors, 300 threads: calls are exact" {
  program=Programs
  calls "$classes/libcalls_back.so"
  grep -qx 'natives 1328' out
  grep -qx 'threads 300' out
  sums log-rt.1 'Programs.measured(' >counted
  has '.callBack(I)I' 2 '.called(I)I' 25 '.throwing()V' 1 '.callObject(LPrograms;)I' 2 '.calledObject(LPrograms;)I' 2
  has '.shown()I' 7 '.locks(I)V' 5 '.locksClass(I)V' 5
  has '$Composed.<init>(I)V' 7 '$Composed.<init>(Ljava/lang/String;)V' 2 '$Composed.<init>(LPrograms$Composed;Ljava/lang/String;)V' 2
  has '$Whole.<init>(LPrograms$Part;[ILjava/util/function/Supplier;)V' 8 '$Part.of(I)LPrograms$Part;' 9 '$Part.<init>(I)V' 21
  program='' has 'Large.fits(I)I' 1 'Old46.subroutine(I)I' 4 'Old47.subroutine(I)I' 4 'Old48.subroutine(I)I' 4 \
    'Old49.subroutine(I)I' 4 'Old50.subroutine(I)I' 4
  grep -qF 'Large.full(I)I: too large for probes' log-unrecorded.1
  [ "$(grep -cE '^Large[.].*[.]{3}: native, and the name that it would get is too long$' log-unrecorded.1)" -eq 3 ]
  grep -qF 'Constants: it has too many constants for probes' log-unrecorded.1
  grep -qE '^Programs[$]Hidden.*: hidden' log-unrecorded.1
  # Each thread is one tree with one call.
  [ "$(awk '$NF ~ /:Programs\.work\(/ && $2 == 1' log-rt.1 | wc -l)" -eq 300 ]
  [ "$(awk '$1 == 0 { print $NF }' log-rt.1 | grep -c '_many-[0-9]*$')" -eq 300 ]
  fits log-rt.1
  # With virtual threads their calls are not counted, and the log has the number of their mounts.
  if java -version 2>&1 | grep -qE 'version "(2[1-9]|[3-9][0-9])'; then
    grep -qE '^ Virtual threads :: their calls are not recorded; they were mounted [1-9][0-9]+ times' log-rt.1
    grep -q 'Programs.virtualWork' log-rt.1 && return 1
  fi
  true
}

# shellcheck disable=SC2016 # a dollar is part of the name of a method
@test "Thread.stop() does not change the tree, closed standard descriptors no log, and a name that natives get no class" {
  java -agentpath:"$agent=calltree,start,nopidx" -cp "$classes" Unusual counts <&- >&- 2>&-
  [ "$(tail -n 2 counts)" = $'twice 8\nno code' ]
  sums log-rt.1 'Unusual.work(' >counted
  program=Unusual
  # A call that is stopped in its first moment is counted, and not by the program.
  for method in outer inner leaf; do
    more=$(($(grep -F "Unusual.$method(" counted | awk '{ print $2 }') - $(sed -n "s/^$method //p" counts)))
    ((more >= 0 && more <= 40)) || { echo "$method: $more more calls than the program counts"; return 1; }
  done
  # Every frame that was stopped has ended.
  [ "$(grep -c ':Unusual[.]outer(' log-rt.1)" -eq 1 ]
  [ "$(grep -c 'Unusual[.].*entered before the start' log-rt.1)" -eq 0 ]
  grep -qF 'Unusual.twice(I)I: native, and the class has a method with the name that it would get' log-unrecorded.1
  [ "$(grep -c 'output of the program' log-rt.1 log-unrecorded.1 | awk -F: '{ n += $2 } END { print n }')" -eq 0 ]
}

@test "CALLTRACE writes each event in its order; its calls equal those of log-rt, as text and JSON" {
  printf '3\n2\n' >input
  java -XX:TieredStopAtLevel=1 -agentpath:"$agent=calltree,calltrace,start,nopidx,json,metrics=raw_cycles" -cp "$classes" Phases \
    <input >out
  grep -q '^ Units :: RAW_CYCLES$' log-gen.1
  # The program's own events, one after the other.
  for calls in 3 2; do
    echo '> Phases.phase(I)V'
    for ((i = 0; i < calls; i++)); do printf '%s Phases.step(I)V\n' '>' '<'; done
    echo '< Phases.phase(I)V'
  done >expected
  awk '$3 ~ /^[Ii]:Phases\.[ps]/ { print $2, substr($3, 3) }' log-gen.1 | diff expected -
  jq -r '(.events | length), (.events[] | select(.name | test("^Phases.[ps]")) | (if .event == "entry" then "> " else "< " end) + .name)' \
    log-gen.1.json >json
  tail -n +2 json | diff expected -
  # In each thread events nest.
  awk '/^ Units ::/ { events = 1 }
    !events || NF != 4 || $2 !~ /[<>]/ { next }
    { thread = $NF; name = substr($3, 3) }
    $2 == ">" { stack[thread, ++depth[thread]] = name; calls[name]++; next }
    { while (depth[thread] > 0 && stack[thread, depth[thread]] != name) { depth[thread]--; unwound++ }
      if (depth[thread]-- == 0) { print "no entry: " $0; bad = 1 } }
    END { for (name in calls) print calls[name], name >"events"; print unwound + 0 >"unwound"; exit bad }' log-gen.1
  [ "$(cat unwound)" = "$(jq '[.threads[].unwound] | add' log-rt.1.json)" ]
  jq -r '.threads[].nodes[] | select(.calls > 0) | "\(.calls) \(.name)"' log-rt.1.json |
    awk '{ calls[$2] += $1 } END { for (name in calls) print calls[name], name }' | sort >tree
  [ "$(wc -l <tree)" -gt 1000 ]
  sort events | diff tree -
  jq -e '([.sequences[].possible] | all) and [.metrics[].impossible] == [0]' log-rt.1.json
  # The agent's own work is in no event, and in no other event's time: the sums are those of log-rt.
  [ "$(grep -c ' [<>] ' log-gen.1)" -eq "$(head -1 json)" ]
  awk '/^ Units ::/ { events = 1 } events && NF == 4 && $2 ~ /[<>]/ { all += $1 } END { printf "%.0f\n", all }' log-gen.1 >of_events
  jq '[.threads[].nodes[].base[0]] | add' log-rt.1.json | cat - of_events >both
  awk 'NR == 1 { tree = $1 } NR == 2 { difference = $1 - tree } END { exit !(tree > 0 && difference < tree / 50 && -difference < tree / 50) }' both
}

@test "the paper's example with 1,000 iterations has the shape of its Figure 6, with exact calls" {
  program=Iterations jvm=(-Xbatch) options=,metrics=raw_cycles
  calls 1000
  [ "$(wc -l <out)" -eq 1000 ]
  grep -qE '^  LV +CALLS +CEE +BASE +DELTA +DS +IN  NAME$' log-rt.1
  # Level below main, calls and callees. Interpreted and compiled calls have rows of their own.
  awk '$1 !~ /^[0-9]+$/ || NF != 8 { next }
    inside && $1 + 0 <= level { exit }
    !inside && $NF ~ /:Iterations\.main\(/ { inside = 1; level = $1 + 0; next }
    inside && $1 - level <= 2 { name = $NF; sub(/^.:/, "", name); key = $1 - level " " name; calls[key] += $2; callees[key] += $3 }
    END { for (key in calls) print key, calls[key], callees[key] }' log-rt.1 | LC_ALL=C sort >counted
  for row in '1 Iterations.<init>()V 1 0' '1 Iterations.myA()V 1000 1000' '2 Iterations.myC()V 1000 0' \
    '1 java/lang/StringBuffer.<init>()V 1000 1000'; do
    grep -qxF "$row" counted
  done
  for method in 'append(J)Ljava/lang/StringBuffer;' 'toString()Ljava/lang/String;'; do
    grep -qE "^1 java/lang/StringBuffer[.]$(sed 's/[()]/[&]/g' <<<"$method") 1000 [0-9]+$" counted
  done
  for method in Iterations.myA Iterations.myC; do grep -qE " J:$method[(][)]V$" log-rt.1; done
  # Each type of the sequences is one that a JVM can produce there.
  grep -q ' J En J Ex J ' log-rt.1
  grep -qi impossible log-rt.1 && return 1
  true
}

@test "a program's own classes with the names of ASM's stay its own" {
  mkdir -p source/org/objectweb/asm own
  cat >source/org/objectweb/asm/ClassReader.java <<'END'
package org.objectweb.asm;

public class ClassReader {
    public static String version() {
        return "of the program";
    }
}
END
  cat >source/OwnAsm.java <<'END'
public class OwnAsm {
    public static void main(String[] args) throws Exception {
        System.out.println(org.objectweb.asm.ClassReader.version() + " " + org.objectweb.asm.ClassReader.class.getMethods().length);
        for (String name : new String[] {"org.objectweb.asm.ClassWriter", "pitrace.Transformer"}) {
            try {
                System.out.println(Class.forName(name));
            } catch (ClassNotFoundException e) {
                System.out.println("none");
            }
        }
    }
}
END
  javac -d own source/OwnAsm.java source/org/objectweb/asm/ClassReader.java
  classes=own program=OwnAsm
  calls
  [ "$(paste -sd ' ' <out)" = 'of the program 10 none none' ]
  grep -qE '^ +[0-9]+ +1 .* i:org/objectweb/asm/ClassReader[.]version' log-rt.1
}

@test "wrong options of call flow stop the JVM, and name the right ones" {
  run java -agentpath:"$agent=calltree,start,metrics=fuel" -version
  [ "$status" -ne 0 ]
  [[ $output == *"METRICS=fuel cannot be measured: "*"Choose others, RAW_CYCLES for example"* ]]
  run java -agentpath:"$agent=calltree,noserver" -version
  [ "$status" -ne 0 ]
  [[ $output == *"CALLTREE,NOSERVER records nothing without START"* ]]
}

@test "the head of log-rt has the number of classes that ASM cannot read" {
  cp "$classes/Iterations.class" .
  java -agentpath:"$agent=calltree,start,nopidx" -cp . Iterations 1 >out
  run -1 grep ' Classes without probes ::' log-rt.1
  printf '\xc8' | dd of=Iterations.class bs=1 seek=7 conv=notrunc status=none # its version is 200
  run -1 java -agentpath:"$agent=calltree,start,nopidx" -cp . Iterations 1
  grep -q '^ Classes without probes :: 1, whose class files the ASM of this JProf cannot read$' log-rt.1
  grep -q '^Iterations: .*ASM cannot read it: Unsupported class file major version 200$' log-unrecorded.1
}

@test "a directory of logs that is missing is reported once, and the program runs without probes" {
  java -agentpath:"$agent=calltree,start,logpath=/nonexistent" --version 2>err
  [ "$(cat err)" = "JProf: '/nonexistent/log-rt.1_$(sed -n 's/.*log-rt[.]1_\([0-9]*\).*/\1/p' err)' cannot be written: No such file or directory. Create the directory, or choose another one with LOGPATH=DIR. Nothing is recorded; the JVM continues." ]
}

# bats test_tags=long
@test "javac with probes in all of its classes writes the same class files" {
  mkdir plain probed
  javac -d plain "$SOURCE_DIR"/tests/java/Calls.java
  javac -J-agentpath:"$agent=calltree,start,nopidx" -d probed "$SOURCE_DIR"/tests/java/Calls.java
  diff -r plain probed
  grep -q 'com/sun/tools/javac/main/JavaCompiler.compile' log-rt.1
}

@test "logrt lists the calls of the file exactly, compares files and checks limits" {
  PATH=$BUILD_DIR/bin:$PATH
  options=,json,metrics=raw_cycles
  calls 2
  # Sums of the text that awk adds up.
  awk '$1 ~ /^[1-9]/ && $8 ~ /:/ { sub(/^.:/, "", $8); calls[$8] += $2; base[$8] += $4 }
    END { for (name in calls) printf "%d %d %s\n", calls[name], base[name], name }' log-rt.1 | sort >expected
  [ "$(wc -l <expected)" -gt 200 ]
  logrt --json --lines 0 log-rt.1.json >methods.json
  jq -r '.rows[] | select(.name != "") | "\(.calls) \(.base) \(.name)"' methods.json | sort >listed
  diff expected listed
  jq -e '([.rows[].base] | add) == .total.base and ([.rows[].cum] | max) <= .total.base and .lost == ""' methods.json
  logrt --by package log-rt.1.json | grep -qE '^ +[0-9]+ .* java/util$'
  # The file and itself, and with one method's calls changed.
  logrt --diff log-rt.1.json log-rt.1.json --json --lines 0 | jq -e '[.rows[].within_bound] | all'
  name=$(jq -r '[.rows[] | select(.calls > 5)][0].name' methods.json)
  jq -c --arg name "$name" '(.threads[].nodes[] | select(.name == $name)).calls += 1' log-rt.1.json >more.json
  logrt --diff log-rt.1.json more.json --json | jq -e --arg name "$name" '.rows[0] | .name == $name and .within_bound == false'
  echo "method $name calls 5" >limits
  status=0
  logrt --budget limits log-rt.1.json >checked || status=$?
  [ "$status" -eq 4 ]
  grep -qF "OVER  method $name: calls" checked
  jq -c '.lost.nodes = 7' log-rt.1.json >lossy.json
  status=0
  logrt lossy.json >incomplete 2>why || status=$?
  [ "$status" -eq 3 ]
  grep -q 'lossy.json lacks what was lost: 7 nodes' why
  for words in log-rt.1 /dev/null missing.json '--by page log-rt.1.json' 'log-rt.1.json more.json' '--diff more.json'; do
    # shellcheck disable=SC2086 # several words
    if logrt $words >out 2>why; then return 1; fi
    [[ -s why && ! -s out ]]
  done
}
