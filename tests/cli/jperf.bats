#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# JPerf.jar in plain Java applications, without the agent but for RTDriver; without the module. tests/proofs/jperf.bats has ITrace and
# PTT with it.

bats_require_minimum_version 1.5.0

setup() {
    type -P java >/dev/null && [ -s "$BUILD_DIR/lib/JPerf.jar" ] || skip "needs a JDK"
    cd "$BATS_TEST_TMPDIR" || return
    export PITRACE_SOCKET=$BATS_TEST_TMPDIR/socket
    path=$BUILD_DIR/lib/JPerf.jar:$BUILD_DIR/tests/java
}

# use WORD...: runs the test's application; -Xcheck:jni prints what native code does wrong. Since Java 24 the JVM warns of native
# libraries that it was not told of.
use() {
    java --enable-native-access=ALL-UNNAMED -Xcheck:jni -cp "$path" JPerfUse "$@" >printed 2>errors || { cat printed errors && false; }
    ! grep -E 'WARNING|FATAL|Exception' errors || { cat errors && false; }
}

# needs_no_module: the test is about a machine without the module.
needs_no_module() {
    [ ! -e /dev/pitrace ] || skip "the module is loaded"
}

@test "a program traces itself and writes hooks, which the report has all" {
    use trace perf trace.nrm2
    grep -qx 'enabled true false' printed
    grep -qx 'interval true on true active true' printed
    grep -qx 'suspended false' printed
    grep -qx 'whole true' printed
    grep -qx 'counts true lost 0' printed
    [ "$(stat -c %a trace.nrm2)" = 600 ]
    "$BUILD_DIR/bin/post" -show --json -r trace.nrm2 -o . >/dev/null
    # Of each of the 200 hooks in the loop: its ints, negative ones as two's complement, and its strings as UTF-8.
    gawk '$1 == "****" && $4 == 70 { n[$5]++
            if ($5 == 1 && ($7 != sprintf("%X", i++) || $9 != 7)) bad = 1
            if ($5 == 2 && $0 !~ sprintf("call %d", j++)) bad = 1 }
        END { exit bad || n[1] != 100 || n[2] != 100 || n[3] != 1 || n[4] != 1 }' post.show || { grep ' 70 ' post.show | head && false; }
    grep -qF '[5]\xC3\xBCber' post.show
    # The application is what it has recorded.
    jq -e '[.reports[] | select(.title == "Process_Module_Symbol") | .rows[] | select(.name | test("^java")) | .ticks] | add > 100' tprof.json
}

@test "wrong hooks are refused; without a trace hooks are no error" {
    use hooks
    grep -qx 'stored true' printed
    grep -qE '^major -87 Applications may not' printed
    [ "$(grep -cE '^(ints|long) -208 ' printed)" -eq 2 ]
    grep -q '^size -87 ' printed
    grep -q '^pid -87 ' printed
    # Names of any characters arrive as they are, in both directions.
    grep -q '^nul -87 .*NUL' printed
    grep -q "^emoji -219 There is no event '😀'" printed
}

@test "PTT counts regions of each thread, and refuses wrong use" {
    use ptt CYCLES page-faults context-switches
    grep -q '^names \[CYCLES, page-faults, context-switches\] units \[.*, events, events\] module ' printed
    # The thread sleeps 20 times; the sum of the inner regions is most of the outer one, and less.
    awk -F '[][ ,]+' '$1 == "outer" { n++; exit !($4 >= 20 && $4 <= 400 && $8 >= 20 && $6 <= $2 && $6 > $2 / 2) } END { exit n != 1 }' printed ||
        { cat printed && false; }
    grep -qE '^other \[[1-9]' printed
    grep -q '^thread -201 .*call Ptt.thread() in each thread' printed
    grep -q '^short -87 ' printed
    grep -qx 'ended 0 failed 2' printed
    grep -q '^read -6 PTT has ended' printed
    grep -q '^again -201 ' printed
    grep -q "^unknown -219 There is no event 'no-such-metric'" printed
    grep -q '^none -87 ' printed
    if java -version 2>&1 | grep -qE 'version "(2[1-9]|[3-9])'; then
        grep -q '^virtual -210 .*virtual thread' printed
    fi
}

@test "AboveIdle has the times of each CPU, and their sum" {
    use ai
    [ "$(grep -cE '^cpu [0-9]+ true$' printed)" -eq "$(getconf _NPROCESSORS_ONLN)" ]
    # One thread was busy for half a second.
    awk '$1 == "exact" { exit !($4 > 400000000) }' printed
    grep -q '^twice -201 ' printed
}

@test "cycles per instruction are measured, or refused with the reason" {
    use cpi
    grep -qE '^cpi -(213|5) .*[a-z]{5}' printed || awk '$1 == "instructions" { exit !($2 > 1e6 && $4 > 0.05 && $4 < 20) }' printed
}

@test "ITrace of the calling thread is refused without the module, with what to do" {
    needs_no_module
    use refused-itrace
    [ "$(grep -cE '^(enable|on) -209 The pitrace module is not loaded.*run.itrace -- COMMAND' printed)" -eq 2 ]
}

@test "RTDriver: commands for JProf in this virtual machine, and what it refuses" {
    [ -s "$BUILD_DIR/jprof/java/transformer.pack" ] || skip "needs libasm-java"
    export PITRACE_JVMS=$BATS_TEST_TMPDIR/jvms
    use command start
    grep -qE '^start -6 Process [0-9]+ accepts no commands' printed
    java "-agentpath:$BUILD_DIR/lib/libjprof.so=calltree,nopidx" -cp "$path" JPerfUse command start flush nonsense >printed 2>errors
    [ "$(grep -c '^answer \[' printed)" -eq 2 ]
    grep -q "^nonsense -1 JProf has not done 'nonsense'" printed
    grep -q 'JPerfUse' log-rt.1
}

@test "without libjperf.so, or with another version, the message says what to do" {
    mkdir alone
    cp "$BUILD_DIR/lib/JPerf.jar" alone/
    run -1 java -cp "alone/JPerf.jar:$BUILD_DIR/tests/java" JPerfUse hooks
    [[ $output == *'libjperf.so is not found'*'-Djava.library.path=DIRECTORY'* ]]
    mkdir manifest
    printf 'Implementation-Version: 0.0.1\n' >manifest/other
    jar --update --file alone/JPerf.jar --manifest manifest/other 2>/dev/null
    run -1 java "-Djava.library.path=$BUILD_DIR/lib" -cp "alone/JPerf.jar:$BUILD_DIR/tests/java" JPerfUse hooks
    [[ $output == *'has version '*' and JPerf.jar 0.0.1. Install both from the same pitrace.'* ]]
}

@test "the example measures a method" {
    run -0 java --enable-native-access=ALL-UNNAMED -cp "$path" Measure
    [[ $output =~ ^'100 calls gave 748.547 and took '[1-9][0-9]*' '(cycles|nanoseconds)' of this thread' ]]
}
