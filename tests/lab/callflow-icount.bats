#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# What calibration leaves of the cost of probes in Java methods, in the instruction-count lab, where RAW_CYCLES counts instructions.
# shellcheck disable=SC2016 # awk expands it

read -ra kernels <<<"${LAB_KERNELS:-6.1 6.12}"
# shellcheck source=tests/lab/guests.bash
source "$BATS_TEST_DIRNAME/guests.bash"

setup() {
    cd "$BATS_TEST_DIRNAME/../.." || return 1
    : "${BUILD_DIR:?must be the build folder}"
    type -P java >/dev/null || skip "needs a JDK"
    [ -s "$BUILD_DIR/jprof/java/transformer.pack" ] || skip "needs libasm-java"
}

# run_guests ROUNDS JVM-OPTION...
run_guests() {
    local kernel
    boot_all --icount --timeout 1800 -- tests/lab/callflow-icount-guest.sh "$BUILD_DIR" "$@"
    ended_well
    for kernel in "${kernels[@]}"; do sed "s/^/# $kernel: /" "$BATS_FILE_TMPDIR/$kernel" >&3; done
}

# The environmental minimum of a sequence is 1 instruction.
@test "an interpreted method that does nothing costs exactly the environmental minimum; without calibration a hundred times as much" {
    run_guests 1000 -Xint
    # A timer interrupt, of some 10,000 instructions, comes in one of six of these; not in all four.
    holds 'NF != 6 || $1 == "ptt" { next }
        $3 ~ /^nothing/ && $1 == "raw" { raw++; if ($4 != 1000 || $5 < 100 * $4 || $6 != 0) bad = 1 }
        $3 ~ /^nothing/ && $1 != "raw" { n++; exact += $5 == $4
            if ($4 != 1000 || $5 < $4 || $5 > $4 + 60000 || $6 < 100 * $4) bad = 1 }
        END { exit bad || n != 4 || raw != 2 || !exact }'
    # PTT_CYCLES of the module has no interrupt but the part before its first hook: some hundred instructions.
    holds '$1 == "ptt" && $3 ~ /^nothing/ { n++; if ($4 != 1000 || $5 < $4 || $5 > $4 + 2000 || $6 < 100 * $4) bad = 1 }
        $1 == "ptt-head" { head++; if ($0 !~ /BASE and DELTA :: PTT_CYCLES, cycles/) bad = 1 }
        END { exit bad || n != 2 || head != 1 }'
    # What a method does stays: the probes take the same in each method.
    holds '$3 == "add" { add[$1] = $5 } $3 == "nothing" { nothing[$1] = $5 }
        function near(x, y) { return x > 1000 && x - y < 30000 && y - x < 30000 }
        END { r = add["raw"] - nothing["raw"]
              exit !(near(add["calibrated"] - nothing["calibrated"], r) || near(add["again"] - nothing["again"], r)) }'
    # Each run subtracts the same.
    holds '$1 == "calibrated" && NF == 6 { first[$2 $3] = $6 } $1 == "again" && NF == 6 { if (first[$2 $3] != $6) bad = 1; n++ }
        END { exit bad || n != 3 }'
}

# known KIND: prints the functions of truth_KIND with the instructions of a call, counted by callgrind.
known() {
    valgrind --tool=callgrind --callgrind-out-file="$BATS_TEST_TMPDIR/known" "$BUILD_DIR/tests/truth_$1" 100 2>/dev/null
    callgrind_annotate --threshold=100 --show-percs=no "$BATS_TEST_TMPDIR/known" | tr -d , |
        awk '$2 ~ /truth\.c:/ { sub(/.*:/, "", $2); print "known", $2, $1 / 100 / ($2 ~ /^(nothing|add|mix)$/ ? 2 : 1) }'
}

# with_known KIND: adds what known prints to each guest's output.
with_known() {
    local kernel
    for kernel in "${kernels[@]}"; do
        [ -s "$BATS_FILE_TMPDIR/$kernel" ] || run_guests 1000 -Xint
        grep '^c ' "$BATS_FILE_TMPDIR/$kernel" >"$BATS_TEST_TMPDIR/measured"
        { known "$1" && cat "$BATS_TEST_TMPDIR/measured"; } >"$BATS_TEST_TMPDIR/$kernel"
    done
    BATS_FILE_TMPDIR=$BATS_TEST_TMPDIR
}

# In truth.c eight functions are called eleven times in each round.
@test "patched C functions cost within an instruction a call of what they execute without hooks; without calibration twenty times as much" {
    type -P valgrind >/dev/null || skip "needs valgrind"
    with_known bare
    holds '$1 == "known" { known[$2] = $3 } $2 != "patched" { next }
        $3 == "calibrate" { n++; d = $6 / $5 - known[$4]; if (d > 1 || d < -1 || !known[$4]) bad = 1 }
        $3 == "nocalibrate" { raw++; if ($6 / $5 < known[$4] + 90) bad = 1; sum += $6; bare += known[$4] * $5 }
        END { exit bad || n != 8 || raw != 8 || sum < 20 * bare }'
}

# The compiler saves arguments before the hook of a function and moves computations behind its exit, so that they are charged to the
# caller: only functions whose work cannot be moved have the same count alone. All together have what callgrind counts, less the hooks
# and what an empty function executes to call them.
@test "instrumented C functions cost within an instruction a call of what callgrind counts less the hooks" {
    type -P valgrind >/dev/null || skip "needs valgrind"
    with_known bare
    holds '$1 == "known" { known[$2] = $3 } $2 != "instrumented" { next }
        $3 == "calibrate" && $4 ~ /^(nothing|add|loop)$/ { n++; d = $6 / $5 - known[$4]; if (d > 1 || d < -1) bad = 1 }
        $3 == "nocalibrate" { raw++; if ($6 / $5 < known[$4] + 40) bad = 1 }
        END { exit bad || n != 3 || raw != 8 }'
    with_known instrumented
    holds '$1 == "known" { known[$2] = $3 } $2 != "instrumented" || $3 != "calibrate" { next }
        { calls += $5; sum += $6; truth += $5 * (known[$4] - known["nothing"] + 1) }
        END { d = (sum - truth) / calls; exit calls != 11000 || d > 1 || d < -1 }'
}

# bats test_tags=long
@test "a compiled method that does nothing costs less than two instructions; without calibration fifty times as much" {
    run_guests 40000 -Xbatch -XX:CompileCommand=quiet -XX:CompileCommand=dontinline,Leaves.* -XX:CompileCommand=dontinline,Trees.*
    holds '$1 == "calibrated" && $3 ~ /^nothing/ && $2 ~ /^[Jj]$/ { n++; if ($4 < 39000 || $5 > 2 * $4) bad = 1 }
        $1 == "raw" && $3 ~ /^nothing/ && $2 ~ /^[Jj]$/ { raw++; if ($5 < 50 * $4) bad = 1 }
        END { exit bad || n != 2 || raw != 2 }'
    # With environmental minima: what the method executes without probes. The mean has a fraction, since C1 compiles each method
    # before C2 does.
    holds '$1 == "trace" { own[$2] = $3 }
        $1 == "minima" && $2 ~ /^[Jj]$/ { base[$3] = $5 / $4 }
        END { for (name in base) { n++; d = base[name] - own[name]; if (own[name] < 5 || d > 1 || d < -1) bad = 1 }
              exit bad || n != 3 }'
}

# bats test_tags=long
@test "log-gen agrees with an instruction trace event by event, and in sum within two percent" {
    [ -s "$BATS_FILE_TMPDIR/${kernels[0]}" ] ||
        run_guests 40000 -Xbatch -XX:CompileCommand=quiet -XX:CompileCommand=dontinline,Leaves.* -XX:CompileCommand=dontinline,Trees.*
    # The same pairs of events. Compiled code keeps other values in registers when it calls probes: up to 3 instructions.
    # main() itself is compiled while it runs, and not by the same compiler in both.
    holds '$1 == "events" && $3 != "<ten" { cost[$2, $3 " " $4] = $5; pairs[$3 " " $4]; n[$2]++ }
        END { for (pair in pairs) {
                  d = cost["gen", pair] - cost["arc", pair]
                  if (!(("gen", pair) in cost) || !(("arc", pair) in cost) || d > 3 || d < -3) { bad = 1; print "# " pair, cost["gen", pair], cost["arc", pair] } }
              exit bad || n["gen"] != 10 || n["arc"] != 10 }'
    holds '$1 == "tree" { tree[$2] = $3; trees[$2] = $4 }
        END { d = tree["gen"] / tree["arc"] - 1; exit !(trees["gen"] > 900 && trees["arc"] > 50 && d < 0.02 && d > -0.02) }'
}

# What remains has two causes, of which callflow-icount-explain.awk names each instruction. HotSpot aligns calls, those of probes too,
# by a NOP, which a leaf has or not. And a leaf keeps values across the calls of its probes, in other registers or in the stack.
# bats test_tags=long
@test "what calibration leaves in compiled leaves is the instructions by which their code with probes differs, one by one" {
    local kernel
    boot_all --icount --timeout 1800 -- tests/lab/callflow-icount-code-guest.sh "$BUILD_DIR"
    ended_well
    for kernel in "${kernels[@]}"; do
        awk -f tests/lab/callflow-icount-explain.awk "$BATS_FILE_TMPDIR/$kernel" >"$BATS_TEST_TMPDIR/$kernel"
        sed "s/^/# $kernel: /" "$BATS_TEST_TMPDIR/$kernel" >&3
    done
    BATS_FILE_TMPDIR=$BATS_TEST_TMPDIR
    # Calibration subtracts what the probes of a leaf that does nothing add to its own instructions, as ITrace counts both ...
    holds '$1 == "sequence" { subtracted[$2] = $4 } $1 == "own" { own[$2] = $3 } $1 == "interval" { all[$2] = $3 }
        END { exit !(subtracted["jEnjExj"] > 50 && subtracted["jEnjExj"] == all["nothing"] - own["nothing"] &&
                     subtracted["jEnJExj"] > 50 && subtracted["jEnJExj"] == all["nothingEither"] - own["nothingEither"]) }'
    # ... so that this is left: at most a NOP where no value is kept.
    holds '$1 == "base" { base[$2] = $3; if ($4 < 90) bad = 1 } $1 == "own" { own[$2] = $3 } $1 == "explained" { explained[$2] = $3 }
        $1 == "more" || $1 == "less" { named[$2] += $1 == "more" ? 1 : -1 }
        ($1 == "more" || $1 == "less") && $2 ~ /^(nothing|nothingEither|count)$/ && $3 != "nop" { bad = 1 }
        END { for (leaf in base) { n++; d = base[leaf] - own[leaf]; some += d != 0
                  most = leaf ~ /^(nothing|nothingEither|count)$/ ? 1 : 3
                  if (d != explained[leaf] || d != named[leaf] + 0 || d > most || d < -most || own[leaf] < 5) bad = 1 }
              exit bad || n != 7 || !some }'
}

# Other sequences contain what the JVM or the agent itself does there, and are not calibrated by their own minimum.
# bats test_tags=long
@test "minimum and mode of each trained sequence are the same in ten runs, interpreted, compiled and in C" {
    boot_all --icount --timeout 3600 -- tests/lab/callflow-icount-repeat-guest.sh "$BUILD_DIR" 10
    ended_well
    holds '$1 == "run" { runs[$2]++; all++; if ($3 > 1) bad = 1 }
        $1 == "seq" { n[$2, $3]++; if (n[$2, $3] == 1) { minimum[$2, $3] = $5; mode[$2, $3] = $6; sequences[$2]++ }
            if ($5 != minimum[$2, $3] || $6 != mode[$2, $3]) { bad = 1; print "# differs: " $0 } }
        END { for (s in n) if (n[s] != 10) bad = 1
              exit bad || all != 40 || runs["int"] != 10 || runs["batch"] != 10 || sequences["int"] < 30 || sequences["batch"] < 80 ||
                  sequences["patched"] < 4 || sequences["instrumented"] < 4 }'
}
