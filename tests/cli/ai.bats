#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# swtrace ai from the command line: lines, options, signals.

setup() {
    # shellcheck source=tests/support/other_user.bash
    source "$SOURCE_DIR/tests/support/other_user.bash"
    PATH="$BUILD_DIR/bin:$PATH"
    cd "$BATS_TEST_TMPDIR" || return
}

teardown() {
    [ -z "${public:-}" ] || rm -rf "$public"
}

@test "each sample has a line in the classic form for every CPU, which adds up to 100 percent" {
    run swtrace ai 1 2
    [ "$status" -eq 0 ]
    cpus=$(getconf _NPROCESSORS_ONLN)
    line='^CPU [0-9]+ IDLE= [0-9]+\.[0-9]{2}, BUSY= [0-9]+\.[0-9]{2}, INTR= [0-9]+\.[0-9]{2}$'
    [ "$(grep -cE "$line" <<<"$output")" -eq $((2 * cpus)) ]
    grep -E "$line" <<<"$output" | tr -d , | awk '{ sum = $4 + $6 + $8; if (sum < 99.995 || sum > 100.005) exit 1 }'
    [ "$(grep -vcE "$line|^\*\* " <<<"$output")" -eq 0 ]
    [[ "$output" == *"** Source: "* ]]
    [[ "$output" == *"** Interval:   1 seconds"* ]]
    [[ "$output" == *"** Ended after 2 samples"* ]]
}

@test "-s prints one line for the system, -sp both, -t the time before each line" {
    run swtrace ai 1 1 -s
    [ "$(grep -c '^System IDLE= ' <<<"$output")" -eq 1 ]
    [ "$(grep -c '^CPU ' <<<"$output")" -eq 0 ]
    run swtrace ai 1 1 -sp -t
    stamp='^[A-Z][a-z]{2} [A-Z][a-z]{2} [ 0-9][0-9] [0-9:]{8} [0-9]{4} '
    [ "$(grep -cE "${stamp}System IDLE= " <<<"$output")" -eq 1 ]
    [ "$(grep -cE "${stamp}CPU [0-9]+ IDLE= " <<<"$output")" -eq "$(getconf _NPROCESSORS_ONLN)" ]
}

@test "-l writes the same to a new file, which replaces a link of that name" {
    echo precious >target
    ln -s target log
    swtrace ai 1 1 -l log >out
    diff out log
    [ ! -L log ]
    [ "$(cat target)" = precious ]
    run swtrace ai 1 1 -l missing/log
    [ "$status" -eq 1 ]
}

@test "-r sets a run time instead of the number of samples" {
    run swtrace ai 1 -r 2s -s
    [ "$status" -eq 0 ]
    [ "$(grep -c '^System' <<<"$output")" -eq 2 ]
}

@test "--json prints one object for each sample, with its source" {
    swtrace ai 1 2 --json -sp >out
    [ "$(wc -l <out)" -eq 2 ]
    jq -e '.source and (.intr_is_tick_based | type == "boolean") and (.cpus | length > 0)
        and ([.cpus[], .system] | all((.idle + .busy + .intr - 100 | fabs) < 0.001))' out
    # Numbers that /proc/stat does not have are missing, not 0.
    jq -e '(.source == "hooks") as $counted
        | [.cpus[], .system] | all(has("dispatches") == $counted and has("interrupts") == $counted)' out
}

@test "after SIGINT, SIGQUIT or SIGTERM swtrace ai prints the closing line and exits 0" {
    for signal in INT QUIT TERM; do
        # A shell's background jobs ignore SIGINT, except with job control.
        set -m
        swtrace ai 1 >"out.$signal" &
        pid=$!
        set +m
        for ((i = 0; i < 600; i++)); do if grep -q IDLE= "out.$signal"; then break; fi && sleep 0.05; done
        kill -"$signal" "$pid"
        wait "$pid" && status=0 || status=$?
        [ "$status" -eq 0 ]
        [[ "$(tail -n 1 "out.$signal")" =~ ^"** Ended after "[1-9][0-9]*" samples: " ]]
    done
}

@test "swtrace ai ends when its output pipe is closed" {
    swtrace ai 1 --json | head -n 1 | jq -e .cpus
}

@test "swtrace ai needs neither root nor a recorder" {
    [ "$(id -u)" -eq 0 ] || skip "needs root to become another user"
    make_public "$BUILD_DIR/bin/swtrace" "$BUILD_DIR/lib/libperfutil.so.0"
    run as_nobody env -u PITRACE_SOCKET swtrace ai 1 1 -s
    [ "$status" -eq 0 ]
    [[ "$output" == *"/proc/stat"*"tick-based"* ]]
    [[ "$output" == *"System IDLE= "* ]]
}

@test "wrong use exits 255 and reports the error" {
    for words in 'ai 0' 'ai x' 'ai 1.5' 'ai 1 0' 'ai 1 2 3' 'ai 1 2 -r 5' 'ai 10 -r 5' 'ai -r 1w' 'ai 1 1 -l -x' 'ai --xml'; do
        # shellcheck disable=SC2086
        run swtrace $words
        [ "$status" -eq 255 ] || { echo "$words: $status"; false; }
        [[ "$output" == *"swtrace: error: "* ]]
    done
}
