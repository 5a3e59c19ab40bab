#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# After run.tprof and run.itrace end in any way, also by SIGKILL, none of their processes, traces and temporary files remain.

bats_require_minimum_version 1.5.0

setup() {
    cd "$BATS_TEST_TMPDIR" || return
    mkdir -p layout/bin layout/share/pitrace tmp
    cp "$SOURCE_DIR"/scripts/run.{tprof,itrace} layout/bin/
    cp "$SOURCE_DIR"/scripts/{lib.sh,trace.sh,java.sh} layout/share/pitrace/
    ln -s "$BUILD_DIR/bin/swtrace" "$BUILD_DIR/bin/post" layout/bin/
    [ "$(layout/bin/swtrace check --json | jq .perf_system_works)" = true ] ||
        skip "needs perf_event_open for the whole system"
}

teardown() {
    [ ! -s command.pid ] || kill -9 "$(cat command.pid)" 2>/dev/null || true
}

# MARK in the environment identifies all processes of a script; its command runs without MARK.
start() { # start SCRIPT ARGUMENT...: sets script_pid
    env --default-signal "MARK=$PWD" "TMPDIR=$PWD/tmp" "layout/bin/$1" --source=perf "${@:2}" </dev/null >>log 2>&1 3>&- &
    script_pid=$!
}
marked() { grep -lszxF "MARK=$PWD" /proc/[0-9]*/environ || true; }

nothing_is_left() {
    local deadline=$((SECONDS + 20))
    while [ -n "$(marked)" ] || [ -n "$(ls -A tmp)" ]; do
        if ((SECONDS >= deadline)); then
            cat log
            ls -R tmp
            for environment in $(marked); do tr '\0' ' ' <"${environment%/*}/cmdline" && echo; done
            return 1
        fi
        sleep 0.2
    done
}

# wait_for FILE: waits until the file is not empty; fails if the script ends before.
wait_for() {
    until [ -s "$1" ]; do
        kill -0 "$script_pid" || { cat log; return 1; }
        sleep 0.02
    done
}

# A command that writes its process id to command.pid and runs until it is killed.
# shellcheck disable=SC2016 # expanded by the command's shell
command=(env -u MARK sh -c 'echo $$ >command.pid; exec sleep 1000')

@test "after SIGKILL of run.tprof or run.itrace only the command remains, and it keeps running" {
    for script in run.tprof run.itrace; do
        rm -f command.pid
        start "$script" --no-java -o out -- "${command[@]}"
        wait_for command.pid
        ls tmp/*/run/recorder
        kill -9 "$script_pid"
        nothing_is_left
        kill -0 "$(cat command.pid)"
        kill -9 "$(cat command.pid)"
    done
}

@test "SIGKILL of run.tprof while it waits leaves nothing" {
    sleep 1000 3>&- &
    echo $! >command.pid
    for options in "-p $!" "-p $! -r 900" '-s 0 -r 900' '-s 900'; do
        : >log
        # shellcheck disable=SC2086
        start run.tprof -o out $options
        if [ "$options" = '-s 900' ]; then
            until compgen -G 'tmp/*/run' >/dev/null; do sleep 0.02; done
        else
            until grep -q tracing log; do kill -0 "$script_pid" && sleep 0.02; done
        fi
        kill -9 "$script_pid"
        nothing_is_left
    done
}

@test "SIGKILL of run.tprof at its start leaves nothing, and its command does not start" {
    for delay in 0.03 0.06 0.09 0.12; do
        rm -f command.pid
        start run.tprof --no-java -o out -- "${command[@]}"
        sleep "$delay"
        kill -9 "$script_pid"
        nothing_is_left
        if [ -s command.pid ]; then kill -9 "$(cat command.pid)"; fi
    done
}

@test "run.tprof leaves nothing after a signal to its whole process group" {
    for signal in TERM HUP KILL; do
        rm -f command.pid
        # Job control gives the script its own process group.
        set -m
        start run.tprof --no-java -o out -- "${command[@]}"
        set +m
        wait_for command.pid
        kill -"$signal" -- -"$script_pid"
        nothing_is_left
        # The command may still be a zombie.
        until ! grep -q '^State:.[^Z]' "/proc/$(cat command.pid)/status"; do sleep 0.05; done
    done
}
