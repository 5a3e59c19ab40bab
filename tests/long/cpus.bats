#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# More processors, and more threads, than a small machine emulates quickly: takes minutes on two processors, so it has the label long.

setup() {
    cd "$BATS_TEST_DIRNAME/../.." || return
    : "${BUILD_DIR:?must be the build folder}"
    # shellcheck source=tests/support/profile.bash
    source "$SOURCE_DIR/tests/support/profile.bash"
    out=$BATS_TEST_TMPDIR/out
}

@test "wrap-around mode starts, is read while it runs, and stops on 64 processors" {
    scripts/lab --kernel 6.1 --smp 64 --mem 6G --timeout 900 --out "$out" -- \
        tests/lab/cpus-guest.sh "$BUILD_DIR" 2 100 -t wrap -s 256K -sm 1
    [ "$(<"$out/processors")" = 64 ]
    for file in snapshot.nrm2 swtrace.nrm2; do check_processors "$out" "$file" 64; done
}

@test "a hundred thousand threads: PTT has an account for each, traces and ITrace begin and end in seconds" {
    run scripts/lab --kernel 6.12 --single-thread --mem 10G --timeout 1700 --out "$out" -- tests/lab/crowd-guest.sh "$BUILD_DIR" 100000
    echo "$output"
    echo "$output" | grep '^took ' | sed 's/^/# /' >&3
    [ "$status" -eq 0 ]
    [[ $output != *"not ok"* ]]
    [[ $output == *"ok finished"* ]]
}
