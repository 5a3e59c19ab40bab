#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# run.heap, libheapit and heapstats: programs with known allocations and waits.

bats_require_minimum_version 1.5.0

setup() {
    [[ -e $BUILD_DIR/lib/libheapit.so ]] || skip "needs a build without sanitizers"
    program="$BUILD_DIR/tests/allocates"
    cd "$BATS_TEST_TMPDIR" || return
    PATH=$BUILD_DIR/bin:$PATH
    unset LD_PRELOAD
}

teardown() { [[ -z ${runner:-} ]] || kill "$runner" "$(basename logs/heap.* | cut -d . -f 2)" 2>/dev/null || true; }

# record COMMAND...: runs it with the library; the log is $log, that of an only process.
record() {
    rm -rf logs && mkdir logs
    HEAPIT_DIR=$PWD/logs LD_PRELOAD=$BUILD_DIR/lib/libheapit.so "$@"
}

# rows [LOG]: prints allocations, bytes, frees, live bytes, most at once and the functions of COMMAND's own file, for each path.
rows() {
    heapstats --json "${1:-$(echo logs/heap.*)}" | jq -r '.paths[] | select(.kind == "allocation") |
        [.allocations, .bytes, .frees, .live_bytes, .peak_bytes,
         ([.functions[] | select(.module | startswith("allocates")) | .name] | join("<"))] | map(tostring) | join(" ")' |
        grep -v ' $' | sort -k 6
}

@test "allocations, bytes, frees and the most at once are exact, by call path" {
    record "$program" simple
    [ "$(rows)" = "3 1500 0 1500 1500 leak_one<keeps<main<_start
10 10000 0 10000 10000 leak_one<leaks<main<_start
100 4000 100 0 4000 together<main<_start
1000 16000 1000 0 16 transient<main<_start" ]
    run heapstats logs/heap.*
    [ "$status" -eq 0 ]
    [[ $output == *"1113 allocations of 31500 bytes, 1100 freed."* ]]
    [[ $output == *"Not freed: 13 blocks of 11500 bytes. At most 11500 bytes at once."* ]]
    # The path is whole, down to the program's start.
    heapstats --folded=live logs/heap.* >folded
    grep -qxE '_start;.*;main;leaks;leak_one 10000' folded
    [ "$(heapstats --json logs/heap.* | jq -r '.paths[].end' | sort -u)" = whole ]
}

@test "realloc ends a block and begins another; one that fails changes nothing" {
    record "$program" realloc
    # A row is the sum of the places in a function: 10, 100 to 2000, and 77 and 55 bytes.
    [ "$(rows | cut -d ' ' -f 1-4,6)" = "23 21142 22 55 grows<main<_start" ]
    [[ $(heapstats logs/heap.*) == *"At most 2000 bytes at once."* ]]
}

@test "every function that allocates is counted, also when the C library calls it" {
    record "$program" aligned
    [ "$(heapstats --json logs/heap.* | jq '[.paths[].bytes] | add')" = $((101 + 128 + 103 + 104 + 105 + 106 + 17)) ]
    [ "$(heapstats --json logs/heap.* | jq '[.paths[].allocations] | add')" = 7 ]
    heapstats --folded=live logs/heap.* >folded
    grep -qE 'main;aligned;__strdup 17$|main;aligned;strdup 17$' folded
}

@test "operator new: templates, members, exceptions" {
    record "$BUILD_DIR/tests/allocates_cpp" >/dev/null
    heapstats --folded=live logs/heap.* | grep 'leak_cart();[^p]' >folded
    grep -qE 'shop::leak_cart\(\);operator new\(unsigned long\) 24$' folded
    grep -qE 'shop::leak_cart\(\);shop::Cart::reserve\(unsigned long\);operator new\(unsigned long\) 160$' folded
    grep -qE 'shop::leak_cart\(\);shop::Cart::add\(\);shop::Item\* shop::make<shop::Item>\(\);operator new\(unsigned long\) 960$' folded
    [ "$(wc -l <folded)" -eq 3 ]
    # What use_cart() and the exceptions allocate is freed.
    heapstats --json logs/heap.* | jq -e '[.paths[] | select([.functions[].name] | any(test("use_cart|throws"))) | .live_bytes] | add == 0'
    heapstats --json logs/heap.* | jq -e '[.paths[] | select([.functions[].name] | any(test("use_cart"))) | .allocations] | add == 210'
}

@test "ten threads, and blocks that another thread frees" {
    record "$program" threads
    [ "$(rows | cut -d ' ' -f 1-4,6 | grep worker)" = "100000 2400000 99900 2400 worker" ]
    record "$program" pass
    [ "$(rows | cut -d ' ' -f 1-4,6 | grep leak_one)" = "50 3200 50 0 leak_one<passes_on<main<_start" ]
}

@test "a thread that is cancelled while it waits releases its mutex" {
    record "$program" cancel
    [ "$(rows | grep leaks)" = "10 10000 0 10000 10000 leak_one<leaks<cancels<main<_start" ]
}

@test "each way of ending leaves a whole log" {
    local way
    for way in return _exit abort kill; do
        (ulimit -c 0 && record "$program" "$way") || true
        [ "$(rows)" = "10 10000 0 10000 10000 leak_one<leaks<main<_start" ]
    done
}

@test "fork, vfork and exec: each process and program has its log" {
    record "$program" fork
    [ "$(for log in logs/heap.*; do rows "$log"; done | sort)" = "1 300 0 300 300 leak_one<forks<main<_start
10 10000 0 10000 10000 leak_one<leaks<forks<main<_start
1000 16000 1000 0 16 transient<forks<main<_start" ]
    HEAPIT_CHILDREN=off record "$program" fork
    [ "$(ls logs | wc -l)" -eq 1 ]
    for way in vfork exec; do
        record "$program" $way
        [ "$(for log in logs/heap.*; do rows "$log" | wc -l; done | sort)" = "1
4" ]
        HEAPIT_CHILDREN=off record "$program" $way
        [ "$(ls logs | wc -l)" -eq 1 ]
    done
}

@test "a handler that allocates, deep recursion, libraries that replace each other" {
    record "$program" handler
    [ "$(rows | cut -d ' ' -f 1-4)" = "5 40 0 40" ]
    [[ $(rows) == *"leak_one<on_alarm<in_handler<main<_start" ]]
    record "$program" recurse 1000
    [ "$(heapstats --json logs/heap.* | jq -r '.paths[] | "\(.end) \(.functions | length)"')" = "cut 256" ]
    record "$program" libraries "$BUILD_DIR/tests/liballocating_first.so" "$BUILD_DIR/tests/liballocating_second.so"
    heapstats --folded=live logs/heap.* | grep -o 'library_allocate;.*' >folded
    [ "$(cat folded)" = "library_allocate;first_piece 3000
library_allocate;second_piece 6000" ]
}

@test "waits for locks: their number is exact, their time within 5 % of the program's own clock" {
    record "$BUILD_DIR/tests/lockwaits" >clock
    heapstats --json logs/heap.* | jq -r '.paths[] | select(.waits) |
        "\(.functions[0].name) \(.kind) \(.waits) \(.nanoseconds) \(.longest_nanoseconds)"' | sort >found
    cat clock found
    local name waits own kind count sum longest
    for name in mutex:mutex recursive:mutex timed:mutex read:read_lock write:write_lock condition:condition; do
        read -r _ waits own <<<"$(grep "^${name%:*} " clock)"
        read -r _ kind count sum longest <<<"$(grep "^wait_${name%:*} " found)"
        [ "$kind" = "${name#*:}" ]
        [ "$count" -eq "$waits" ]
        ((sum <= own && sum * 100 >= own * 95 && longest * 10 >= sum && longest <= sum))
    done
    [ "$(wc -l <found)" -eq 6 ]
    # A lock that is free is no wait.
    record "$BUILD_DIR/tests/lockwaits" 1000
    [ "$(heapstats --json logs/heap.* | jq '[.paths[] | select(.waits)] | length')" -eq 0 ]
}

@test "a process that runs can be looked at; only its user can" {
    # bats waits for whatever holds its third descriptor.
    record "$program" wait >said 3>&- &
    runner=$!
    until grep -q ready said 2>/dev/null; do sleep 0.1; done
    [ "$(rows | cut -d ' ' -f 1-4 | head -n 1)" = "10 10000 0 10000" ]
    [ "$(stat -c %a logs/heap.*)" = 600 ]
    # It keeps no descriptor open.
    [ "$(find /proc/$runner/fd -lname '*/logs/*' 2>/dev/null | wc -l)" -eq 0 ]
    kill "$(basename logs/heap.* | cut -d . -f 2)"
    wait "$runner" || true
}

@test "without HEAPIT_DIR, or where no log can be written, the program runs as before" {
    mkdir logs
    LD_PRELOAD=$BUILD_DIR/lib/libheapit.so run -0 "$program" simple
    [ -z "$output" ]
    HEAPIT_DIR=relative LD_PRELOAD=$BUILD_DIR/lib/libheapit.so run -0 "$program" simple
    [ "$output" = "heapit: nothing is recorded: HEAPIT_DIR='relative' must begin with '/'." ]
    HEAPIT_DIR=$PWD/missing LD_PRELOAD=$BUILD_DIR/lib/libheapit.so run -0 "$program" simple
    [[ $output == "heapit: cannot create the log '$PWD/missing/heap."*"': No such file or directory." ]]
    # No space for the log, without the signal of that limit.
    HEAPIT_DIR=$PWD/logs run -0 bash -c 'ulimit -f 8; LD_PRELOAD=$1 exec "$0" simple' "$program" "$BUILD_DIR/lib/libheapit.so"
    [[ $output == "heapit: cannot create the log "*": File too large." ]]
    [ -z "$(ls logs)" ]
    # A link in place of the log is not followed.
    ln -s "$PWD/elsewhere" logs/heap.1
    record "$program" simple
    [ ! -e elsewhere ]
}

@test "with closed standard descriptors the log is none of them" {
    strace -o /dev/null true || skip "strace does not work here"
    mkdir logs
    bash -c 'exec strace -o trace -e trace=openat,fallocate,pwrite64 -E HEAPIT_DIR="$PWD/logs" -E LD_PRELOAD="$1" "$0" paths 2000 <&- >&- 2>&-' \
        "$program" "$BUILD_DIR/lib/libheapit.so"
    cat trace
    grep -qE 'openat.*/heap\..* = [012]$' trace
    [ "$(grep -cE '^(fallocate|pwrite64)\(' trace)" -ge 3 ]
    run ! grep -E '^(fallocate|pwrite64)\([012],' trace
}

@test "a program that gets other rights is not recorded" {
    [ "$(id -u)" -eq 0 ] || skip "needs root"
    install -m 4755 -o root "$program" ./privileged
    mkdir -m 777 logs
    # The loader does not preload a library from there, whatever the environment says.
    run -0 setpriv --reuid=65534 --clear-groups env HEAPIT_DIR="$PWD/logs" LD_PRELOAD="$BUILD_DIR/lib/libheapit.so" ./privileged simple
    [ -z "$(ls logs)" ]
}

@test "paths without space are counted without their functions" {
    # A log of 64 KB cannot grow.
    rm -rf logs && mkdir logs
    HEAPIT_DIR=$PWD/logs bash -c 'ulimit -f 64; LD_PRELOAD=$1 exec "$0" paths 2000' "$program" "$BUILD_DIR/lib/libheapit.so"
    run -3 --separate-stderr heapstats --json logs/heap.*
    [[ $stderr == *"allocations and waits have no call path: no space in the log"* ]]
    [ "$(jq '[.paths[].allocations] | add' <<<"$output")" -eq 2000 ]
    [ "$(jq '[.paths[] | select(.end == "not_stored") | .allocations] | add' <<<"$output")" -gt 1000 ]
    [ "$(jq '.lost.paths' <<<"$output")" -eq "$(jq '[.paths[] | select(.end == "not_stored") | .allocations] | add' <<<"$output")" ]
}

@test "run.heap reports on the command and returns its status" {
    run -0 --separate-stderr run.heap -o out -- "$program" simple
    [[ ${lines[0]} == "$program simple" ]]
    [[ $output == *"1113 allocations of 31500 bytes, 1100 freed."* ]]
    [[ $output == *"      leak_one:allocates"*"      leaks:allocates"*"Log: $PWD/out/heap."* ]]
    run -7 --separate-stderr run.heap -o out --no-locks -- bash -c '"$1" exec; exit 7' - "$program"
    [[ $output == *"Other processes and programs:"*"$program simple"* ]]
    # Logs of other runs are not among them.
    [ "$(grep -c '/heap\.' <<<"$output")" -eq 5 ]
    run -0 run.heap --no-heap --no-children -o locks -- "$BUILD_DIR/tests/lockwaits"
    [[ $output == *"50 waits for locks, together "*"10 waits for conditions"*"wait_mutex:lockwaits"* ]]
    run -0 run.heap -o static -- "$program" simple --sort=allocations
    cc -static -o of_its_own -xc - <<<'int main(void) { return 0; }'
    run -0 run.heap -o static2 -- ./of_its_own
    [[ $output == *"run.heap: nothing was recorded: ./of_its_own is linked statically"* ]]
    # Only run.heap's own words when a signal ends the command.
    run -134 --separate-stderr run.heap -o killed -- bash -c 'kill -ABRT $$'
    [ "$stderr" = "run.heap: the command's exit status is 134, as after SIGABRT" ]
    run -255 run.heap --no-heap --no-locks -- true
    run -255 run.heap -o '' -- true
    run -127 run.heap -- ./missing
    run -255 run.heap --no-such-option -- true
    run -255 run.heap --help=no
    run -255 run.heap
}

@test "heapstats: orders, differences, several logs, damaged ones" {
    record "$program" simple
    cp logs/heap.* a
    record "$program" return
    cp logs/heap.* b
    [ "$(heapstats --sort=allocations --lines=1 a | awk '/LIVE BYTES/ { getline; print $4; getline; print $1 }')" = "1000
transient:allocates" ]
    [ "$(heapstats --by=function --sort=live a | awk '/LIVE BYTES/ { getline; print $1, $2 }')" = "11500 13" ]
    run -0 heapstats --diff b a
    [ "$(awk '/CHANGE/ { getline; print $1, $2, $3; getline; print $1 }' <<<"$output")" = "+1500 0 1500
leak_one:allocates" ]
    [[ $output == *"Bytes that are not freed, by call path"* ]]
    [[ $(heapstats --diff a a) == *"no change"* ]]
    [ "$(heapstats a b | awk 'NR > 1 { print $2, $3, $4 }')" = "1113 31500 11500
10 10000 10000" ]
    head -c 2000 a >cut
    run -3 heapstats cut
    [[ $output == *"Missing: the rest of the log: it is cut off."* ]]
    run -1 heapstats "$program"
    [[ $output == "heapstats: error: $program is no log of run.heap." ]]
    run -1 heapstats missing
    run -255 heapstats
    run -255 heapstats --diff a
    run -255 heapstats --sort=nothing a
    [[ $output == *"--sort is live, "*", not \"nothing\"."* ]]
    run -255 heapstats --json --folded=live a
}
