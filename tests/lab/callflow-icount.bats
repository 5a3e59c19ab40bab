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
    # PTT_CYCLES of the module has no interrupt but the part before its first hook, some hundred instructions.
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

# bats test_tags=long
@test "a compiled method that does nothing costs less than two instructions; without calibration fifty times as much" {
    run_guests 40000 -Xbatch -XX:CompileCommand=quiet -XX:CompileCommand=dontinline,Leaves.*
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
