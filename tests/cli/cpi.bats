#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# cpi from the command line, without hardware counters; tests/lab measures with counters of known rates.

bats_require_minimum_version 1.5.0

setup() {
    PATH="$BUILD_DIR/bin:$PATH"
    cd "$BATS_TEST_TMPDIR" || return
}

needs_no_counters() {
    [ "$(mpevt -l --json 2>/dev/null | jq .hardware_counters)" = 0 ] || skip "this machine has hardware counters"
}

@test "without hardware counters cpi reports that and fails, and does not run the command" {
    needs_no_counters
    run cpi -- touch ran
    [ "$status" -eq 1 ]
    [[ "$output" == "cpi: error: 'cpu-cycles' cannot be counted here"*"without hardware counters"* ]]
    [ ! -e ran ]
    run cpi -a -- touch ran
    [ "$status" -eq 1 ]
    [ ! -e ran ]
    run cpi -i 0.1
    [ "$status" -eq 1 ]
    [[ "$output" == "cpi: error: "* ]]
}

@test "wrong use exits 255 and reports the error" {
    for words in '' 'true' '-i' '-i 0' '-i x' '-i nan' '-i 1 -- true' '-n 2 -- true' '-i 1 -n -1' '-i 1 -n x' '-i 1 -a' \
        '-s -- true' '-priv all -- true' '--' '--xml'; do
        # shellcheck disable=SC2086
        run cpi $words
        [ "$status" -eq 255 ] || { echo "$words: $status: $output"; false; }
        [[ "$output" == *"cpi: error: "* ]]
    done
}

@test "--help goes to standard output; after -- it belongs to the command" {
    for word in --help '-?' '-??'; do
        run --separate-stderr cpi "$word"
        [ "$status" -eq 0 ]
        [[ "$output" == "Usage: cpi "* ]]
    done
    needs_no_counters
    run cpi -- touch --help
    [ "$status" -eq 1 ]
}
