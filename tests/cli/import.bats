#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# post --import: recordings by perf record, compared with what perf script prints of them.

bats_require_minimum_version 1.5.0

setup_file() {
    export PATH="$BUILD_DIR/bin:$BUILD_DIR/tests:$PATH" DEBUGINFOD_URLS=
    type -P perf >/dev/null || skip "needs perf"
    cd "$BATS_FILE_TMPDIR" || return
    # A name that no other test on this machine uses at the same time. perf's copies of its files go here, too.
    export program=calls-$$ threads=starts-$$ HOME=$BATS_FILE_TMPDIR
    cp "$BUILD_DIR/tests/calls" "$program"
    cp "$BUILD_DIR/tests/starts" "$threads"
    perf record -q -e cpu-clock -F 997 -g -o perf.data "./$program" 1 >/dev/null 2>perf.err || skip "perf cannot record here"
}

setup() { cd "$BATS_FILE_TMPDIR" || return; }

# samples FILE: prints each function of the recorded program with the number of its samples, and how many samples there are.
samples() {
    perf script -i "$1" -F event,ip,sym,dso -G 2>/dev/null | awk -v event="${2-}" 'event != "" && index($1, event) != 1 { next }
        { ++all } match($NF, "/(calls|starts)-[0-9]+\\)$") && $3 != "[unknown]" { ++own[$3] }
        END { print "all", all; for (name in own) print name, own[name] }' | sort
}

# ticks: the same of tprof.json.
ticks() {
    jq -r '"all \(.ticks)", (.reports[] | select(.title == "Module_Symbol") | .rows[] | select(.name | test("/(calls|starts)-[0-9]+$")) | .children[]
        | select(.name != "NoSymbols") | "\(.name) \(.ticks)")' tprof.json | sort
}

@test "ticks by function are the samples that perf script shows, and callers are those of its stacks" {
    post --import perf.data --json --folded --clip 0 2>err
    [ ! -s err ]
    samples perf.data >wanted
    [ "$(wc -l <wanted)" -ge 5 ]
    awk '$1 == "all" && $2 < 100 { exit 1 }' wanted
    ticks | diff - wanted
    # The innermost two frames: shared is called by alpha and by beta.
    for caller in alpha beta; do
        perf script -i perf.data -F ip,sym 2>/dev/null | awk -v caller="$caller" '/^$/ { at = 0; next } { ++at }
            at == 1 { own = $2 } at == 2 && own == "shared" && $2 == caller { ++sum } END { print sum + 0 }' >stacks
        [ "$(cat stacks)" -gt 5 ]
        awk -v path=";$caller;shared " 'index($0, path) { sum += $NF } END { print sum + 0 }' tprof.folded | diff - stacks
    done
    [ "$(jq -r '.trace.source, .trace.scope' tprof.json)" = $'perf record\nprocess' ]
    [ "$(stat -c %a perf.data.nrm2)" = 600 ]
    # It is a trace like others.
    post -r perf.data.nrm2 --json=again.json --folded --clip 0
    diff tprof.json again.json
}

@test "several events and threads, compressed, and with context switches" {
    [ "$(swtrace check --json | jq .perf_system_works)" = true ] || skip "needs perf_event_open for the whole system"
    perf record -q -a -z -e cpu-clock,page-faults -F 499 --switch-events -o all.data "./$threads" 1 >/dev/null
    post --import all.data --event 'page-*' --json --clip 0
    samples all.data page-faults >wanted
    ticks | diff - wanted
    post --import all.data --json --offcpu --clip 0
    samples all.data cpu-clock >wanted
    ticks | diff - wanted
    grep -q "$threads" tprof.offcpu
    [ "$(jq -r .trace.scope tprof.json)" = system ]
    grep -q 'samples of other' tprof.out
    jq -e --arg name "$threads" '[.. | objects | select(.name? // "" | startswith($name))] | length > 0' tprof.json
    run -1 post --import all.data --event cycles
    [[ $output == *"no samples of an event cycles; it has the events cpu-clock"*"page-faults"* ]]
}

@test "the output of perf record to a pipe, without call chains" {
    perf record -q -e cpu-clock -c 3000000 -o - "./$threads" 1 | cat >piped.data
    post --import piped.data --json --clip 0
    samples piped.data >wanted
    ticks | diff - wanted
    [ "$(jq .trace.tick_ns tprof.json)" -eq 3000000 ]
}

@test "a recording that was made elsewhere has names by its build-ids" {
    mkdir -p kept moved
    cp "$program" kept/ && mv "$program" moved/
    # Another program of that name, as on another machine.
    cp "$BUILD_DIR/tests/shares" "$program"
    post --import perf.data -o moved --json --clip 0
    run ! grep -q alpha moved/tprof.json
    # The line may be broken anywhere.
    tr -s ' \n' ' ' <moved/tprof.out | grep -q 'has build-id'
    post --import perf.data -o moved --sympath kept --json --clip 0
    samples_of_alpha=$(jq '[.reports[] | select(.title == "Module_Symbol") | .rows[].children[] | select(.name == "alpha").ticks] | add' moved/tprof.json)
    [ "$samples_of_alpha" -gt 20 ]
    mv "moved/$program" .
}

@test "what is damaged, foreign or no file is refused or reported" {
    mkdir -p bad
    head -c 20000 perf.data >bad/cut.data
    run -3 post --import bad/cut.data -o bad --json
    [[ $output == *'The recording is not complete'* || $(cat bad/tprof.out) == *'The recording is not complete'* ]]
    : >bad/empty
    run -1 post --import bad/empty -o bad
    [[ $output == *"'bad/empty' is empty: perf record has failed"* ]]
    echo text >bad/text
    run -1 post --import bad/text -o bad
    [[ $output == *"'bad/text' is no recording of perf"* ]]
    run -1 post --import bad -o bad
    [[ $output == *"'bad' is a directory; what 'perf record --threads' writes is not read."* ]]
    mkfifo bad/pipe
    run -1 timeout 10 post --import bad/pipe -o bad
    run -1 timeout 10 post --import /dev/zero -o bad
    [[ $output == *"'/dev/zero' cannot be opened: not a regular file."* ]]
    [ -z "$(ls bad/pipe.nrm2 bad/empty.nrm2 bad/zero.nrm2 2>/dev/null)" ]
    # Nothing is written through a link.
    mkdir linked
    echo precious >linked/target
    ln -s target linked/perf.data.nrm2
    run -1 post --import perf.data -o linked
    [[ $output == *"'linked/perf.data.nrm2' is a symbolic link"* ]]
    [ "$(cat linked/target)" = precious ]
    if perf stat record -o bad/stat.data true 2>/dev/null; then
        run -1 post --import bad/stat.data -o bad
        [[ $output == *"has counts of 'perf stat record' and no samples."* ]]
    fi
    run -1 post -r perf.data
    [[ $output == *'a recording of perf; post --import converts it.'* ]]
    run -255 post --import perf.data -r other.nrm2
    run -255 post --event cycles
}

@test "a full disk leaves no trace file, and the old one stays" {
    [ "$(id -u)" -eq 0 ] || skip "needs root, to mount a file system"
    mkdir full
    mount -t tmpfs -o size=64k none full || skip "cannot mount a file system"
    echo old >full/perf.data.nrm2
    run -1 post --import perf.data -o full
    [[ $output == *"Cannot write 'full/perf.data.nrm2': No space left on device"* ]]
    [ "$(cat full/perf.data.nrm2)" = old ]
    [ "$(find full -type f | wc -l)" -eq 1 ]
    umount full
}

teardown_file() {
    ! mountpoint -q "$BATS_FILE_TMPDIR/full" || umount "$BATS_FILE_TMPDIR/full"
}
