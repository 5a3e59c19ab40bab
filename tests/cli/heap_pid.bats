#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# run.heap --pid and heapwatch: known allocations and waits of a process that runs already.
# shellcheck disable=SC2030,SC2031,SC2154 # each test has variables of its own; run sets stderr

bats_require_minimum_version 1.5.0

setup() {
    [ "$(id -u)" -eq 0 ] || skip "needs root"
    # Root of a container has fewer rights, and a kernel that is locked down refuses everyone.
    (((16#$(awk '/^CapEff/ { print $2 }' /proc/self/status) >> 21) & 1)) || skip "needs CAP_SYS_ADMIN"
    [[ -e /sys/kernel/tracing/events/syscalls/sys_enter_futex/id ]] || skip "this kernel has no tracepoints of system calls"
    ! grep -q '\[confidentiality\]' /sys/kernel/security/lockdown 2>/dev/null || skip "the kernel is locked down"
    [[ -e /sys/bus/event_source/devices/uprobe/type ]] || skip "this kernel has no uprobes"
    program="$BUILD_DIR/tests/allocates"
    cd "$BATS_TEST_TMPDIR" || return
    PATH=$BUILD_DIR/bin:$PATH
    unset LD_PRELOAD
    watched='' watcher=''
}

teardown() {
    for pid in $watched $watcher; do kill "$pid" 2>/dev/null || true; done
}

# start MODE...: starts the program, which waits until go() is called.
start() {
    rm -rf logs fifo said && mkdir logs && mkfifo fifo && touch said
    "$program" late "$@" <fifo >said 3>&- &
    watched=$!
    exec 7>fifo
    until grep -q ready said; do sleep 0.05; done
}

# watch: begins to record it; the log is $log.
watch() {
    rm -f began && touch began
    heapwatch -o logs "$watched" >began 2>messages 3>&- 7>&- &
    watcher=$!
    until grep -q . began || ! kill -0 "$watcher" 2>/dev/null; do sleep 0.05; done
    log=$(cat began)
}

# go: lets it do its work while it is recorded, and ends the recording.
go() {
    echo >&7
    until grep -q 'done' said; do sleep 0.05; done
    kill -TERM "$watcher"
    wait "$watcher"
    watcher=''
}

# rows: prints allocations, bytes, frees, live bytes, most at once and the program's own functions, for each path.
rows() {
    heapstats --json "$log" | jq -r '.paths[] | [.allocations, .bytes, .frees, .live_bytes, .peak_bytes,
        ([.functions[] | select(.module == "allocates") | .name] | join("<"))] | map(tostring) | join(" ")' | sort -k 6
}

# is_unprobed: whether the code of malloc() in the process is that of the file.
is_unprobed() {
    local base value
    base=$(awk '/libc\.so/ { split($1, a, "-"); print a[1]; exit }' "/proc/$watched/maps")
    value=$(readelf -W --dyn-syms "$(ldd "$program" | awk '/libc\.so/ { print $3 }')" | awk '$8 ~ /^malloc@/ { print $2; exit }')
    [[ $(dd if="/proc/$watched/mem" bs=1 count=1 skip=$((16#$base + 16#$value)) 2>/dev/null | od -An -tx1) != *cc* ]]
}

@test "allocations, bytes, frees and the most at once are exact, by call path" {
    start simple
    watch
    go
    cat messages
    [ "$(rows)" = "1 900 0 900 900 begin_late<main<_start
3 1500 0 1500 1500 leak_one<keeps<main<_start
10 10000 0 10000 10000 leak_one<leaks<main<_start
100 4000 100 0 4000 together<main<_start
1000 16000 1000 0 16 transient<main<_start" ]
    [ "$(heapstats --json "$log" | jq -c '[.earlier_frees, ([.paths[].end] | unique)]')" = '[2,["whole"]]' ]
    run -0 heapstats "$log"
    [[ $output == *"Process $watched, which ran already, recorded for "*" s from "* ]]
    [[ $output == *"2 ends of blocks that it had allocated before the recording."* ]]
    [ "$(stat -c %a "$log")" = 600 ]
    # Nothing of the recording stays in the process.
    is_unprobed
}

@test "each function that allocates, and a realloc() that fails" {
    start aligned
    watch
    go
    [ "$(heapstats --json "$log" | jq '[.paths[].bytes] | add')" = $((900 + 101 + 128 + 103 + 104 + 105 + 106 + 17)) ]
    echo >&7
    start realloc
    watch
    go
    [ "$(rows | grep grows | cut -d ' ' -f 1-4)" = "23 21142 22 55" ]
}

@test "ten threads, blocks that another thread frees, and a child of fork()" {
    start threads
    watch
    go
    [ "$(rows | grep worker | cut -d ' ' -f 1-4)" = "100000 2400000 99900 2400" ]
    echo >&7
    start pass
    watch
    go
    [ "$(rows | grep leak_one | cut -d ' ' -f 1-4)" = "50 3200 50 0" ]
    echo >&7
    # What the child does is not the process's.
    start fork
    watch
    go
    [ "$(rows | grep leak_one)" = "1 300 0 300 300 leak_one<forks<main<_start" ]
}

@test "waits for locks: their number is exact, their time not above that of the program's own clock" {
    local name waits own kind count sum way
    program="$BUILD_DIR/tests/lockwaits"
    for way in "" --no-heap; do
        start
        rm -f began && touch began
        heapwatch $way -o logs "$watched" >began 2>messages 3>&- 7>&- &
        watcher=$!
        until grep -q . began || ! kill -0 "$watcher" 2>/dev/null; do sleep 0.05; done
        log=$(cat began)
        go
        echo >&7
        wait "$watched"
        [ ! -s messages ]
        heapstats --json "$log" | jq -r '.paths[] | select(.waits) |
            "\([.functions[] | select(.module == "lockwaits") | .name][0]) \(.kind) \(.waits) \(.nanoseconds)"' >found
        cat said found
        for name in mutex:mutex recursive:mutex timed:other_futex read:read_lock write:write_lock condition:condition; do
            read -r _ waits own <<<"$(grep "^${name%:*} " said)"
            read -r _ kind count sum <<<"$(grep "^wait_${name%:*} " found)"
            # Where the C library has not made a jump of a call, it is known that the futex is a mutex.
            [ "$kind" = "${name#*:}" ] || [ "$name $kind" = "timed:other_futex mutex" ]
            [ "$count" -eq "$waits" ]
            # The holder sleeps for 10 ms when the other one waits.
            ((sum <= own && sum >= waits * 10000000))
        done
        [ "$(heapstats --json "$log" | jq '[.paths[] | select(.allocations)] | length == 0')" = "$([ -n "$way" ] && echo true || echo false)" ]
    done
    # A lock that is free is no wait.
    start 1000
    watch
    go
    [ "$(heapstats --json "$log" | jq '[.paths[] | select(.waits)] | length')" -eq 0 ]
    run -255 heapwatch --no-heap --no-locks "$watched"
    run -255 run.heap --no-heap --no-locks --pid="$watched"
    # The process would be stopped for nothing.
    run -255 heapwatch --no-heap --leaks=1 "$watched"
    run -255 run.heap --no-heap --leaks=1 --pid="$watched"
    run -0 run.heap --no-heap --seconds=1 --pid="$watched" -o logs
    [[ $output == *"It has neither allocated nor waited in this time."* && $output != *" ends of blocks "* ]]
}

@test "what is leaked of that, with the process stopped for the search" {
    program="$BUILD_DIR/tests/leaking"
    start
    heapwatch --leaks=60 -o logs "$watched" >began 2>messages 3>&- 7>&- &
    watcher=$!
    until grep -q . began || ! kill -0 "$watcher" 2>/dev/null; do sleep 0.05; done
    log=$(cat began)
    go
    cat messages
    # Freed memory is looked at, too: it is not known which blocks of before the recording were freed.
    [ "$(heapstats --json "$log" | jq -r '.search.state, (.paths[] | select(.leaked_blocks > 0) |
        "\(.leaked_blocks) \(.leaked_bytes) \(.functions[0].name)<\(.functions[1].name)")' | sort)" = "1000 48000 lost_list<loses
3 300 lost_pointer<lose_in_thread
3 300 lost_pointer<loses
5 240 lost_cycle<loses
searched" ]
    # It goes on.
    echo >&7
    wait "$watched"
    # One that another program traces cannot be stopped; the recording is whole.
    strace -o /dev/null true || skip "strace does not work here"
    start
    strace -f -o /dev/null -p "$watched" 2>/dev/null 3>&- 7>&- &
    tracer=$!
    until ! grep -q 'TracerPid:.0$' "/proc/$watched/status"; do sleep 0.05; done
    rm -f began && touch began
    heapwatch --leaks=60 -o logs "$watched" >began 2>messages 3>&- 7>&- &
    watcher=$!
    until grep -q . began; do sleep 0.05; done
    log=$(cat began)
    go
    kill "$tracer"
    run -3 heapstats "$log"
    [[ $output == *" allocations of "*"Missing: which blocks are leaked: its threads could not be stopped by ptrace"* ]]
    # Killed in the middle of the search, it lets the process go on.
    start
    heapwatch --leaks=60 -o logs "$watched" >began 2>messages 3>&- 7>&- &
    watcher=$!
    until grep -q . began; do sleep 0.05; done
    echo >&7
    until grep -q 'done' said; do sleep 0.05; done
    kill -TERM "$watcher"
    kill -KILL "$watcher"
    wait "$watcher" || true
    echo >&7
    wait "$watched"
}

@test "calls that are not read in time are counted as missing" {
    start loop 20
    watch
    kill -STOP "$watcher"
    echo >&7
    until grep -q 'done' said; do sleep 0.05; done
    kill -CONT "$watcher"
    kill -TERM "$watcher"
    wait "$watcher"
    watcher=''
    run -3 --separate-stderr heapstats --json "$log"
    [[ $stderr == *" calls are not counted: the process made them faster than they were read."* ]]
    # Three calls for each of 20,000 blocks, and three that begin_late() makes.
    jq -e '.lost.calls > 10000 and .lost.calls < 60003' <<<"$output"
    jq -e '[.paths[].allocations] | add | . > 1000 and . < 20000' <<<"$output"
}

@test "whatever ends the recording, the probes are gone and the process goes on" {
    start simple
    watch
    run ! is_unprobed
    kill -KILL "$watcher"
    wait "$watcher" || true
    for ((i = 0; i < 100; i++)); do if is_unprobed; then break; fi && sleep 0.1; done
    is_unprobed
    echo >&7
    until grep -q 'done' said; do sleep 0.05; done
    echo >&7
    wait "$watched"
    # run.heap, killed: its heapwatch ends by itself.
    start simple
    run.heap --pid="$watched" -o logs >said_by_run 2>&1 3>&- 7>&- &
    watcher=$!
    until ls logs/heap.* >/dev/null 2>&1; do sleep 0.05; done
    kill -KILL "$watcher"
    wait "$watcher" || true
    for ((i = 0; i < 100; i++)); do if is_unprobed; then break; fi && sleep 0.1; done
    is_unprobed
    # Even before its heapwatch has begun.
    run -1 heapwatch --with-parent=1 -o logs "$watched"
    [[ $output == *"Process 1 has not started this program, or has ended."* ]]
    # heapwatch, killed: run.heap reports what there is.
    start simple
    run.heap --pid="$watched" -o logs >said_by_run 2>errors 3>&- 7>&- &
    watcher=$!
    until ls logs/heap.* >/dev/null 2>&1; do sleep 0.05; done
    echo >&7
    until grep -q 'done' said; do sleep 0.05; done
    kill -KILL "$(pgrep -P "$watcher" heapwatch)"
    local status_of_run=0
    wait "$watcher" || status_of_run=$?
    watcher=''
    [ "$status_of_run" -eq 125 ]
    [ "$(cat errors)" = "run.heap: error: heapwatch was ended by SIGKILL; this is what it had recorded until then" ]
    grep -q "^Process $watched, which ran already" said_by_run
}

@test "run.heap --pid: the report, the end of the time, of the process, and of its program" {
    start simple
    # Without temporary files, where another user could put a link: names are easily guessed.
    mkdir shim && ln -s /bin/false shim/mktemp
    PATH=$PWD/shim:$PATH run -0 run.heap --pid "$watched" --seconds=1 -o logs
    [[ $output == *"It has neither allocated nor waited in this time."*"Log: "*"/logs/heap.$watched.1"* ]]
    # The process's end ends the recording.
    watch
    echo >&7
    echo >&7
    wait "$watcher"
    [ "$(rows | sed -n 2p)" = "3 1500 0 1500 1500 leak_one<keeps<main<_start" ]
    # So does exec, before the first call of the other program, which allocates at once.
    for _ in 1 2 3; do
        start exec
        watch
        echo >&7
        wait "$watcher"
        watcher=''
        [ "$(rows)" = "1 900 0 900 900 begin_late<main<_start
10 10000 0 10000 10000 leak_one<leaks<main<_start" ]
    done
}

@test "what cannot be recorded is refused with the reason" {
    run -1 heapwatch 4194303
    [[ $output == *"Cannot open process 4194303: No such process."* ]]
    run -255 heapwatch
    run -255 heapwatch 0
    run -255 heapwatch --seconds=0 1
    run -255 run.heap --pid=1 -- true
    run -255 run.heap --seconds=1 -- true
    run -125 run.heap --pid=4194303 -o logs
    [[ $output == *"run.heap: error: Cannot open process 4194303: No such process."* ]]
    cc -static -s -o stripped -xc - <<<'#include <unistd.h>
int main(void) { pause(); }'
    ./stripped 3>&- &
    watched=$!
    run -1 heapwatch "$watched"
    [[ $output == *"No file of process $watched has a symbol malloc"* ]]
    # Another user may not, not even for its own process.
    start simple
    chmod 777 logs
    run -1 setpriv --reuid=65534 --clear-groups heapwatch -o "$PWD/logs" "$watched"
    [[ $output == *"error: /proc/$watched/maps cannot be read: only root with CAP_SYS_ADMIN can record a process."* ]]
    [ -z "$(ls logs)" ]
    if [[ $(cat /proc/2/comm 2>/dev/null) == kthreadd ]]; then
        run -1 heapwatch 2
        [[ $output == *"Process 2 has no program: it is a thread of the kernel"* ]]
    fi
    run -1 heapwatch -o /nowhere "$watched"
    [[ $output == *"Cannot create the log /nowhere/heap."*": No such file or directory."* ]]
    is_unprobed
}
