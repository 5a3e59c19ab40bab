#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Many processors, and buffers that are larger than the free memory.

setup() {
    cd "$BATS_TEST_DIRNAME/../.." || return
    : "${BUILD_DIR:?must be the build folder}"
    # shellcheck source=tests/support/profile.bash
    source "$SOURCE_DIR/tests/support/profile.bash"
    out=$BATS_TEST_TMPDIR/out
    kernel=${LAB_KERNELS:-6.12}
}

@test "continuous mode records on 8 processors" {
    scripts/lab --kernel "$kernel" --smp 8 --single-thread --timeout 600 --out "$out" -- \
        tests/lab/cpus-guest.sh "$BUILD_DIR" 5 500 -t cont -s 256K -sm 1 -ss 16
    [ "$(<"$out/processors")" = 8 ]
    check_processors "$out" swtrace.nrm2 8
}

@test "a buffer that is too large is refused, and the message names the largest size, which works" {
    run scripts/lab --kernel "$kernel" --single-thread -- tests/lab/too-large-guest.sh "$BUILD_DIR"
    echo "$output"
    [ "$status" -eq 0 ]
    [[ $output != *"not ok"* ]]
    [ "$(grep -c '^ok ' <<<"$output")" -eq 6 ]
}
