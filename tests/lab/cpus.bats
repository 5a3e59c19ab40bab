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

# traced FILE PROCESSORS: the trace has so many processors, ticks of each, and is whole.
traced() {
    (cd "$out" && "$BUILD_DIR/bin/post" --json -clip 0 -cpu -r "$1") || return
    jq -c '{trace, damage, records, losses: (.losses | del(.gaps))}' "$out/tprof.json"
    check_accounts "$out/tprof.json"
    jq -e --argjson n "$2" '.damage.places == 0 and .losses.lost == 0 and .unresolved.no_module == 0
        and .trace.processors == $n
        and ([.reports[] | select(.title == "Process") | .rows[].name | sub(".*_"; "")] | unique | length) == $n' \
        "$out/tprof.json"
}

@test "8 processors: continuous mode" {
    scripts/lab --kernel 6.12 --smp 8 --timeout 600 --out "$out" -- \
        tests/lab/cpus-guest.sh "$BUILD_DIR" 5 500 -t cont -s 256K -sm 1 -ss 16
    [ "$(<"$out/processors")" = 8 ]
    traced swtrace.nrm2 8
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
