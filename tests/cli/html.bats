#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# post --html and run.tprof --html from the command line, and what the script of the page computes.

bats_require_minimum_version 1.5.0

# shellcheck source=tests/support/page_data.bash
source "$SOURCE_DIR/tests/support/page_data.bash"

setup_file() {
  export PATH="$BUILD_DIR/bin:$PATH"
  export made=$BATS_FILE_TMPDIR PITRACE_SOCKET=$BATS_FILE_TMPDIR/socket
  cd "$made" || return
  cp "$SOURCE_DIR/tests/progs/calls.c" . && chmod a+r calls.c
  gcc -O1 -g -fno-omit-frame-pointer -I "$SOURCE_DIR/tests/progs" -o plain calls.c
  objcopy --redefine-sym alpha='</script><img src=x onerror=alert(1)>' plain calls
  printf '%s\n' '#include <perfutil.h>' '#include <stdlib.h>' 'int main(int argc, char **argv) {' \
    '  for (int i = 0; i < atoi(argv[argc - 1]); ++i) TraceHook(0x70, 7, 1, 1, i, 8u, "<script>");' '}' >hook.c
  gcc -I "$SOURCE_DIR/libperfutil/include" -I "$SOURCE_DIR/include" -o hook hook.c -L "$BUILD_DIR/lib" -lperfutil -Wl,-rpath,"$BUILD_DIR/lib"
  swtrace init -s 8 --source perf >init.log 2>&1 || { echo "no perf events here" >no-perf && return; }
  swtrace enable tprof dispatch
  swtrace enable 0x70
  swtrace stacks both
  swtrace on
  ./calls 1
  ./hook 25
  swtrace off
  swtrace get run.nrm2
  swtrace free
}

setup() {
  cd "$BATS_TEST_TMPDIR" || return
}

need_trace() { [[ ! -e $made/no-perf ]] || skip "needs perf events"; }

@test "the page's functions compute what they should" {
  node --test "$SOURCE_DIR/tests/support/page_test.mjs"
}

@test "the page has the ticks of the reports, by process and symbol, and by CPU" {
  need_trace
  post -r "$made/run.nrm2" -clip 0 --html --json -offcpu -demangle
  page_data tprof.html >data.json
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
  # The time of waits is that of the rows of threads in tprof.offcpu, which are rounded to microseconds.
  read -r rows runnable blocked wakes < <(awk -v OFMT=%.3f '/Process_Thread_Stack/ { exit }
    $1 == "TID" { rows++; runnable += $3; blocked += $4; wakes += $8 } END { print rows, runnable, blocked, wakes }' tprof.offcpu)
  [ "$rows" -gt 2 ]
  jq -e --argjson rows "$rows" --argjson runnable "$runnable" --argjson blocked "$blocked" '
    def ms: [.length, .amount] | transpose | map(.[0] * .[1]) | add / 1e6;
    (.waits.runnable | ms - $runnable | fabs) <= $rows * 0.0006 and (.waits.blocked | ms - $blocked | fabs) <= $rows * 0.0006
    and .waits.stacks and (.waits.blocked | ms) > 0' data.json
  [ "$(jq '.wakers.amount | add // 0' data.json)" -eq "$wakes" ]
}

@test "user hooks are in the page, with their text and the thread that wrote them" {
  need_trace
  post -r "$made/run.nrm2" --html
  page_data tprof.html | jq -c '. as $d | .hooks | [(.amount | add), .left_out, (.major | unique), (.minor | unique),
    (.text | unique | map($d.names[.])), (.thread | unique | map($d.names[$d.processes.name[$d.threads.process[. - 1]]]))]' >hooks
  [ "$(cat hooks)" = '[25,0,[112],[7],["<script>"],["hook"]]' ]
}

@test "names that look like markup are data" {
  need_trace
  post -r "$made/run.nrm2" --html=page.html
  page_data page.html | jq -e '.names | index("</script><img src=x onerror=alert(1)>")'
  run ! grep -q 'onerror=alert' page.html
  [ "$(grep -o '<script' page.html | wc -l)" -eq 1 ]
}

@test "a selection applies to the page, and a part of the time has finer stretches" {
  need_trace
  post -r "$made/run.nrm2" --html=whole.html --json
  # On a busy machine the program runs for many seconds, with gaps.
  part=$(jq .trace.trace_time_s tprof.json | awk '{ printf "%.3f-%.3f", $1 * 0.3, $1 * 0.6 }')
  post -r "$made/run.nrm2" --html=part.html --time "$part" --process calls
  page_data whole.html >whole.json
  page_data part.html >part.json
  [ "$(jq .time.bin_ns part.json)" -lt "$(jq .time.bin_ns whole.json)" ]
  jq -e '.processes.name as $all | .names as $names | [$all[] | $names[.]] | unique == ["calls"]' part.json
  # Waits cannot be divided by module: the page has none.
  post -r "$made/run.nrm2" --html=module.html --module calls
  [ "$(page_data module.html | jq -c .schedule)" = null ]
}

@test "lines and instructions have the ticks of their functions" {
  need_trace
  post -r "$made/run.nrm2" -clip 0 --html --json --process calls
  page_data tprof.html >data.json
  jq -r '. as $d | [.code.ticks.sums, .code.ticks.instruction] | transpose
    | reduce .[] as [$sums, $instruction] ({at: 0, by: {}};
        $d.code.instructions.frame[$instruction] as $frame | $d.names[$d.frames.symbol[$frame]] as $symbol
        | .by[$symbol] += ([$d.code.ticks.amount[.at:.at + $sums][]] | add) | .at += $sums)
    | .by | to_entries[] | select(.key | test("^(main|work|beta|shared|recurse|</script)")) | "\(.key) \(.value)"' data.json | sort >by-page
  jq -r '[.reports[] | select(.title == "Module_Symbol") | .rows[].children[]] | group_by(.name)[]
    | select(.[0].name | test("^(main|work|beta|shared|recurse|</script)")) | "\(.[0].name) \(map(.ticks) | add)"' tprof.json | sort >by-report
  [ -s by-page ]
  diff by-report by-page
  # Each has an instruction as text, and a line of the source.
  jq -e '.names as $n | [.code.instructions.text[] | $n[.]] | any(startswith("dec") or startswith("jnz") or startswith("jne"))' data.json
  jq -e '.names as $n | [.code.lines.file[] | $n[.]] | any(endswith("calls.c"))' data.json
}

@test "source text is in the page only with --with-source, and of files that may be read" {
  need_trace
  for directory in "$BATS_RUN_TMPDIR" "$BATS_RUN_TMPDIR"/*/ "$made"; do chmod o+x "$directory"; done
  texts() { page_data "$1" | jq '.names as $n | [.code.lines.text[] | $n[.]] | any(test("[a-z]"))'; }
  files() { page_data "$1" | jq -r '.code.sources[] | join(" ")'; }
  post -r "$made/run.nrm2" --html=none.html --process calls
  [ "$(texts none.html)" = false ]
  [ -z "$(files none.html)" ]
  post -r "$made/run.nrm2" --html=with.html --with-source --process calls
  [ "$(texts with.html)" = true ]
  files with.html | grep -qx "$made/calls.c "
  # A name in debug information can be that of any file.
  mv "$made/calls.c" "$made/away.c"
  mkfifo "$made/calls.c"
  post -r "$made/run.nrm2" --html=fifo.html --with-source --process calls
  rm "$made/calls.c"
  mv "$made/away.c" "$made/calls.c"
  [ "$(texts fifo.html)" = false ]
  files fifo.html | grep -q "^$made/calls.c ..*"
  chmod 0600 "$made/calls.c"
  [ "$(id -u)" -ne 0 ] || post -r "$made/run.nrm2" --html=private.html --with-source --process calls
  chmod 0644 "$made/calls.c"
  [ ! -e private.html ] || [ "$(texts private.html)" = false ]
  run -255 post -r "$made/run.nrm2" --with-source
}

@test "--diff with --html makes a page on the second trace that has the call paths of the first" {
  need_trace
  # Other programs can have the same names in other directories, which a comparison unites.
  post --diff "$made/run.nrm2" "$made/run.nrm2" --process calls --html >diff.txt
  page_data tprof.diff.html >data.json
  jq -e --arg trace "$made/run.nrm2" '.base.trace == $trace and .base.ticks == .tick_count and (.base.paths.ticks | add) == .tick_count' data.json
  # By function, both have the same ticks.
  by_function() { jq -c "[$1 | transpose[] | select(.[1] > 0)] | group_by(.[0]) | map([.[0][0], (map(.[1]) | add)])" data.json; }
  [ "$(by_function '[.base.paths.frame, .base.paths.ticks]')" = \
    "$(by_function '[.paths.frame, (. as $d | [.ticks.sums | foreach .[] as $n ({at: 0}; {at: (.at + $n), sum: ([$d.ticks.amount[.at:.at + $n][]] | add // 0)}; .sum)])]')" ]
  post -r "$made/run.nrm2" -clip 0 --json=run.json
  run -1 post --diff run.json "$made/run.nrm2" --html
  [[ $output == *"a page compares traces"* ]]
}

@test "--html needs a name after =, and does not go with --archive and -showx" {
  for words in "--html=" "--html --archive" "--html -showx"; do
    # shellcheck disable=SC2086
    run post $words
    [ "$status" -eq 255 ]
  done
}

@test "--with-data adds the call trees of a log-rt with their error bounds, and the counts of PTT" {
  need_trace
  cat >log-rt.json <<'END'
{"schema_version": 1, "calibrated": true, "metrics": [{"name": "CYCLES", "unit": "cycles", "error_bound": 2.5}], "lost": {"nodes": 3},
 "threads": [{"tid": 7, "name": "t", "nodes": [
   {"level": 0, "calls": 1, "base": [10]}, {"level": 1, "calls": 4, "base": [100], "name": "</script><img src=x onerror=alert(1)>"},
   {"level": 2, "calls": 6, "base": [-5], "name": "deep"}, {"level": 1, "calls": 2, "base": [50], "name": "other"}]}]}
END
  # As ptt dump -json prints it, of many threads: 60,000 of one process, of which those with the most cycles are kept.
  jq -nc '{active: true, ints: true, metrics: ["CYCLES"], processes: [{pid: 5, name: "many"}, {pid: 6, name: "few"}],
    threads: ([range(60000) | {pid: 5, tid: ., name: "t", ended: false, dispatches: 1, interrupts: 2, values: {CYCLES: .}}]
      + [{pid: 6, tid: 9, name: "one", ended: false, dispatches: 7, interrupts: 8, values: {CYCLES: 1e9}}]), no_data: false,
    ended_threads: {threads: 1, dispatches: 3, interrupts: 4, values: {CYCLES: 1e6}},
    threads_without_account: {dispatches: 0, interrupts: 0, values: {CYCLES: 0}}}' >ptt.json
  post -r "$made/run.nrm2" --html --with-data log-rt.json --with-data ptt.json
  page_data tprof.html >data.json
  # Calls, the metric itself, twice the bound for each call, and with all that is below.
  page_rows data.json 0 | diff - <(printf '%s\n' '0 thread 1 1 10 5 155' '1 </script><img src=x onerror=alert(1)> 4 100 20 95' '2 deep 6 -5 30 -5' '1 other 2 50 10 50')
  jq -e '.tables[0].facts | contains([["Error bound", "2.5 cycles of a call or a return"], ["Lost", "3 nodes"]])' data.json
  [ "$(jq -r '.tables[0] | .file, .columns[]' data.json | paste -sd ' ')" = 'log-rt.json calls itself error bound with calls' ]
  page_rows data.json 1 >rows
  grep -qx '0 many:5 60000 120000 1799970000' rows
  grep -qx '0 few:6 7 8 1000000000' rows
  grep -qx '1 one:9 7 8 1000000000' rows
  grep -qx '0 \[threads that have ended\] 3 4 1000000' rows
  [ "$(wc -l <rows)" -le 50010 ]
  [ "$(wc -l <rows)" -ge 49990 ]
  # What is kept and what is joined are all threads.
  [ "$(awk '$1 == 1 && /^1 (t:|\[left out\])/ { sum += $NF; n += $(NF - 2) } END { printf "%d %d", sum, n }' rows)" = '1799970000 60000' ]
  jq -e '.tables[1].facts[] | select(.[0] == "Left out")' data.json
}

@test "--with-data adds JProf's reports on locks and the heap, with what is not available" {
  cat >jlm.json <<'END'
{"schema_version": 1, "hold_times": true, "interval_ns": 1000000, "gc_ns": 7, "lost_gets": 2, "collisions": 0, "monitors": [
   {"class": "Busy", "hash": "ab", "gets": 4, "nonrec": 4, "slow": 1, "rec": 0, "hold_ns": 250000},
   {"class": "</script><img src=x onerror=alert(1)>", "hash": "", "gets": 15, "nonrec": 10, "slow": 0, "rec": 5, "hold_ns": 20000}],
 "blocked_elsewhere": [{"class": "a\u001bb", "slow": 3}], "not_counted": [{"what": "A.run()V", "why": "too large"}, {"what": "B", "why": "too large"}]}
END
  page_of jlm.json
  page_rows data.json 0 | diff - <(printf '%s\n' '0 Busy@ab 25 4 4 1 0 25 62500 250000' '0 </script><img src=x onerror=alert(1)>@* 0 15 10 0 5 2 2000 20000')
  page_rows data.json 1 | diff - <(printf '%s\n' '0 a\x1bb 3')
  jq -e '.tables[0] | .columns[0:7] == ["%MISS", "GETS", "NONREC", "SLOW", "REC", "%UTIL", "AVER_HTM (ns)"]' data.json
  jq -e '.tables[0].facts | contains([["Lost", "2 gets for lack of memory"], ["Not counted", "A.run()V and 1 more: too large"]])' data.json
  jq -e '[.tables[0].facts[] | select(.[0] == "Not available")] | length == 1' data.json
  jq -c '.hold_times = false | del(.monitors[].hold_ns) | .blocked_elsewhere = []' jlm.json >jlml.json
  page_of jlml.json
  page_rows data.json 0 | diff - <(printf '%s\n' '0 Busy@ab 25 4 4 1 0' '0 </script><img src=x onerror=alert(1)>@* 0 15 10 0 5')
  jq -e '[.tables[0].facts[] | select(.[0] == "Not available")] | length == 2' data.json
  cat >heap.json <<'END'
{"file": "a.hprof", "format": "hprof", "time_ms": 1, "objects": 9, "bytes": 90, "reachable_objects": 8, "reachable_bytes": 80, "references": 5,
 "dangling_references": 2, "objects_without_class": 0, "classes_loaded": 3, "layout": {"source": "assumed"}, "roots_assumed": true, "roots": {},
 "classes": [{"name": "</script><img src=x onerror=alert(1)>", "objects": 5, "bytes": 50, "retained": 70, "retained_exact": false}],
 "largest": [{"object": "Big", "id": 255, "bytes": 40, "retained": 60}],
 "ways": [{"path": "A", "depth": 1, "objects": 1, "bytes": 8, "retained": 70, "cut": false},
          {"path": "A > B > C", "depth": 2, "objects": 2, "bytes": 16, "retained": 60, "cut": true},
          {"path": "D", "depth": 1, "objects": 1, "bytes": 8, "retained": 9, "cut": false}],
 "suspects": [{"object": "Big", "id": 255, "objects": 1, "retained": 60, "percent": 75, "held": [{"name": "X", "objects": 4, "bytes": 30}],
               "path": {"root": "system class", "steps": [{"object": "Y", "id": 16, "reference": "static leak"}]}}],
 "paths": [], "damage": {"places": 3, "messages": []}}
END
  page_of heap.json
  page_rows data.json 0 | diff - <(echo '0 </script><img src=x onerror=alert(1)>  (retained: at least) 5 50 70')
  page_rows data.json 1 | diff - <(echo '0 Big 0xff 40 60')
  page_rows data.json 2 | diff - <(printf '%s\n' '0 A 1 8 70' '1 B > C  (and deeper) 2 16 60' '0 D 1 8 9')
  page_rows data.json 3 | diff - <(printf '%s\n' '0 Big 0xff 1 null 75 60' '1 keeps alive: X 4 30 null null' '1 reached from root: system class null null null null' \
    '2 Y 0x10 static leak null null null null')
  jq -e '.tables[3].facts | map(.[0]) | contains(["Sizes", "Roots", "Damaged"])' data.json
}

@test "--with-data adds AboveIdle by time: all samples, or means of many, and of a CPU that was away" {
  # As swtrace ai -json -sp prints it without the module; the third sample lacks CPU 1, the last line is cut off.
  cat >ai.json <<'END'
{"time": 1700000000, "source": "/proc/stat", "intr_is_tick_based": true, "cpus": [{"cpu": 0, "idle": 90, "busy": 9, "intr": 1}, {"cpu": 1, "idle": 50, "busy": 50, "intr": 0}], "system": {"idle": 70, "busy": 29.5, "intr": 0.5}}
{"time": 1700000001, "source": "/proc/stat", "intr_is_tick_based": true, "cpus": [{"cpu": 0, "idle": 20, "busy": 70, "intr": 10}], "system": {"idle": 20, "busy": 70, "intr": 10}}
{"time": 1700000002, "source
END
  truncate -s -1 ai.json
  page_of ai.json
  jq -e '.tables[0] | .title == "AboveIdle" and .order == "time" and .columns == ["% above idle", "% busy", "% interrupts", "% idle"]' data.json
  page_rows data.json 0 | diff - <(printf '%s\n' '0 2023-11-14 22:13:20 UTC 30 29.5 0.5 70' '1 CPU 0 10 9 1 90' '1 CPU 1 50 50 0 50' \
    '0 2023-11-14 22:13:21 UTC 80 70 10 20' '1 CPU 0 80 70 10 20')
  jq -e '.tables[0].facts | contains([["Samples", "2"], ["Damaged", "the last line is cut off and left out"]])' data.json
  # With the module, without the system: 3,000 samples of two CPUs are rows of three, whose dispatches are added up.
  jq -nc 'range(3000) | {time: ., source: "hooks", intr_is_tick_based: false,
    cpus: [range(2) as $cpu | {cpu: $cpu, idle: 60, busy: (40 - (. + $cpu) % 3), intr: ((. + $cpu) % 3), dispatches: 2, interrupts: 1}]}' >ai.json
  page_of ai.json
  page_rows data.json 0 >rows
  [ "$(wc -l <rows)" -eq 3000 ]
  [ "$(grep -c '^1 CPU 1 40 39 1 60 6 3$' rows)" -eq 1000 ]
  [ "$(grep -c '^0 1970-01-01 .* UTC 40 39 1 60 12 6$' rows)" -eq 1000 ]
  jq -e '.tables[0].facts | contains([["Rows", "means of up to 3 samples each; counts are sums"]])' data.json
}

@test "--with-data takes files of these kinds only, and goes with --html" {
  need_trace
  run -255 post -r "$made/run.nrm2" --with-data x.json
  [[ $output == *"--with-data goes with --html"* ]]
  for text in '' '{}' '[1]' '{"threads_without_account": 1}' '{"schema_version": 1, "threads": [{"nodes": [{"level": 3, "calls": 1, "base": []}]}]}' \
    $'{"intr_is_tick_based": 1}\n' $'{"time": 1e300, "source": "x", "intr_is_tick_based": true}\n' '{"blocked_elsewhere": []}' '{"blocked_elsewhere": [], "monitors": [1]}' '{"dangling_references": 1, "classes": [{"name": 7}]}'; do
    printf '%s' "$text" >bad.json
    run -1 post -r "$made/run.nrm2" --html --with-data bad.json
    [[ $output == *bad.json* ]]
  done
  [ ! -e tprof.html ]
}
