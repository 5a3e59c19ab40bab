#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Events, stacks and the names of majors from the command line, with perf.

setup() {
    PATH="$BUILD_DIR/bin:$PATH"
    export PITRACE_SOCKET="$BATS_TEST_TMPDIR/recorder"
    cd "$BATS_TEST_TMPDIR" || return
}

teardown() {
    swtrace free >/dev/null 2>&1 || true
}

needs_perf() {
    [ "$(swtrace check --json | jq .perf_system_works)" = true ] ||
        skip "needs perf_event_open for the whole system"
}

# info_of FILE KEY: the values of a key in the info section of a trace file.
info_of() {
    tr '\0' '\n' <"$1" | grep -a "^$2=" | cut -d= -f2-
}

trace_for() { # trace_for FILE COMMAND...
    local file=$1
    shift
    swtrace on
    "$@"
    swtrace off
    swtrace get "$file"
}

@test "event list shows the events that work here, and the reason for each other one" {
    run swtrace event list
    [ "$status" -eq 0 ]
    [[ "$output" == "Software events"*" page-faults "*"Not available here"*"event list --all"* ]]
    # The events that are not available: their number by reason, at the end, without their names.
    [[ "$output" =~ \ ([0-9]+)\ events:\ the\ kernel\ has\ no\ counter\ for\ it ]]
    local without_counter=${BASH_REMATCH[1]}
    [[ "$output" != *UOPS* ]]
    [ "$(sed -n '/^Not available/,$p' <<<"$output" | grep -c '^  ')" -eq 0 ]
    run swtrace event list --all
    [ "$status" -eq 0 ]
    [[ "$output" == "Software events"*" page-faults "*"Not available here"*"the kernel has no counter for it"*"104 UOPS"* ]]
    [[ "$output" == *"102 INSTR "*instructions* ]]
    # Every event has a line, and every reason is before its events.
    [ "$(grep -cE '^  1[0-9]{2} [A-Z]' <<<"$output")" -eq 95 ]
    [ "$(sed -n '/: the kernel has no counter for it$/,/^ [^ ]/p' <<<"$output" | grep -c '^  1')" -eq "$without_counter" ]
}

@test "without -c the period fits the event, and the answer and info contain it" {
    needs_perf
    swtrace init --source perf
    for event in page-faults context-switches cpu-migrations faults; do
        run swtrace event "$event"
        [ "$output" = "Tprof event: $event, one tick for each event (the default; -c COUNT changes it)" ]
    done
    run swtrace event cpu-clock
    [ "$output" = "Tprof event: cpu-clock, one tick every 10000000 events (the default; -c COUNT changes it)" ]
    run swtrace info
    [[ "$output" == *"Tprof event         : cpu-clock, one tick every 10000000 events"* ]]
    run swtrace event page-faults -c 7
    [ "$output" = "Tprof event: page-faults, one tick every 7 events" ]
    run swtrace event --help
    [[ "$(tr -s ' \n' ' ' <<<"$output")" == *"default is 1 for software events such as page-faults"*10000000* ]]
}

@test "ticks of an event: every occurrence is recorded, and the file names the event" {
    needs_perf
    swtrace init --source perf
    swtrace enable tprof
    run swtrace event page-faults -c 1 -priv user
    [ "$output" = "Tprof event: page-faults, one tick for each event" ]
    run swtrace info
    [[ "$output" == *"Tprof event"*"page-faults, one tick for each event"* ]]
    trace_for faults.nrm2 bash -c 'exec 3< <(exit 0); true'
    [ "$(info_of faults.nrm2 tick)" = event ]
    [ "$(info_of faults.nrm2 event)" = page-faults ]
    [ "$(info_of faults.nrm2 period)" = 1 ]
    [ "$(info_of faults.nrm2 tick_ns)" = 0 ]
    [ "$(grep -aE '^count\.[0-9]+\.trace\.written=' faults.nrm2 | awk -F= '{ s += $2 } END { print s }')" -gt 100 ]
    # setrate switches back to ticks by time.
    swtrace setrate 500
    trace_for time.nrm2 sleep 0.2
    [ "$(info_of time.nrm2 tick)" = time ]
    [ "$(info_of time.nrm2 rate)" = 500 ]
    [ -z "$(info_of time.nrm2 event)" ]
}

@test "an unsupported event is refused, and the supported ones are listed" {
    needs_perf
    swtrace init --source perf
    run swtrace event UOPS
    [ "$status" -eq 1 ]
    [[ "$output" == *"no counter for the classic event UOPS"*"event list"* ]]
    run swtrace event no-such-event
    [ "$status" -eq 1 ]
    [[ "$output" == *"event list"* ]]
    run swtrace event page-faults -random
    [ "$status" -eq 1 ]
    [[ "$output" == *"at random"* ]]
    if swtrace event list | grep -qE '^  cpu-cycles .*' && ! swtrace event cpu-cycles; then
        run swtrace event cpu-cycles
        [ "$status" -eq 1 ]
        [[ "$output" == *"page-faults"* ]]
    fi
    swtrace on
    run swtrace event page-faults
    [ "$status" -eq 1 ]
    [[ "$output" == *"turn it off first"* ]]
}

@test "stacks make records longer, are in the file and in info, and can be turned off again" {
    needs_perf
    swtrace init --source perf
    swtrace enable tprof
    swtrace setrate 1000
    swtrace stacks both -depth 20
    [ "$(swtrace info --json | jq -r '.trace | "\(.stacks) \(.stack_depth)"')" = "both 20" ]
    trace_for stacks.nrm2 sleep 0.3
    [ "$(info_of stacks.nrm2 stacks)" = both ]
    [ "$(info_of stacks.nrm2 stack_depth)" = 20 ]
    run swtrace on
    run swtrace stacks off
    [ "$status" -eq 1 ]
    swtrace off
    swtrace stacks off
    trace_for plain.nrm2 sleep 0.3
    [ -z "$(info_of plain.nrm2 stacks)" ]
}

@test "majors have names; those that perf cannot record are refused" {
    needs_perf
    swtrace init --source perf
    swtrace enable tprof dispatch
    [ "$(swtrace maj | tail -n +3 | awk '{print $1}' | xargs)" = "16 18 25" ]
    swtrace disable dispatch mte
    [ "$(swtrace maj | tail -n +3 | awk '{print $1}' | xargs)" = 16 ]
    for name in interrupt exception syscall switch; do
        run swtrace enable "$name"
        [ "$status" -eq 1 ]
        [[ "$output" == *"need the pitrace module"* ]]
    done
    swtrace enable dispatch
    trace_for dispatches.nrm2 sleep 0.3
    info_of dispatches.nrm2 cannot_see | grep -q Wake-ups
    [ "$(grep -aE '^count\.[0-9]+\.trace\.written=' dispatches.nrm2 | awk -F= '{ s += $2 } END { print s }')" -gt 10 ]
}

@test "wrong use exits 255 and reports the error" {
    for words in 'event' 'event a b' 'event page-faults --all' 'event x -c 0' 'event x -c many' 'event x -priv me' 'stacks' 'stacks all' \
        'stacks user -depth 0' 'stacks user -depth 1024' 'stacks user -depth x' 'stacks user -by x' 'stacks kernel -by tables' 'stacks off -bytes 4096' 'stacks user -by fp -bytes 4096' 'stacks user -bytes 500' 'stacks user -bytes 520k' \
      'stacks user -bytes 513' 'stacks user -bytes 61448' 'enable dispatches'; do
        # shellcheck disable=SC2086
        run swtrace $words
        [ "$status" -eq 255 ] || { echo "$words: $status"; false; }
        [[ "$output" == *"swtrace: error: "* ]]
    done
}
