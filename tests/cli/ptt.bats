#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# ptt, pttstats and swtrace ptt_int from the command line without the module; tests/lab/ptt.bats tests them with it.

setup() {
    PATH="$BUILD_DIR/bin:$PATH"
    cd "$BATS_TEST_TMPDIR" || return
}

without_module() {
    [ ! -e /dev/pitrace ] || skip "needs a machine without the module"
}

@test "without the module each command that needs it reports that and exits 1" {
    without_module
    local advice
    if [ -e /proc/modules ]; then advice="Load it with 'sudo "; else advice="no loadable modules"; fi
    for words in 'ptt init' 'ptt init -- true' 'ptt term' 'ptt info' 'ptt dump' 'ptt ints' 'ptt noints' \
        'pttstats' 'swtrace ptt_int on'; do
        # shellcheck disable=SC2086
        run $words
        [ "$status" -eq 1 ] || { echo "$words: $status $output"; false; }
        [[ "$output" == *": error: "*"$advice"* ]] || { echo "$words: $output"; false; }
    done
}

@test "help goes to standard output and names every command and option" {
    ptt --help >out 2>err
    [ ! -s err ]
    for word in init term info dump ints noints; do grep -q "^  $word" out; done
    [ "$(ptt -?)" = "$(ptt '?')" ]
    ptt dump --help >out
    for option in -pl -jtnm -allnames -sm -sp -st -sd -si -cpi; do grep -q -- " -$option\|$option" out; done
    pttstats --help | grep -q -- '-m'
    ptt --version | grep -q '^ptt '
    pttstats --version | grep -q '^pttstats '
}

@test "wrong use exits 255 and reports the error" {
    for words in 'ptt' 'ptt start' 'ptt init -threads 5' 'ptt init -threads many' 'ptt init a b c d e f g h i' \
        'ptt init --' 'ptt term now' 'ptt dump -sm 9' 'ptt dump -sm 0' 'ptt dump -sm 1 -sp' 'ptt dump -a -d' \
        'ptt dump -t 0' 'ptt dump -r x' 'ptt dump -s 1.5' 'ptt dump -pl 1,,2' 'ptt dump 5' 'pttstats -m 0' \
        'pttstats -m 12' 'pttstats now' 'swtrace ptt_int' 'swtrace ptt_int perhaps'; do
        # shellcheck disable=SC2086
        run $words
        [ "$status" -eq 255 ] || { echo "$words: $status"; false; }
        [[ "$output" == *": error: "* ]] || { echo "$words: $output"; false; }
    done
}

@test "unknown metrics are refused by name" {
    run ptt init NO_SUCH_THING
    [ "$status" -eq 1 ]
    [[ "$output" == *"NO_SUCH_THING"* ]]
    run ptt init CYCLES cycles
    [ "$status" -eq 1 ]
    [[ "$output" == *"twice"* ]]
}

# Signals change the slot as the module's interrupts would; tests/lab/ptt.bats reads the module's own slots.
@test "20 million reads of a changing slot are never torn, and the check detects a reader that tears" {
    run "$BUILD_DIR/tests/ptttool" reads 20000000 fake
    [ "$status" -eq 0 ]
    [[ "$output" =~ ^"reads 20000000 changes "([0-9]+)" wrong 0"$ ]]
    ((BASH_REMATCH[1] > 1000))
    run "$BUILD_DIR/tests/ptttool" reads 3000000 torn
    [ "$status" -ne 0 ]
    [[ "$output" =~ " wrong "[1-9][0-9]*$ ]]
}
