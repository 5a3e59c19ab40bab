#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Heap dumps that JProf takes: by option, by rtdriver and by an attach; log-hd compared with the JVM's own histogram and with
# a second reader of .hprof; what remains after errors.

bats_require_minimum_version 1.5.0

setup_file() {
    export PATH="$BUILD_DIR/bin:$PATH" LC_ALL=C.UTF-8 made=$BATS_FILE_TMPDIR agent=$BUILD_DIR/lib/libjprof.so
    unset JPROFOPTS jprofopts JAVA_TOOL_OPTIONS _JAVA_OPTIONS
    cd "$made" || return
    if ! type -P java >/dev/null || [[ ! -e $agent || ! -e $BUILD_DIR/tests/java/Heap.class ]]; then
        : >no-java
        return
    fi
    java -Xmx256m -XX:+UseSerialGC -agentpath:"$agent=hd" -cp "$BUILD_DIR/tests/java" Heap heap.hprof 20000 50000 >histogram 2>messages || return
    mv log-hd.1_* log-hd
}

setup() {
    [[ ! -e $made/no-java ]] || skip "needs a JDK"
    ! readelf -d "$agent" | grep -qE 'NEEDED.*lib(a|t|ub)san' || skip "needs a build without sanitizers"
    cd "$BATS_TEST_TMPDIR" || return
    export PITRACE_JVMS=$PWD/jvms
    pids=()
}

teardown() {
    ((${#pids[@]} == 0)) || kill -9 "${pids[@]}" 2>/dev/null || true
    ! mountpoint -q small || umount small
}

# waits OPTION...: a JVM that waits, with these options of the JVM; its process id is then in jvm.
waits() {
    mkfifo in
    java -Xmx256m -XX:TieredStopAtLevel=1 "$@" -cp "$BUILD_DIR/tests/java" Phases <in >out 2>err &
    jvm=$!
    pids+=("$jvm")
    # The pipe stays open as long as this shell runs.
    exec {input}>in
    for ((tries = 0; tries < 1200; tries++)); do
        ! grep -q ready out || return 0
        kill -0 "$jvm"
        sleep 0.05
    done
    false
}

# totals: "CLASS OBJECTS BYTES" of the JVM's histogram, with the names of arrays as in Java.
totals() {
    awk '/^ *[0-9]+:/ && NF > 3 {
        name = $4; dimensions = ""
        while (name ~ /^\[/) { dimensions = dimensions "[]"; name = substr(name, 2) }
        if (dimensions != "" && name ~ /^L/) name = substr(name, 2, length(name) - 2)
        else if (dimensions != "") name = letter[name]
        name = name dimensions
        # Since Java 19 the JVM fills gaps of the heap with these arrays, and dumps them as int[].
        if (name == "jdk.internal.vm.FillerElement[]") name = "int[]"
        objects[name] += $2; bytes[name] += $3
    }
    END { for (name in objects) print name, objects[name], bytes[name] }
    BEGIN {
        count = split("Z boolean C char F float D double B byte S short I int J long", words, " ")
        for (i = 1; i < count; i += 2) letter[words[i]] = words[i + 1]
    }' | sort
}

@test "HD writes the heap at the end of the JVM, readable by its owner only, and leaves no .hprof" {
    [ ! -s "$made/messages" ]
    [ "$(stat -c %a "$made/log-hd")" = 600 ]
    run -1 compgen -G "$made/log-hd*.hprof"
    run -0 hdump "$made/log-hd"
    [[ $output == *" Java VM            : "*", process "*" Sizes              : of the JVM, in bytes: header "* ]]
    hdump --json --lines 0 "$made/log-hd" >report.json
    awk '$4 ~ /^Heap/ { print $4, $2, $3 }' "$made/histogram" | sort >jvm
    jq -r '.classes[] | select(.name | startswith("Heap")) | "\(.name) \(.objects) \(.bytes)"' report.json | sort >ours
    [ "$(wc -l <ours)" -ge 5 ]
    diff jvm ours
}

@test "the .hprof of a log-hd is what zstd makes of it, and a second reader finds the same objects" {
    hdump --to-hprof=made.hprof "$made/log-hd"
    [ "$(stat -c %a made.hprof)" = 600 ]
    zstd -qdc "$made/log-hd" | cmp - made.hprof
    java -cp "$BUILD_DIR/tests/java" HprofTotals made.hprof >second
    hdump --json --lines 0 "$made/log-hd" | jq -r '.classes[] | "\(.name) \(.objects)"' >first
    # Arrays of references are counted together by the second reader.
    awk '/\[\] / && !/^(boolean|char|float|double|byte|short|int|long)\[\] / { n += $NF; next } { print }
        END { print "arrays of references " n }' first | sort >ours
    sed 's/+0x/\/0x/' second | sort >theirs
    diff theirs ours
    run -1 hdump --to-hprof=made.hprof "$made/log-hd"
    [[ $output == *"cannot write made.hprof: File exists."* ]]
    run -255 hdump --to-hprof=more.hprof "$made/log-hd" "$made/log-hd"
}

@test "a truncated or damaged log-hd gives a report on its beginning" {
    head -c $(($(stat -c %s "$made/log-hd") * 2 / 3)) "$made/log-hd" >cut
    run -3 hdump cut
    [[ $output == *"hdump: warning: cut at byte "*"it ends too early: it was not written to its end."* ]]
    run -3 hdump --to-hprof=cut.hprof cut
    [[ $output == *"cut: it ends too early"*"cut.hprof has the "*" bytes before that." ]]
    hdump --to-hprof=whole.hprof "$made/log-hd"
    cmp -n "$(stat -c %s cut.hprof)" cut.hprof whole.hprof
    [ "$(stat -c %s cut.hprof)" -gt 1000000 ]
    cp "$made/log-hd" damaged
    printf x | dd of=damaged bs=1 seek=$(($(stat -c %s damaged) * 3 / 4)) conv=notrunc status=none
    run -3 hdump damaged
    [[ $output == *"a frame is damaged"* ]]
}

@test "hdf of rtdriver: objects and bytes of all classes are those of jcmd GC.class_histogram" {
    waits -agentpath:"$agent=hd,nostart"
    type -P jcmd >/dev/null || skip "needs jcmd"
    run -0 rtdriver --pid "$jvm" -c hdf
    jcmd "$jvm" GC.class_histogram >first
    run -0 rtdriver --pid "$jvm" -c hdf
    [[ $output == *": hdf: done; written: '$PWD/log-hd.2_$jvm'" ]]
    jcmd "$jvm" GC.class_histogram >histogram
    totals <histogram >theirs
    hdump --json --lines 0 "log-hd.2_$jvm" | jq -r '.classes[] | "\(.name) \(.objects) \(.bytes)"' | sort >ours
    # The call of the dump itself has a name, which is a string with its array, and code for it. Class objects of an
    # archive (CDS) are in the heap before their classes are loaded, and in no dump.
    own='^(byte\[\]|java\.lang\.String|java\.lang\.Class|com\.sun\.management\.internal\.HotSpotDiagnostic\$\$Lambda.*) '
    diff <(grep -vE "$own" theirs) <(grep -vE "$own" ours)
    [ "$(wc -l <ours)" -gt 200 ]
    objects() { awk -v name="$2" '$1 == name { print $2 }' "$1"; }
    [ $(($(objects ours java.lang.String) - $(objects theirs java.lang.String))) -le 1 ]
    [ $(($(objects ours 'byte[]') - $(objects theirs 'byte[]'))) -le 1 ]
}

@test "fgc,hd dumps after a collection, hd with garbage; other kinds are refused" {
    waits -agentpath:"$agent=hd,nostart,logprefix=first"
    run -0 rtdriver --pid "$jvm" -c hd -c fgc,hd -c "logprefix=second" -c hd -c jprofinfo
    [[ $output == *"first-hd.1_$jvm'"*"first-hd.2_$jvm'"*"second-hd.3_$jvm'"*"heap dumps: on command"* ]]
    [ "$(hdump --json "first-hd.1_$jvm" | jq .objects)" -gt "$(hdump --json "first-hd.2_$jvm" | jq .objects)" ]
    run -0 hdump "first-hd.2_$jvm" "second-hd.3_$jvm"
    run -1 rtdriver --pid "$jvm" -c heapdump=5
    [[ $output == *"'heapdump=5' takes no value"* ]]
}

@test "an attach dumps the heap of a JVM that runs without the agent" {
    waits
    mkdir logs
    run -0 pitrace-attach "$jvm" "$agent" "hd,logpath=$PWD/logs"
    run -0 hdump "logs/log-hd.1_$jvm"
    [ "$(ls logs)" = "log-hd.1_$jvm" ]
}

@test "a JVM with CALLTREE dumps its heap, too" {
    [ -s "$BUILD_DIR/jprof/java/transformer.pack" ] || skip "needs libasm-java"
    waits -agentpath:"$agent=calltree,start"
    run -0 rtdriver --pid "$jvm" -c hdf -c flush
    run -0 hdump "log-hd.1_$jvm"
}

@test "without space, or a name for the log-hd, the error says what to do, and what there is" {
    waits -agentpath:"$agent=hd,nostart"
    mkfifo "log-hd.1_$jvm"
    run -1 rtdriver --pid "$jvm" -c hd
    [[ $output == *"cannot be written: it is not a regular file. The dump is in '$PWD/log-hd.1_$jvm.hprof', which hdump reads, too" ]]
    run -0 hdump "log-hd.1_$jvm.hprof"
    # The name of the next dump is free again after its .hprof was renamed.
    rm "log-hd.1_$jvm"
    run -0 rtdriver --pid "$jvm" -c hd
    [ "$(ls -d log-hd*)" = "log-hd.1_$jvm"$'\n'"log-hd.1_$jvm.hprof.old" ]
    run -1 rtdriver --pid "$jvm" -c "logpath=$PWD/none" -c hd
    [[ $output == *"'$PWD/none' cannot be opened: No such file or directory. LOGPATH=DIR names another directory"* ]]
    [ "$(id -u)" -eq 0 ] || skip "needs root to mount a small disk"
    mkdir small
    mount -t tmpfs -o size=8m none small
    run -1 rtdriver --pid "$jvm" -c "logpath=$PWD/small" -c hd
    [[ $output == *"has 8 MiB free, and the dump of a heap of "*" MiB may need "*"LOGPATH=DIR"* ]]
    [ -z "$(ls small)" ]
}

@test "a JVM that is killed while it dumps its heap leaves an .hprof that is read up to the break" {
    mkfifo in
    java -Xmx512m -XX:+UseSerialGC -agentpath:"$agent=hd" -cp "$BUILD_DIR/tests/java" Heap heap.hprof 200000 2000000 >out 2>err &
    jvm=$!
    pids+=("$jvm")
    for ((tries = 0; tries < 3000; tries++)); do
        # The JVM's first dump, which the program makes, is not the one that is meant.
        [ "$(stat -c %s "log-hd.1_$jvm.hprof" 2>/dev/null || echo 0)" -lt 10000000 ] || break
        kill -0 "$jvm"
        sleep 0.01
    done
    kill -9 "$jvm"
    wait "$jvm" || true
    # Newer JVMs write parts of a dump to files of their own first, log-hd.1_PID.hprof.p0 for example.
    [ -z "$(find . -name 'log-hd*' ! -name "log-hd.1_$jvm.hprof*")" ]
    run hdump "log-hd.1_$jvm.hprof"
    # In time it may have been whole.
    [ "$status" -eq 3 ] || [ "$status" -eq 0 ]
    [[ $output == *" Objects            : "* ]]
}
