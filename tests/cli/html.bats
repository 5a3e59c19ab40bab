#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# post --html and run.tprof --html from the command line, and what the script of the page computes.

bats_require_minimum_version 1.5.0

setup_file() {
  export PATH="$BUILD_DIR/bin:$PATH"
  export made=$BATS_FILE_TMPDIR PITRACE_SOCKET=$BATS_FILE_TMPDIR/socket
  cd "$made" || return
  gcc -O1 -fno-omit-frame-pointer -o plain "$SOURCE_DIR/tests/progs/calls.c"
  objcopy --redefine-sym alpha='</script><img src=x onerror=alert(1)>' plain calls
  swtrace init -s 8 --source perf >init.log 2>&1 || { echo "no perf events here" >no-perf && return; }
  swtrace enable tprof dispatch
  swtrace stacks both
  swtrace on
  ./calls 1
  swtrace off
  swtrace get run.nrm2
  swtrace free
}

setup() {
  cd "$BATS_TEST_TMPDIR" || return
}

need_trace() { [[ ! -e $made/no-perf ]] || skip "needs perf events"; }

# data FILE: prints the data of a page.
data() {
  node -e 'const page = require("fs").readFileSync(process.argv[1], "utf8");
    const data = /^<pre id="data" hidden>([A-Za-z0-9+\/=]*)<\/pre>$/m.exec(page)[1];
    process.stdout.write(require("zlib").inflateSync(Buffer.from(data, "base64")));' "$1"
}

@test "the page's functions compute what they should" {
  node --test "$SOURCE_DIR/tests/support/page_test.mjs"
}

@test "the page has the ticks of the reports, by process and symbol, and by CPU" {
  need_trace
  post -r "$made/run.nrm2" -clip 0 --html --json -demangle
  data tprof.html >data.json
  ticks=$(jq .ticks tprof.json)
  [ "$ticks" -gt 100 ]
  [ "$(jq -c '[.schema, .schema_version, .tick_count, (.ticks.amount | add), (.cpu_ticks.amount | add)]' data.json)" = \
    "[\"pitrace-html\",1,$ticks,$ticks,$ticks]" ]
  jq -r '. as $d | [.ticks.sums, .paths.thread] | transpose
    | reduce .[] as [$sums, $thread] ({at: 0, by: {}};
        $d.threads.process[$thread] as $process
        | .by[($d.processes.pid[$process] | tostring)] += ([$d.ticks.amount[.at:.at + $sums][]] | add // 0) | .at += $sums)
    | .by | to_entries[] | select(.value != 0) | "\(.key) \(.value)"' data.json | sort >by-page
  jq -r '[.reports[] | select(.title == "Process") | .rows[]] | group_by(.pid)[] | "\(.[0].pid) \(map(.ticks) | add)"' \
    tprof.json | sort >by-report
  diff by-report by-page
  [ "$(jq '.schedule.thread | length' data.json)" -gt 1 ]
  [ "$(jq '.time.bins' data.json)" -le 2048 ]
}

@test "names that look like markup are data" {
  need_trace
  post -r "$made/run.nrm2" --html=page.html
  data page.html | jq -e '.names | index("</script><img src=x onerror=alert(1)>")'
  run ! grep -q 'onerror=alert' page.html
  [ "$(grep -o '<script' page.html | wc -l)" -eq 1 ]
}

@test "a selection applies to the page, and a part of the time has finer stretches" {
  need_trace
  post -r "$made/run.nrm2" --html=whole.html --json
  # On a busy machine the program runs for many seconds, with gaps.
  part=$(jq .trace.trace_time_s tprof.json | awk '{ printf "%.3f-%.3f", $1 * 0.3, $1 * 0.6 }')
  post -r "$made/run.nrm2" --html=part.html --time "$part" --process calls
  data whole.html >whole.json
  data part.html >part.json
  [ "$(jq .time.bin_ns part.json)" -lt "$(jq .time.bin_ns whole.json)" ]
  jq -e '.processes.name as $all | .names as $names | [$all[] | $names[.]] | unique == ["calls"]' part.json
  # Waits cannot be divided by module: the page has none.
  post -r "$made/run.nrm2" --html=module.html --module calls
  [ "$(data module.html | jq -c .schedule)" = null ]
}

@test "--html needs a name after =, and does not go with --diff, --archive and -showx" {
  for words in "--html=" "--html --diff a b" "--html --archive" "--html -showx"; do
    # shellcheck disable=SC2086
    run post $words
    [ "$status" -eq 255 ]
  done
}
