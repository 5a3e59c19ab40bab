#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# The HTML page of post --html in Chromium and Firefox: what a user sees after clicks and keys, and names that look like markup. And its
# template, which is checked in: the sources make the same bytes.

bats_require_minimum_version 1.5.0

setup() {
    source "$SOURCE_DIR/tests/support/page_data.bash"
    PATH="$BUILD_DIR/bin:$PATH"
    cd "$BATS_TEST_TMPDIR" || return
}

@test "the sources of the page make the same template" {
    command -v npm >/dev/null || skip "needs npm (scripts/install-deps long)"
    cp -r "$SOURCE_DIR/tools/post/page" page
    rm -rf page/node_modules
    cd page
    mv template.html before.html
    npm ci --ignore-scripts --no-audit --no-fund
    npm run build
    cmp before.html template.html
}

# record FILE COMMAND...: a trace of COMMAND with stacks and context switches.
record() {
    local file=$1
    shift
    swtrace init -s 16 --source perf
    swtrace enable tprof
    swtrace enable dispatch
    swtrace setrate 1000
    swtrace stacks both
    swtrace on
    "$@"
    swtrace off
    swtrace get "$file"
    swtrace free
}

@test "the page in a browser: tabs, search, flame graph, timeline, keys, hostile names" {
    command -v chromium >/dev/null || skip "needs chromium (scripts/install-deps long)"
    [ "$(id -u)" -eq 0 ] || skip "needs root to trace the system"
    gcc -O1 -g -fno-omit-frame-pointer -o plain "$SOURCE_DIR/tests/progs/calls.c"
    objcopy --redefine-sym alpha='</script><img src=x onerror=alert(1)>' plain calls
    record calls.nrm2 ./calls 3
    post -r calls.nrm2 --html --with-source --source-path "$SOURCE_DIR/tests/progs" --json -offcpu -clip 0
    node "$SOURCE_DIR/tests/long/page.mjs" "$PWD/tprof.html" "$PWD/tprof.json" "$PWD/tprof.offcpu"
}

@test "the page of ten million ticks, and of 100,000 call paths and more: two seconds to start, ten milliseconds a step" {
    command -v chromium >/dev/null || skip "needs chromium (scripts/install-deps long)"
    g++ -std=c++20 -O2 -I "$SOURCE_DIR/include" -o make_trace "$SOURCE_DIR/bench/make_trace.cpp"
    ./make_trace ticks.nrm2 10000000
    post -r ticks.nrm2 --html=ticks.html
    rm ticks.nrm2
    node "$SOURCE_DIR/tests/long/page_speed.mjs" "$PWD/ticks.html"
    ./make_trace deep.nrm2 1000000 2 20
    post -r deep.nrm2 --html=deep.html
    rm deep.nrm2
    # The contract allows 200,000 paths, of which those that are not rare are kept.
    paths=$(page_data deep.html | jq '.paths.above | length')
    [ "$paths" -ge 100000 ]
    [ "$paths" -le 200000 ]
    node "$SOURCE_DIR/tests/long/page_speed.mjs" "$PWD/deep.html"
    node "$SOURCE_DIR/tests/long/page_left_out.mjs" "$PWD/deep.html"
    [ "$(stat -c %s ticks.html)" -lt 15000000 ]
    [ "$(stat -c %s deep.html)" -lt 15000000 ]
}

@test "the page in Firefox: it opens from disk, draws, and the console stays empty" {
    command -v firefox-esr >/dev/null || skip "needs firefox-esr (scripts/install-deps long)"
    [ "$(id -u)" -eq 0 ] || skip "needs root to trace the system"
    gcc -O1 -g -fno-omit-frame-pointer -o plain "$SOURCE_DIR/tests/progs/calls.c"
    objcopy --redefine-sym alpha='</script><img src=x onerror=alert(1)>' plain calls
    record calls.nrm2 ./calls 2
    post -r calls.nrm2 --html --json
    node "$SOURCE_DIR/tests/long/page_firefox.mjs" "$PWD/tprof.html" "$PWD/tprof.json"
    # A script that the page's policy refuses is in the console: so is any other error.
    sed 's/<script>/<script>0;/' tprof.html >refused.html
    node "$SOURCE_DIR/tests/long/page_firefox.mjs" "$PWD/refused.html" "$PWD/tprof.json" --refused
}

@test "the page that compares two traces" {
    command -v chromium >/dev/null || skip "needs chromium (scripts/install-deps long)"
    [ "$(id -u)" -eq 0 ] || skip "needs root to trace the system"
    gcc -O1 -fno-omit-frame-pointer -o calls "$SOURCE_DIR/tests/progs/calls.c"
    sed 's/shared(10);/shared(90);/' "$SOURCE_DIR/tests/progs/calls.c" >more.c
    mkdir more
    gcc -O1 -fno-omit-frame-pointer -I "$SOURCE_DIR/tests/progs" -o more/calls more.c
    record old.nrm2 ./calls 2
    record new.nrm2 ./more/calls 2
    post --diff old.nrm2 new.nrm2 --module calls --html
    node "$SOURCE_DIR/tests/long/page_diff.mjs" "$PWD/tprof.diff.html"
}

@test "the page of a trace without ticks, without stacks, of a damaged trace" {
    command -v chromium >/dev/null || skip "needs chromium (scripts/install-deps long)"
    [ "$(id -u)" -eq 0 ] || skip "needs root to trace the system"
    swtrace init -s 4 --source perf
    swtrace enable tprof
    swtrace on
    timeout 1 sh -c 'while :; do :; done' || true
    swtrace off
    swtrace get good.nrm2
    swtrace free
    post -r good.nrm2 --html=good.html
    # Among the records: those of a short trace on an idle machine take 27 KB.
    { head -c 16000 good.nrm2; head -c 4000 /dev/zero; tail -c +20001 good.nrm2; } >damaged.nrm2
    run post -r damaged.nrm2 --html=damaged.html
    [ "$status" -eq 3 ]
    swtrace init -s 4 --source perf
    swtrace enable dispatch
    swtrace on
    sleep 0.2
    swtrace off
    swtrace get noticks.nrm2
    swtrace free
    post -r noticks.nrm2 --page --html=noticks.html
    node "$SOURCE_DIR/tests/long/page_kinds.mjs" "$PWD/good.html" "$PWD/damaged.html" "$PWD/noticks.html"
}

@test "the page of an instruction trace: its call flow as a tree and as a flame graph" {
    command -v chromium >/dev/null || skip "needs chromium (scripts/install-deps long)"
    objcopy --redefine-sym fibonacci='</script><img src=x onerror=alert(1)>' "$BUILD_DIR/tests/flows" flows
    address() { nm flows | awk -v name="$1" '$3 == name { print $1 }'; }
    "$BUILD_DIR/tests/step_trace" flow.nrm2 "$(address begin)" "$(address end)" -- ./flows
    post -r flow.nrm2 -arc --html
    arcf --json >tree.json
    node "$SOURCE_DIR/tests/long/page_flow.mjs" "$PWD/tprof.html" "$PWD/tree.json"
}

@test "the page with tables of JProf, hdump and AboveIdle, whose names look like markup" {
    command -v chromium >/dev/null || skip "needs chromium (scripts/install-deps long)"
    name='</script><img src=x onerror=alert(1)>'
    jq -n --arg name "$name" '{schema_version: 1, calibrated: true, metrics: [], lost: {},
        threads: [{tid: 7, name: "t", nodes: [{level: 0, calls: 1, base: []}, {level: 1, calls: 4, base: [], name: $name}]}]}' >log-rt.json
    jq -n --arg name "$name" '{schema_version: 1, hold_times: false, interval_ns: 1000000, gc_ns: 7, lost_gets: 0, collisions: 0, blocked_elsewhere: [],
        monitors: [{class: "Busy", hash: "ab", gets: 4, nonrec: 4, slow: 1, rec: 0}, {class: $name, hash: "", gets: 15, nonrec: 10, slow: 0, rec: 5}],
        not_counted: [{what: $name, why: $name}]}' >jlm.json
    jq -n --arg name "$name" '{file: $name, format: $name, objects: 9, bytes: 90, reachable_objects: 8, reachable_bytes: 80, dangling_references: 2,
        objects_without_class: 0, layout: {source: "assumed"}, roots_assumed: true, largest: [], ways: [], damage: {places: 3, messages: []},
        classes: [{name: $name, objects: 5, bytes: 50, retained: 70, retained_exact: false}],
        suspects: [{object: "Big", id: 255, objects: 1, retained: 60, percent: 75, held: [{name: $name, objects: 4, bytes: 30}],
            path: {root: $name, steps: []}}]}' >heap.json
    jq -nc --arg name "$name" 'range(2) | {time: (1764000000 + .), source: $name, intr_is_tick_based: true,
        cpus: [range(2) as $cpu | {cpu: $cpu, idle: (60 - 10 * $cpu), busy: (39.5 + 10 * $cpu), intr: 0.5}]}' >ai.json
    # A trace without perf events.
    address() { nm "$BUILD_DIR/tests/flows" | awk -v name="$1" '$3 == name { print $1 }'; }
    "$BUILD_DIR/tests/step_trace" flow.nrm2 "$(address begin)" "$(address end)" -- "$BUILD_DIR/tests/flows"
    post -r flow.nrm2 --html --with-data log-rt.json --with-data jlm.json --with-data heap.json --with-data ai.json
    node "$SOURCE_DIR/tests/long/page_tables.mjs" "$PWD/tprof.html"
}
