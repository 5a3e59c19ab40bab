#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Many processors, and buffers for which there is no memory.

setup() {
    cd "$BATS_TEST_DIRNAME/../.." || return
    : "${BUILD_DIR:?is the folder that the tests were built in}"
    # shellcheck source=tests/support/profile.bash
    source "$SOURCE_DIR/tests/support/profile.bash"
    out=$BATS_TEST_TMPDIR/out
}

@test "8 processors: continuous mode" {
    scripts/lab --kernel 6.12 --smp 8 --timeout 600 --out "$out" -- \
        tests/lab/cpus-guest.sh "$BUILD_DIR" 5 500 -t cont -s 256K -sm 1 -ss 16
    [ "$(<"$out/processors")" = 8 ]
    check_processors "$out" swtrace.nrm2 8
}

@test "buffers that are too large are refused, the largest that fits is named and fits" {
    for kernel in 6.1 6.12; do
        run scripts/lab --kernel "$kernel" -- tests/lab/too-large-guest.sh "$BUILD_DIR"
        echo "$kernel: $output"
        [ "$status" -eq 0 ]
        [[ $output != *"not ok"* ]]
        [ "$(grep -c '^ok ' <<<"$output")" -eq 6 ]
    done
}
