#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# post --import of copied stacks (perf record --call-graph dwarf): shares, and many kinds of programs compared with perf script.

bats_require_minimum_version 1.5.0

setup_file() {
    export PATH="$BUILD_DIR/bin:$BUILD_DIR/tests:$PATH" DEBUGINFOD_URLS=
    type -P perf >/dev/null || skip "needs perf"
    cd "$BATS_FILE_TMPDIR" || return
    export HOME=$BATS_FILE_TMPDIR
    perf record -q -e cpu-clock --call-graph dwarf -o tried.data true 2>/dev/null || skip "perf cannot record here"
}

setup() {
    load "$BATS_TEST_DIRNAME/../support/perf_stacks.bash"
    load "$BATS_TEST_DIRNAME/../support/known_stacks.bash"
    cd "$BATS_FILE_TMPDIR" || return
}

@test "the shares of a known call tree are within two points" {
    cp "$BUILD_DIR/tests/plain_calls" plain
    perf record -q -e cpu-clock -F 997 --call-graph dwarf -o shares.data ./plain 11 >/dev/null
    post --import shares.data --folded --clip 0
    own_frames plain tprof.folded | has_shares 2 10000
}

# compare NAME PROGRAM...: every stack of perf is ours, or its inner frames: perf's own library does not find more.
compare() {
    local name=$1
    shift
    perf record -q -e cpu-clock -F 499 --call-graph dwarf -o "$name.data" "$@" >/dev/null
    post --import "$name.data" -showx
    perf_stacks "$name.data" >of_perf
    post_stacks post.show >own
    paste -d '|' of_perf own | awk -F '|' -v name="$name" '
        $1 == $2 { ++equal; next }
        index($2, $1 " ") == 1 { ++longer; next }
        { if (++other <= 3) print "perf: " $1 "\npost: " $2 }
        END { printf "%s: %d stacks are equal, %d go on where those of perf end, %d differ\n", name, equal, longer, other
            exit equal + longer < 20 || other > (equal + longer) / 100 }' | tee -a summary
    rm "$name.data"
}

@test "stacks of many programs are those of perf script, or go on where those end" {
    compare gcc gcc -O2 -c -o x.o -x c++ -include iostream -include map -include regex /dev/null
    compare xz xz -6 -k -c /usr/lib/x86_64-linux-gnu/libc.so.6
    compare shell bash -c 'for i in {1..300}; do x=$(echo $i); done'
    compare unframed "$BUILD_DIR/tests/unframed" 2
    compare sort sh -c 'seq 600000 | sort -R | sort -n'
    compare perl perl -e 'my %h; $h{$_ % 997} .= chr(65 + $_ % 26) for 1..1500000; print length join "", values %h'
    cat summary
}

@test "the whole system" {
    [ "$(swtrace check --json | jq .perf_system_works)" = true ] || skip "needs perf_event_open for the whole system"
    perf record -q -a -e cpu-clock -F 199 --call-graph dwarf -o all.data sh -c 'seq 300000 | sort -R | sort -n' >/dev/null
    post --import all.data --json --folded
    [ "$(jq .ticks tprof.json)" -gt 100 ]
    grep -q 'sort_[0-9a-f]*;.*main' tprof.folded
    rm all.data*
}
