#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# post --export: a real trace, read by programs for these formats.

bats_require_minimum_version 1.5.0

setup_file() {
    export PATH="$BUILD_DIR/bin:$BUILD_DIR/tests:$PATH" PITRACE_SOCKET=$BATS_FILE_TMPDIR/recorder
    [ "$(swtrace check --json | jq .perf_system_works)" = true ] || skip "needs perf_event_open for the whole system"
    cd "$BATS_FILE_TMPDIR" || return
    swtrace init --source perf
    swtrace enable tprof
    swtrace stacks both
    swtrace on
    # A program whose name and functions no other test on this machine profiles at the same time: callgrind_annotate adds up functions
    # of the same name. Without unwind tables its callers are guesses.
    export program=calls-$$
    objcopy --prefix-symbols=own_ --remove-section=.eh_frame --remove-section=.eh_frame_hdr "$BUILD_DIR/tests/calls" "$program"
    "./$program" 1 >/dev/null
    swtrace off
    swtrace get
    swtrace free
    post --export callgrind --export chrome --export perf-script --export pprof --export speedscope --clip 0 --json -folded
    # What every export must contain: the ticks of each named function of the program.
    jq -r '.reports[] | select(.title == "Module_Symbol") | .rows[] | select(.name | endswith("/" + $ENV.program)) | .children[]
        | select(.name != "NoSymbols") | "\(.name) \(.ticks)"' tprof.json | sort >truth
    [ "$(wc -l <truth)" -ge 4 ] && awk '{ sum += $2 } END { exit sum < 50 }' truth
}

setup() { cd "$BATS_FILE_TMPDIR" || return; }

@test "callgrind_annotate shows the ticks of each function, and all ticks" {
    type -P callgrind_annotate >/dev/null || skip "needs valgrind"
    callgrind_annotate --threshold=100 --show-percs=no --show=Ticks tprof.callgrind | tr -d , >shown
    sed -nE "s/^ *([0-9]+) +[?]{3}:(.*) \[.*\/$program\]\$/\2 \1/p" shown | grep -v ' 0$' | sort | diff - truth
    [ "$(awk '/PROGRAM TOTALS/ { print $1 }' shown)" -eq "$(jq .ticks tprof.json)" ]
    guessed=$(awk '/_\[g\]/ { ticks += $NF } END { print ticks }' tprof.folded)
    [ "$guessed" -ge 40 ]
    callgrind_annotate --show-percs=no --show=Guessed tprof.callgrind | tr -d , | awk '/PROGRAM TOTALS/ { print $1 }' | grep -x "$guessed"
}

@test "speedscope's file has the ticks of each function, and those of each process" {
    jq -r '(.shared.frames | map(.file // "" | endswith("/" + $ENV.program))) as $ours | .shared.frames as $frames
        | [.profiles[] | [.samples, .weights] | transpose[] | {frame: .[0][-1], weight: .[1]}] | group_by(.frame)[]
        | select($ours[.[0].frame]) | "\($frames[.[0].frame].name) \(map(.weight) | add)"' tprof.speedscope.json >weights
    tick=$(jq .trace.tick_ns tprof.json)
    awk -v tick="$tick" '!/^\[/ { print $1, $2 / tick }' weights | sort | diff - truth
    # Every weight is that of a profile, and every frame is one of the shared frames.
    jq -e '(.shared.frames | length) as $frames
        | all(.profiles[]; .endValue == (.weights | add) and (.samples | length) == (.weights | length) and all(.samples[][]; . < $frames))' tprof.speedscope.json
    [ "$(jq '[.profiles[].endValue] | add' tprof.speedscope.json)" -eq $((tick * $(jq .ticks tprof.json))) ]
}

@test "Chrome's JSON has every tick, with its stack" {
    jq -r '.stackFrames as $frames | [.traceEvents[] | select(.ph == "i" and .cat == "tick")] | (map(select(.name != $frames[.sf].name)) | length | "other \(.)"),
        "ticks \(length)"' tprof.trace.json >counts
    [ "$(cat counts)" = "other 0"$'\n'"ticks $(jq .ticks tprof.json)" ]
    # Each function of the program as often as post has it; all parents exist.
    jq -r '(.traceEvents | map(select(.ph == "M" and .name == "process_name" and .args.name == $ENV.program).pid)) as $ours
        | .traceEvents | map(select(.ph == "i" and (.pid | IN($ours[]))).name) | group_by(.)[] | "\(.[0]) \(length)"' tprof.trace.json | sort >named
    join truth named | awk '$2 == $3' | wc -l | diff - <(wc -l <truth)
    jq -e '.stackFrames as $frames | all($frames[]; .parent == null or $frames[.parent] != null)' tprof.trace.json
}

@test "the text of perf script has every tick, with the innermost function first" {
    # As stackcollapse-perf.pl reads it: a head, frames, an empty line.
    awk '/^$/ { head = 0; next } /^#/ { next }
        !head { if (!/^[^ ].* +[0-9]+\/[0-9]+ \[[0-9]+\] [0-9]+\.[0-9]+: [0-9]+ [^ ]+:$/) exit 1; head = 1; innermost = 1; next }
        !/^\t0 .+ \([^ ]+\)$/ { exit 1 }
        innermost { ++ticks; if (index($0, "/" ENVIRON["program"] ")")) ++own[$2]; innermost = 0 }
        END { print ticks; for (name in own) if (name !~ /^\[/) print name, own[name] >"samples" }' tprof.linux-perf.txt >all
    sort samples | diff - truth
    [ "$(cat all)" -eq "$(jq .ticks tprof.json)" ]
}

@test "an unknown format is refused, and exports need ticks" {
    run -255 post --export nosuch
    [[ $output == *"nosuch"* && $output == *speedscope* ]]
    for format in chrome ctf firefox parquet perfetto; do
        run -1 --separate-stderr post --process nosuch --export "$format" -o none
        [[ $stderr == *"none of them is selected"*"nosuch matches nothing in the trace"* && $stderr != *"swtrace enable"* ]]
    done
    run -255 post --showx --export pprof
    [[ $output == *"-export needs the reports"* || $output == *"--export needs the reports"* ]]
}

# bats test_tags=long
@test "go tool pprof shows the ticks of each function" {
    type -P go >/dev/null || skip "needs Go"
    go tool pprof -sample_index=ticks -top -nodecount=100000 -nodefraction=0 tprof.pb.gz >shown 2>err || { cat err && false; }
    # Lines: flat flat% sum% cum cum% name. Functions with the same name in other modules are other lines.
    awk '$NF ~ /%$/ { next } NF >= 6 && $1 ~ /^[0-9]+$/ { print $6, $1 }' shown | sort >all
    join truth all | awk '$2 == $3' | wc -l | diff - <(wc -l <truth)
}

@test "the folder of --export ctf has the streams of this trace only, and a link in its place is refused" {
    mkdir folder && cd folder
    mkdir tprof.ctf
    touch tprof.ctf/cpu_4000 tprof.ctf/cpu_notes
    post -r ../swtrace.nrm2 --export ctf
    [ ! -e tprof.ctf/cpu_4000 ]
    [ -e tprof.ctf/cpu_notes ]
    grep -q '^/\* CTF 1.8 \*/$' tprof.ctf/metadata
    cmp -n 4 <(printf '\301\037\374\301') "$(ls -S tprof.ctf/cpu_[0-9]* | head -n 1)"
    rm -r tprof.ctf
    mkdir elsewhere && ln -s elsewhere tprof.ctf
    run -1 post -r ../swtrace.nrm2 --export ctf
    [[ $output == *'cannot use the folder'*'tprof.ctf'* ]]
    [ -z "$(ls elsewhere)" ]
    rm tprof.ctf && mkdir tprof.ctf
    if [ "$(id -u)" -eq 0 ]; then
        chown 65534 tprof.ctf
        run -1 post -r ../swtrace.nrm2 --export ctf
        [[ $output == *'it belongs to another user'* ]]
        [ -z "$(ls -A tprof.ctf)" ]
    fi
}

@test "a full disk leaves no folder of --export ctf" {
    unshare -m true 2>/dev/null || skip "needs root to mount a small file system"
    mkdir small
    unshare -m bash -c '
        mount -t tmpfs -o size=8k none small || exit 9
        post -r swtrace.nrm2 --export ctf -o small 2>err && exit 8
        ls -A small >left'
    grep -q 'No space left' err
    run ! grep -q ctf left
}
