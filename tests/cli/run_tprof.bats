#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# run.tprof's options from the command line: help, and wrong use, which is reported before anything is built or traced.

bats_require_minimum_version 1.5.0

setup() {
    # shellcheck source=tests/support/other_user.bash
    source "$SOURCE_DIR/tests/support/other_user.bash"
    PATH="$BUILD_DIR/bin:$PATH"
    cd "$BATS_TEST_TMPDIR" || return
}

teardown() {
    if [ -n "${public:-}" ]; then rm -rf "$public"; fi
}

@test "the help names every option; -h verbose also explains the steps" {
    run run.tprof --help
    [ "$status" -eq 0 ]
    for option in '-m time|event' '-c N' '-e EVENT' ' -g ' '--source=WHICH' '--strict' '-p PID' '--java' '--no-java' '--no-install'; do
        [[ "$output" == *"$option"* ]] || { echo "$option"; false; }
    done
    run run.tprof -h verbose
    [[ "$output" == *"swtrace setrate (or event)"* ]]
}

@test "--version works without a build" {
    mkdir -p tree/scripts
    cp "$SOURCE_DIR"/scripts/{run.tprof,run.itrace,lib.sh,trace.sh,java.sh} tree/scripts
    : >tree/CMakeLists.txt
    for script in run.tprof run.itrace; do
        run -0 "tree/scripts/$script" --version
        [[ "$output" == "$script (pitrace), from a source tree that is not built" ]]
    done
    [ ! -e tree/build ]
    run -0 run.tprof --version
    [[ "$output" =~ ^run.tprof\ .*[0-9]+\.[0-9]+ ]]
}

@test "wrong use exits 255, reports the error, and leaves nothing behind" {
    for words in '-m cycles' '-e INSTR' '-m event -c 0' '-m event -c 1000000000' '-c 10001' '-c x' '-m event -e' '-x' \
        '-m event -m time -e INSTR' '-t --strict' '-r 5' '-s 0' '-M other/place'; do
        # shellcheck disable=SC2086
        run run.tprof $words -- true
        [ "$status" -eq 255 ] || { echo "$words: $status"; false; }
        [[ "$output" == *"run.tprof: error: "* ]]
    done
    [ -z "$(ls -A)" ]
}

@test "-m event without -c takes the period of swtrace event" {
    [ "$(swtrace check --json | jq .perf_system_works)" = true ] ||
        skip "needs perf_event_open for the whole system"
    # As installed, beside the programs of this build: in the source tree it builds its own.
    mkdir -p layout/bin layout/share/pitrace
    cp "$SOURCE_DIR/scripts/run.tprof" layout/bin/
    cp "$SOURCE_DIR"/scripts/{lib.sh,trace.sh,java.sh} layout/share/pitrace/
    ln -s "$BUILD_DIR/bin/swtrace" "$BUILD_DIR/bin/post" layout/bin/
    period() { tr '\0' '\n' <out/swtrace.nrm2 | grep -a '^period='; }
    layout/bin/run.tprof --source=perf -t -m event -e page-faults -o out -- true
    [ "$(period)" = period=1 ]
    layout/bin/run.tprof --source=perf -t -m event -e cpu-clock -o out -- true
    [ "$(period)" = period=10000000 ]
    layout/bin/run.tprof --source=perf -t -m event -e page-faults -c 3 -o out -- true
    [ "$(period)" = period=3 ]
}

@test "-p reports and -p PID traces; options for the other one are refused" {
    for words in '-p 1 -- true' '-p -- true' '-p 1 -p' '-p 1 -s 0' '-p 0' '-p 99999999' '-p 1 --java'; do
        # shellcheck disable=SC2086
        run run.tprof $words
        [ "$status" -eq 255 ] || { echo "$words: $status"; false; }
        [[ "$output" == *"run.tprof: error: "* ]]
    done
    [ -z "$(ls -A)" ]
}

@test "a command or process that does not exist is reported before anything is traced" {
    run -127 run.tprof -- ./no-such-command
    [[ "$output" == "run.tprof: error: ./no-such-command: command not found" ]]
    run -125 run.tprof -p 4194303
    [[ "$output" == "run.tprof: error: there is no process 4194303; the number is decimal, as ps -e shows it, and hexadecimal in reports" ]]
    [ -z "$(ls -A)" ]
}

@test "--no-install installs nothing: it names the missing packages and ends" {
    [[ $SOURCE_DIR/scripts/run.tprof -ef $(readlink -f "$(type -P run.tprof)") ]] || skip "an installed run.tprof installs no packages"
    # A dpkg-query that finds no package.
    mkdir fake
    printf '#!/bin/sh\nexit 0\n' >fake/dpkg-query
    # shellcheck disable=SC2016 # expanded by the fake program
    printf '#!/bin/sh\necho called >>"$(dirname "$0")/called"; exit 1\n' >fake/apt-get
    chmod 755 fake/*
    PATH=$PWD/fake:$PATH run -125 run.tprof --no-install -- true
    [[ "$output" == *"--no-install was given"*"apt-get install g++ cmake"* ]]
    [ ! -e fake/called ]
}

@test "other users can run a tree that root built; run.tprof reports when it is outdated or not built" {
    [ "$(id -u)" -eq 0 ] || skip "needs root to become another user"
    make_public "$SOURCE_DIR/CMakeLists.txt" "$BUILD_DIR/bin/swtrace" "$BUILD_DIR/lib/libperfutil.so.0"
    mkdir -p "$public"/build/bin
    cp -R "$SOURCE_DIR/scripts" "$public"
    for program in post swtrace; do cp -L "$BUILD_DIR/bin/$program" "$public/build/bin"; done
    cp -L "$BUILD_DIR"/lib/lib{perfutil,a2n}.so.0 "$public"
    echo 'build profiler: phony' >"$public/build/build.ninja"
    (umask 077 && : >"$public/build/.lock")
    # run.tprof uses these programs to report on a trace, which is missing here.
    report() { run as_nobody "$public/scripts/run.tprof" -p -o "$public/home"; }
    report
    [ "$status" -eq 125 ]
    [[ "$output" == *"there is no $public/home/swtrace.nrm2 to report on; make one with "* && "$output" != *warning* ]]
    # The sources are newer than the build.
    printf 'rule make\n  command = false\nbuild profiler: make\n' >"$public/build/build.ninja"
    report
    [[ "$output" == *"warning: the programs in "*" are older than the sources; root can rebuild them"* ]]
    rm "$public/build/bin/post"
    report
    [ "$status" -eq 125 ]
    [[ "$output" == *"belongs to root and is not built"* ]]
    [[ "$output" != *"Permission denied"* ]]
}
