#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# run.tprof's options as users type them: help, and wrong use, which is told before anything is built or traced.

setup() {
    PATH="$BUILD_DIR/bin:$PATH"
    cd "$BATS_TEST_TMPDIR" || return
}

@test "the help names every option, and the way it works when asked for" {
    run run.tprof --help
    [ "$status" -eq 0 ]
    for option in '-m time|event' '-c N' '-e EVENT' ' -g ' '--source=WHICH' '--strict'; do
        [[ "$output" == *"$option"* ]] || { echo "$option"; false; }
    done
    run run.tprof -h verbose
    [[ "$output" == *"swtrace setrate (or event)"* ]]
}

@test "wrong use exits 255, says what is wrong, and leaves nothing behind" {
    for words in '-m cycles' '-e INSTR' '-m event -c 0' '-m event -c 1000000000' '-c 10001' '-c x' '-m event -e' '-x' \
        '-m event -m time -e INSTR' '-t --strict'; do
        # shellcheck disable=SC2086
        run run.tprof $words -- true
        [ "$status" -eq 255 ] || { echo "$words: $status"; false; }
        [[ "$output" == *"run.tprof: error: "* ]]
    done
    [ -z "$(ls -A)" ]
}
