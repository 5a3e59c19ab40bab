#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# post --fleet: where its tables are written, and what is refused; pitrace-fleet without DuckDB. long/fleet reads the tables.

bats_require_minimum_version 1.5.0

setup_file() {
    export PATH="$BUILD_DIR/bin:$BUILD_DIR/tests:$PATH" PITRACE_SOCKET=$BATS_FILE_TMPDIR/recorder
    [ "$(swtrace check --json | jq .perf_system_works)" = true ] || skip "needs perf_event_open for the whole system"
    cd "$BATS_FILE_TMPDIR" || return
    swtrace init --source perf
    swtrace enable tprof
    swtrace on
    calls 1 >/dev/null
    swtrace off
    swtrace get
    swtrace free
}

setup() { cd "$BATS_TEST_TMPDIR" || return; }

trace() { echo "$BATS_FILE_TMPDIR/swtrace.nrm2"; }

files() { (cd "$1" && find . -type f | sort); }

@test "a trace is two files below a folder of its day and host, and a second time the same ones" {
    post --fleet fleet "$(trace)"
    [ ! -e tprof.out ]
    files fleet >found
    day=$(date -u -r "$(trace)" +%F)
    # At midnight the trace may have begun the day before.
    grep -xE "\./records/date=($day|[-0-9]*)/host=$(uname -n)/[0-9]{19}\.parquet" found
    grep -xE "\./stacks/date=($day|[-0-9]*)/host=$(uname -n)/[0-9]{19}\.parquet" found
    [ "$(wc -l <found)" -eq 2 ]
    [ "$(sed 's/^\.\/[a-z]*//' found | sort -u | wc -l)" -eq 1 ]
    head -c 4 fleet/records/*/*/*.parquet | grep -x PAR1
    # Names may differ: traced files can vanish.
    ls -i fleet/records/*/*/* >before
    post --fleet fleet "$(trace)"
    files fleet | diff found -
    run ! diff before <(ls -i fleet/records/*/*/*)
}

@test "a name that is no folder's name is encoded, and the folder may be anywhere" {
    mkdir here && cd here
    # The name of the host is in the text of the trace's info section: one of the same length.
    name=$(uname -n)
    strange=$(printf '%*s' ${#name} '' | sed 's/^ /./; s/ /\//g')
    LC_ALL=C sed "s|host=$name|host=$strange|" "$(trace)" >strange.nrm2
    post --fleet ../fleet strange.nrm2
    [ "$(ls ../fleet/records/*)" = "host=$(sed 's/\//%2F/g' <<<"$strange")" ]
    [ "$(ls)" = strange.nrm2 ]
}

@test "links, folders of other users and files in place of folders are refused" {
    mkdir -p elsewhere linked/records file
    day=$(basename "$(post --fleet first "$(trace)" && echo first/records/*)")
    ln -s "$PWD/elsewhere" "linked/records/$day"
    run -1 post --fleet linked "$(trace)"
    [[ $output == *"$day"* && -z $(ls elsewhere) ]]
    : >file/stacks
    run -1 post --fleet file "$(trace)"
    [[ $output == *"file/stacks"*"Not a directory"* ]]
    if [ "$(id -u)" -eq 0 ]; then
        mkdir theirs && chown nobody theirs
        run -1 post --fleet theirs "$(trace)"
        [[ $output == *"theirs"*"another user"* && -z $(ls theirs/stacks 2>/dev/null) ]]
    fi
}

@test "options that contradict --fleet are refused" {
    for other in '--export parquet' '--archive' '-showx'; do
        read -ra words <<<"$other"
        run -255 post --fleet fleet "${words[@]}" "$(trace)"
        [[ $output == *--fleet* ]]
    done
    run -255 post --fleet= "$(trace)"
    run -255 post --bucket 5 "$(trace)"
    [[ $output == *--fleet* ]]
    [ ! -e fleet ]
}

@test "pitrace-fleet reports wrong words, and how to get DuckDB" {
    export PITRACE_DUCKDB=$PWD/nosuch.so
    run -255 pitrace-fleet
    run -255 pitrace-fleet report
    run -255 pitrace-fleet nosuch fleet
    [[ $output == *"'nosuch' is no question"* ]]
    run -255 pitrace-fleet diff fleet
    [[ $output == *--at* ]]
    run -255 pitrace-fleet top --at 3d fleet
    run -255 pitrace-fleet report --where nosuch=1 fleet
    [[ $output == *"is no condition"*service* ]]
    run -255 pitrace-fleet report --since yesterday fleet
    [[ $output == *"'yesterday' is no time"* ]]
    run -255 pitrace-fleet report --since 1h --until 2h fleet
    run -255 pitrace-fleet top --by nosuch fleet
    run -255 pitrace-fleet flame --json fleet
    run -1 pitrace-fleet report fleet
    [[ $output == *"DuckDB cannot be loaded"*"duckdb.org"*PITRACE_DUCKDB* ]]
    # A library, but not DuckDB's.
    run -1 pitrace-fleet report --engine libm.so.6 fleet
    [[ $output == *"libm.so.6 is not DuckDB's library"* ]]
}
