#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# mpevt from the command line, with software events, whose counts the kernel also shows elsewhere.

bats_require_minimum_version 1.5.0

setup() {
    # shellcheck source=tests/support/other_user.bash
    source "$SOURCE_DIR/tests/support/other_user.bash"
    PATH="$BUILD_DIR/bin:$PATH"
    export PITRACE_COUNTERS="$BATS_TEST_TMPDIR/counters"
    export PITRACE_EVENTS="$BATS_TEST_TMPDIR/none"
    cd "$BATS_TEST_TMPDIR" || return
}

teardown() {
    mpevt term >/dev/null 2>&1 || true
    [ -z "${public:-}" ] || rm -rf "$public"
}

needs_counting() {
    mpevt -l | grep -q ' page-faults$' || skip "needs the right to count the whole system"
}

# Context switches of the whole system so far, from /proc/stat.
switches() {
    awk '$1 == "ctxt" { print $2 }' /proc/stat
}

total() { # total EVENT
    mpevt read --json "$1" | jq .events[0].total
}

# The pid of the daemon, from the lock file next to its socket.
daemon() {
    cat "$PITRACE_COUNTERS.lock"
}

@test "-l lists id and name of the events that can be counted, -ld also a description, -ls those that can be sampled" {
    needs_counting
    run --separate-stderr mpevt -l
    [ "$status" -eq 0 ]
    [ "${lines[0]}" = "   Id  Name" ]
    [ "${lines[1]}" = "  ---  ----------------" ]
    # The only classic event that the kernel itself counts.
    grep -qx '  125  MISALIGN_MEM_REF' <<<"$output"
    grep -qx '    -  page-faults' <<<"$output"
    run --separate-stderr mpevt -ld
    [ "$status" -eq 0 ]
    grep -qE '^  125  MISALIGN_MEM_REF +unaligned memory accesses .*\(alignment-faults\)$' <<<"$output"
    run --separate-stderr mpevt -ls
    [ "$status" -eq 0 ]
    grep -qx '    -  page-faults' <<<"$output"
    mpevt -l --json 2>/dev/null | jq -e '(.hardware_counters | type == "number")
        and any(.events[]; .id == 125) and any(.events[]; .name == "page-faults" and .id == null)'
}

@test "the count of all CPUs agrees with the kernel's own count of the same interval" {
    needs_counting
    outer=$(switches)
    mpevt start context-switches
    inner=$(switches)
    for _ in {1..50}; do sleep 0.01; done
    inner=$(($(switches) - inner))
    mpevt stop
    outer=$(($(switches) - outer))
    count=$(total context-switches)
    echo "$inner <= $count <= $outer"
    ((inner <= count && count <= outer))
}

@test "stop keeps the count, start continues it, reset sets it to 0, term ends counting" {
    needs_counting
    mpevt start context-switches page-faults
    sleep 0.1
    mpevt stop context-switches
    run mpevt read context-switches
    [ "${lines[0]}" = " context-switches (stopped)" ]
    [[ "${lines[1]}" == "   CPU "*"Count"*"Seconds" ]]
    before=$(total context-switches)
    ((before > 0))
    sleep 0.1
    [ "$(total context-switches)" -eq "$before" ]
    mpevt start context-switches
    sleep 0.1
    (($(total context-switches) > before))
    mpevt stop context-switches
    mpevt reset context-switches
    [ "$(total context-switches)" -eq 0 ]
    (($(total page-faults) > 0))
    mpevt term context-switches
    run mpevt read context-switches
    [ "$status" -eq 1 ]
    [[ "$output" == *"'context-switches' is not being counted. The counted events are: page-faults."* ]]
    mpevt read page-faults
    mpevt term
    run mpevt read
    [ "$status" -eq 1 ]
    [[ "$output" == *"No counter daemon runs; start one with 'mpevt start EVENT'."* ]]
    [ ! -e "$PITRACE_COUNTERS" ]
}

@test "the table has every CPU and their sum" {
    needs_counting
    mpevt start page-faults
    sleep 0.05
    mpevt stop
    run mpevt read
    [ "$(grep -cE '^ +[0-9]+ +[0-9]+ +[0-9]+\.[0-9]{3}$' <<<"$output")" -eq "$(getconf _NPROCESSORS_ONLN)" ]
    awk '$1 ~ /^[0-9]+$/ { sum += $2 } $1 == "All" { all = $2 } END { exit !(sum == all && sum > 0) }' <<<"$output"
    mpevt read --json | jq -e '.events[0] | .total == ([.cpus[].count] | add) and .counting == false
        and .privilege == "both" and .gaps == []'
}

@test "start starts all named events or none" {
    needs_counting
    run mpevt start page-faults no-such-event
    [ "$status" -eq 1 ]
    [[ "$output" == *"no-such-event"* ]]
    run mpevt read
    [[ "$output" == *"No counter daemon runs"* ]]
    mpevt start page-faults
    run mpevt start context-switches page-faults
    [ "$status" -eq 1 ]
    [[ "$output" == *"'page-faults' is being counted already."* ]]
    [ "$(mpevt read --json | jq -c '[.events[].name]')" = '["page-faults"]' ]
}

@test "starting a hardware event without hardware counters reports that and fails" {
    needs_counting
    [ "$(mpevt -l --json 2>/dev/null | jq .hardware_counters)" -eq 0 ] || skip "this machine has counters"
    for event in INSTR cpu-cycles 102; do
        run mpevt start "$event"
        [ "$status" -eq 1 ]
        [[ "$output" == *"'$event' cannot be counted here"*"virtual machine without hardware counters"* ||
            "$output" == *"'INSTR' cannot be counted here"* ]]
    done
    run mpevt start UOPS
    [ "$status" -eq 1 ]
    [[ "$output" == *"no counter for"* ]]
    run --separate-stderr mpevt -l
    # shellcheck disable=SC2154 # run sets it
    [[ "$stderr" == *"there are no hardware counters"* ]]
}

@test "user-defined events are listed and counted, also by a daemon that already runs" {
    needs_counting
    printf '# ours\nOUR_FAULTS page-faults faults of all processes\nSWITCHES\tcontext-switches\n' >ours
    run --separate-stderr mpevt -ld --events ours
    grep -qE '^    -  OUR_FAULTS +faults of all processes$' <<<"$output"
    grep -qE '^    -  SWITCHES +context-switches$' <<<"$output"
    mpevt start --events ours OUR_FAULTS
    mpevt start --events ours SWITCHES
    sleep 0.05
    (($(total OUR_FAULTS) > 0))
    (($(total SWITCHES) > 0))
    mpevt term
    export PITRACE_EVENTS=$PWD/ours
    mpevt start OUR_FAULTS
    mpevt term
}

@test "a wrong definitions file is reported with its line: it is an error if --events names it, else it is left out" {
    needs_counting
    printf 'A page-faults\nB\n' >wrong
    run mpevt -l --events wrong
    [ "$status" -eq 1 ]
    [[ "$output" == *"wrong:2: 'B' has no event after it."* ]]
    PITRACE_EVENTS=wrong run --separate-stderr mpevt -l
    [ "$status" -eq 0 ]
    [[ "$stderr" == *"wrong:2:"*"are ignored"* ]]
    [ "$(grep -c ' A$' <<<"$output")" -eq 0 ]
    mkfifo pipe
    for file in pipe /dev/zero . missing; do
        run mpevt -l --events "$file"
        [ "$status" -eq 1 ]
        [[ "$output" == *"cannot be read"* ]]
    done
}

@test "after the daemon was killed, read reports it and start works again" {
    needs_counting
    mpevt start page-faults
    kill -9 "$(daemon)"
    run mpevt read
    [ "$status" -eq 1 ]
    [[ "$output" == *"the last one was killed and lost its counts"* ]]
    mpevt start page-faults
    kill -TERM "$(daemon)"
    while [ -e "$PITRACE_COUNTERS" ]; do sleep 0.05; done
    run mpevt read
    [[ "$output" == *"No counter daemon runs"* ]]
}

@test "two concurrent starts end with one daemon that counts both events" {
    needs_counting
    for _ in {1..5}; do
        mpevt start page-faults &
        mpevt start context-switches &
        wait
        [ "$(mpevt read --json | jq -c '[.events[].name] | sort')" = '["context-switches","page-faults"]' ]
        mpevt term
    done
}

@test "a user without the right to count system-wide gets the remedy" {
    [ "$(id -u)" -eq 0 ] || skip "needs root to become another user"
    (($(cat /proc/sys/kernel/perf_event_paranoid) > 0)) || skip "every user may count"
    make_public "$BUILD_DIR/bin/mpevt" "$BUILD_DIR/lib/libperfutil.so.0"
    run as_nobody env -u PITRACE_COUNTERS mpevt start page-faults
    [ "$status" -eq 1 ]
    [[ "$output" == *"This user may not count 'page-faults'"*"perf_event_paranoid"* ]]
    run as_nobody env -u PITRACE_COUNTERS mpevt -l
    [ "$status" -eq 1 ]
    [[ "$output" == *"This user cannot count any event on this machine: "* ]]
}

@test "pipcntr is the classic name of mpevt" {
    needs_counting
    pipcntr start page-faults
    run pipcntr show
    [ "$status" -eq 0 ]
    [ "${lines[0]}" = " page-faults (counting)" ]
    pipcntr term
    run pipcntr nonsense
    [ "$status" -eq 255 ]
    [[ "$output" == "pipcntr: error: "* ]]
    run pipcntr --help
    [[ "$output" == "Usage: pipcntr "* ]]
}

@test "wrong use exits 255 and reports the error" {
    for words in '' 'start' 'count x' '-l start' '-l -ld' 'start -priv all page-faults' 'read -priv user' \
        'stop --json' 'read --events x' 'start page-faults page-faults' '--xml'; do
        # shellcheck disable=SC2086
        run mpevt $words
        [ "$status" -eq 255 ] || { echo "$words: $status: $output"; false; }
        [[ "$output" == *"mpevt: error: "* ]]
    done
    run mpevt start ''
    [ "$status" -eq 255 ]
}

@test "help goes to standard output" {
    for word in --help '-?' '-??'; do
        run --separate-stderr mpevt "$word"
        [ "$status" -eq 0 ]
        [[ "$output" == "Usage: mpevt "* ]]
    done
}
