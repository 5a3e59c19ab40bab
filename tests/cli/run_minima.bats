#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# run.minima: the environmental minima of this machine's Java virtual machine, by ptrace. tests/lab/callflow-icount.bats compares
# what they are for.

bats_require_minimum_version 1.5.0

setup() {
    if ! type -P java >/dev/null || [ ! -s "$BUILD_DIR/jprof/java/trainer.jar" ]; then skip "needs a JDK and libasm-java"; fi
    cd "$BATS_TEST_TMPDIR" || return
    export HOME=$BATS_TEST_TMPDIR
}

@test "run.minima counts what compiled methods execute between entries and exits, and JProf reads its file" {
    # A link that another user may have put there is replaced, not followed.
    echo kept >victim
    ln -s victim gc.minima
    run --separate-stderr "$BUILD_DIR/bin/run.minima" --source=perf -m PTT_INSTS -m RAW_CYCLES -o gc.minima -- java -XX:+UseSerialGC
    [ "$status" -eq 0 ] || { echo "$stderr" && false; }
    [ -z "$output" ]
    [ "$(cat victim)" = kept ]
    [ ! -L gc.minima ]
    grep -q '^#   En-j ' gc.minima
    # Of two kinds of methods, j and J: two metrics, each with 28 sequences. All entries follow a call in the trainer, and a leaf
    # executes the same between all events.
    awk '/^(#|key )/ { next }
        { n[$1]++; if (NF != 8 || $7 < 1 || $7 > 40 || $8 != 0) bad = 1 }
        $3 == "En" && $5 == "Ex" { leaf[$4, $7]++ }
        END { for (i in leaf) kinds++; exit bad || n["PTT_INSTS"] != 28 || n["RAW_CYCLES"] != 28 || kinds != 2 }' gc.minima ||
        { cat gc.minima && false; }
    java -XX:+UseSerialGC "-agentpath:$BUILD_DIR/lib/libjprof.so=calltree,start,metrics=raw_cycles,nopidx,envminima=gc.minima" -version 2>errors
    ! grep -q 'No call flow' errors || { cat errors && false; }
    grep -q 'Calibration ::' log-rt.1
    grep -q '^ Inlined methods :: BASE is as if they were called, ' log-rt.1
    run ! grep -E 'is not used|Minima ::' errors log-rt.1
    # With another collector, whose compiled code is different.
    rm log-rt.1
    java -XX:+UseParallelGC "-agentpath:$BUILD_DIR/lib/libjprof.so=calltree,start,metrics=raw_cycles,nopidx,envminima=gc.minima" -version 2>errors
    grep -q "^JProf: 'gc.minima' is not used: .* UseSerialGC .* and this is '.* UseParallelGC " errors
    grep -q "^ Minima :: 'gc.minima' is not used: " log-rt.1
    # A recording of the same virtual machine stores the key that fits its own file, and run.minima's.
    java -XX:+UseSerialGC "-agentpath:$BUILD_DIR/lib/libjprof.so=calltree,start,metrics=raw_cycles,nopidx,saveminima=observed" -version
    [ "$(grep '^key ' observed)" = "$(grep '^key ' gc.minima)" ]
}

@test "run.minima refuses a program that is not there, one that fails, and wrong options" {
    run -127 "$BUILD_DIR/bin/run.minima" --source=perf -- ./no-java
    run -255 "$BUILD_DIR/bin/run.minima" -m no.metric
    run -255 "$BUILD_DIR/bin/run.minima" --help=no
    run -255 "$BUILD_DIR/bin/run.minima" java
    [[ $output == *'write -- before'* ]]
    run -125 "$BUILD_DIR/bin/run.minima" --source=perf -- java --no-such-option
    [[ $output == *'no-such-option'* ]]
}

@test "run.minima refuses a device; after SIGKILL its virtual machine ends" {
    local script i
    run -125 "$BUILD_DIR/bin/run.minima" --source=perf -o /dev/null -- java
    [ -c /dev/null ]
    "$BUILD_DIR/bin/run.minima" --source=perf -o killed -- java -XX:+UseSerialGC "-Dmark=$BATS_TEST_TMPDIR" 3>&- &
    script=$!
    # However slowly it starts: a script that ends without it fails.
    until pgrep -f -- "-Dmark=$BATS_TEST_TMPDIR .*pitrace.TrainerMain" >/dev/null; do
        kill -0 "$script"
        sleep 0.05
    done
    kill -KILL "$script"
    for ((i = 0; i < 600; i++)); do
        pgrep -f -- "-Dmark=$BATS_TEST_TMPDIR .*pitrace.TrainerMain" >/dev/null || break
        sleep 0.05
    done
    [ "$i" -lt 600 ]
    [ ! -e killed ]
}
