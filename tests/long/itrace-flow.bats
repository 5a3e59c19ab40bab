#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# run.itrace in real kernels, compared with other counts: callgrind's instructions, and the program's own log of calls.
# Always with -cont, so that a missing branch makes a sum wrong.

kernels=(6.1 6.12)
# shellcheck source=tests/lab/guests.bash
source "$BATS_TEST_DIRNAME/../lab/guests.bash"
# shellcheck source=tests/support/against_callgrind.bash
source "$BATS_TEST_DIRNAME/../support/against_callgrind.bash"

setup_file() {
    cd "$BATS_TEST_DIRNAME/../.." || return 1
    : "${BUILD_DIR:?must be the build folder}"
    cmake --install "$BUILD_DIR" --prefix "$BATS_FILE_TMPDIR/stage" >/dev/null
    local program=$BUILD_DIR/tests/algorithms piece
    for piece in 'sort 5000' 'compress 20000' 'match 500'; do
        # shellcheck disable=SC2086 # a workload and its size
        count_by_callgrind "$BATS_FILE_TMPDIR/${piece% *}" "$program" $piece || return
    done
    count_by_callgrind "$BATS_FILE_TMPDIR/narrow" "$program" sort 45000
    FUNCTION_LOG=$BATS_FILE_TMPDIR/entered "$BUILD_DIR/tests/instrumented" sort 300
    boot_all --single-thread --timeout 1200 -- tests/lab/itrace-flow-guest.sh "$BATS_FILE_TMPDIR/stage" "$BUILD_DIR/tests"
}

# figure FILE NAME: the number after NAME in an arc's head.
figure() {
    awk -v name="$2" '{ line = $0; sub(/^# */, "", line) }
        index(line, name) == 1 { split(substr(line, length(name) + 1), rest, " "); print rest[1]; exit }' "$1"
}

# counted_alike NAME: each function of the program has the instruction count that callgrind reports.
counted_alike() {
    local kernel out
    promised "followed-$1"
    for kernel in "${kernels[@]}"; do
        out=$BATS_FILE_TMPDIR/out-$kernel
        own_functions "$BUILD_DIR/tests/algorithms" "$out/$1.functions" | only_of_source >"$BATS_TEST_TMPDIR/found"
        diff <(only_of_source <"$BATS_FILE_TMPDIR/$1") "$BATS_TEST_TMPDIR/found"
        [ "$(wc -l <"$BATS_TEST_TMPDIR/found")" -ge 5 ]
    done
}

# whole NAME: its arc is complete.
whole() {
    local kernel head
    for kernel in "${kernels[@]}"; do
        head=$BATS_FILE_TMPDIR/out-$kernel/$1.head
        [ "$(figure "$head" 'Imperfect blocks')" = 0 ]
        [ "$(figure "$head" different)" = 0 ]
    done
}

setup() { cd "$SOURCE_DIR" || return; }

@test "the guest finishes, and its kernel reports no error" {
    promised finished
    ended_well
}

@test "instructions per function of a sort agree with callgrind, with kernel code followed too" {
    counted_alike sort
    whole sort
}

@test "instructions per function of a compressor agree with callgrind" {
    counted_alike compress
    whole compress
}

@test "instructions per function of a regular-expression matcher agree with callgrind" {
    counted_alike match
    whole match
}

@test "calls and returns have the order that the program itself logs" {
    local kernel
    promised followed-in-order
    nm "$BUILD_DIR/tests/instrumented" | awk '$2 ~ /[tT]/ { print "0x" $1, $3 }' >"$BATS_TEST_TMPDIR/symbols"
    for kernel in "${kernels[@]}"; do
        awk 'NR == FNR { sub(/^0x0*/, "0x", $1); name[$1] = $2; next } { print $1, name[$2] }' \
            "$BATS_TEST_TMPDIR/symbols" "$BATS_FILE_TMPDIR/entered" >"$BATS_TEST_TMPDIR/truth"
        # After a CALL line the next line's function has been entered; a RETURN line leaves its own function.
        awk -v names="$(functions_of_source | tr '\n' ' ')" '
            BEGIN { count = split(names, list, " "); for (i = 1; i <= count; i++) own[list[i]] = 1 }
            called && ($2 in own) { print "+", $2 }
            { called = $1 == "CALL" }
            $1 == "RETURN" && ($2 in own) { print "-", $2 }' "$BATS_FILE_TMPDIR/out-$kernel/order" >"$BATS_TEST_TMPDIR/found"
        [ "$(wc -l <"$BATS_TEST_TMPDIR/truth")" -gt 900 ]
        cmp "$BATS_TEST_TMPDIR/truth" "$BATS_TEST_TMPDIR/found"
    done
}

@test "a million branches through the smallest buffers are complete and consecutive" {
    local kernel
    counted_alike narrow
    whole narrow
    for kernel in "${kernels[@]}"; do
        [ "$(figure "$BATS_FILE_TMPDIR/out-$kernel/narrow.head" Branches)" -gt 1000000 ]
    done
}

@test "a thread that waits for buffer space can be killed" {
    promised a-delayed-thread-waits-and-can-be-killed
}

@test "one flow goes from compiled Java code through the C library into the kernel and back" {
    local kernel
    promised followed-from-java
    for kernel in "${kernels[@]}"; do
        # The names must occur in this order; other methods and functions may be between them.
        awk '
            step == 0 && $7 ~ /^Writer\.put\(.*:JITCODE$/ { step = 1 }
            step == 1 && $7 ~ /^(__)?(GI___)?(libc_)?write:.*\/libc\.so/ { step = 2 }
            step == 2 && $2 == "K" && $7 ~ /^(ksys|vfs)_write:/ { step = 3 }
            step == 3 && $2 == "U" && $7 ~ /^(__)?(GI___)?(libc_)?write:.*\/libc\.so/ { step = 4 }
            step == 4 && $7 ~ /^Writer\.put\(.*:JITCODE$/ { step = 5; exit }
            END { if (step != 5) { print "got to step " step + 0; exit 1 } }' "$BATS_FILE_TMPDIR/out-$kernel/java.arc"
    done
}
