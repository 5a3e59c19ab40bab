#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# post with a recording whose samples are in very many functions: every report ends, has all ticks, and keeps its limits.
# MANY_SYMBOLS is their number; bench/many_symbols.sh measures what ten million of them cost.

bats_require_minimum_version 1.5.0

setup_file() {
    export PATH="$BUILD_DIR/bin:$BUILD_DIR/tests:$PATH" DEBUGINFOD_URLS=
    type -P perf >/dev/null || skip "needs perf"
    cd "$BATS_FILE_TMPDIR" || return
    export HOME=$BATS_FILE_TMPDIR count=${MANY_SYMBOLS:-300000}
    export again=$((count / 50))
    # Names of an ELF file without a build-id are not used for a recording of perf.
    record jit - || skip "perf cannot record here"
}

# record NAME FILE: FILE "-" is code in memory; each of the functions is sampled once, and the last ones twice.
record() {
    perf record -q -e page-faults:u -c 1 -m 16384 -o "$1.data" many_symbols "$2" "$count" "$again" >"$1.said" 2>perf.err || return
    post --import "$1.data" -o "$1" 2>"$1.err"
    rm "$1.data"
}

setup() {
    load "$BATS_TEST_DIRNAME/../support/page_data.bash"
    cd "$BATS_FILE_TMPDIR" || return
}

trace() { echo "$1/$1.data.nrm2"; }

# ticks NAME: all ticks of a trace.
ticks() { sed -nE 's/^ *TOTAL TICKS +([0-9]+).*/\1/p' "$1/tprof.out" | head -n 1; }

@test "functions of a just-in-time compiler all have their ticks" {
    [ "$(ticks jit)" -ge $((count + again)) ]
    post -r "$(trace jit)" -o jit --json --clip 0
    # Without jq, which needs a multiple of the file's size.
    tr -d ' \n' <jit/tprof.json | tr '{' '\n' | awk -v count="$count" -v again="$again" '/"name":"number_/ {
            if (!match($0, /number_[0-9]+_of_many/)) exit 1
            name = substr($0, RSTART + 7, 8) + 0; match($0, /"ticks":[0-9]+/); ++reports[name]
            if (substr($0, RSTART + 8, RLENGTH - 8) != (name >= count - again ? 2 : 1)) { print "wrong:", $0; bad = 1; exit }
        } END { for (name in reports) ++names; if (names != count) { print names, "functions"; bad = 1 } exit bad }'
    rm jit/tprof.json
}

@test "the page keeps its limits, and says what it has joined" {
    post -r "$(trace jit)" -o jit --html
    [ "$(stat -c %s jit/tprof.html)" -lt 15000000 ]
    page_data jit/tprof.html >data.json
    [ "$(jq '.paths.above | length' data.json)" -le 200000 ]
    # Of more functions, those with one tick are joined.
    if ((count > 200000)); then
        [ "$(jq '.paths.above | length' data.json)" -ge $((again < 100000 ? again : 1)) ]
        [ "$(jq '.paths.left_out' data.json)" -ge $((count - again - 100)) ]
    else
        [ "$(jq '.paths.left_out' data.json)" -eq 0 ]
    fi
    [ "$(jq '.ticks.amount | add' data.json)" -eq "$(ticks jit)" ]
}

@test "each export has all ticks" {
    all=$(ticks jit)
    post -r "$(trace jit)" -o jit --export callgrind --export speedscope --export pprof --export otlp
    awk '/^fn=/ { getline; sum += $2 } END { printf "%d\n", sum }' jit/tprof.callgrind | grep -x "$all"
    grep -o '"endValue":[0-9]*' jit/tprof.speedscope.json | awk -F : '{ sum += $2 } END { printf "%d\n", sum }' | grep -x "$all"
    node "$BATS_TEST_DIRNAME/export/pprof_sum.mjs" jit/tprof.pb.gz | grep -x "$all"
    gzip -t jit/tprof.otlp.gz
    rm jit/tprof.{callgrind,speedscope.json,pb.gz,otlp.gz}
    post -r "$(trace jit)" -o jit --export perf-script --export chrome --export firefox
    awk '/^[^\t#]/ { ++sum } END { printf "%d\n", sum }' jit/tprof.linux-perf.txt | grep -x "$all"
    tr '{' '\n' <jit/tprof.trace.json | grep -c '"cat":"tick"' | grep -x "$all"
    zcat jit/tprof.firefox.json.gz | grep -o '"weightType":"samples","length":[0-9]*' | awk -F : '{ sum += $NF } END { printf "%d\n", sum }' | grep -x "$all"
    rm jit/tprof.{linux-perf.txt,trace.json,firefox.json.gz}
    post -r "$(trace jit)" -o jit --export perfetto --export ctf --export parquet
    [ "$(stat -c %s jit/tprof.perfetto-trace)" -gt $((20 * count)) ]
    if type -P babeltrace2 >/dev/null; then babeltrace2 jit/tprof.ctf 2>/dev/null | grep -c ' tick: ' | grep -x "$all"; fi
    [ "$(head -c 4 jit/tprof.parquet)$(tail -c 4 jit/tprof.parquet)" = PAR1PAR1 ]
}

teardown_file() {
    [ ! -s "$BATS_FILE_TMPDIR/jit.said" ] || rm -f "/tmp/perf-$(cut -d ' ' -f 1 "$BATS_FILE_TMPDIR/jit.said").map"
}
