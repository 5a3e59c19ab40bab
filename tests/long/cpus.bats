#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# More processors than a small machine emulates at ease: minutes on two. Not among the tests that run by themselves.

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

@test "64 processors: wrap-around mode starts, is read while it runs, and stops" {
    scripts/lab --kernel 6.1 --smp 64 --mem 6G --timeout 900 --out "$out" -- \
        tests/lab/cpus-guest.sh "$BUILD_DIR" 2 100 -t wrap -s 256K -sm 1
    [ "$(<"$out/processors")" = 64 ]
    for file in snapshot.nrm2 swtrace.nrm2; do traced "$file" 64; done
}
