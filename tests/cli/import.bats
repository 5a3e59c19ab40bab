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

@test "the directory of perf record --threads" {
    perf record -q -a --threads -e cpu-clock -F 499 -g -o threads.data "./$threads" 1 >/dev/null 2>perf.err || skip "perf cannot record so"
    [ -d threads.data ]
    post --import threads.data/ --json --clip 0
    samples threads.data >wanted
    ticks | diff - wanted
    [ "$(jq -r .trace.scope tprof.json)" = system ]
    # A file whose number shows that another one is missing is read, too.
    cp -r threads.data gap.data
    last=$(find gap.data -name 'data.*' | sort -V | tail -n 1)
    mv "$last" "${last%.*}.9"
    run -3 post --import gap.data --json --clip 0
    tr -s ' \n' ' ' <tprof.out | grep -q 'one of its files is missing'
    ticks | diff - wanted
    run -1 post --import threads.data -o threads.data --json=data
    [[ $output == *"threads.data/data is read: it cannot be replaced"* ]]
}

@test "a recording is not replaced by what is made of it" {
    for words in --json=own.data --html=own.data --archive=own.data; do
        cp perf.data own.data
        run -1 post --import own.data "$words"
        [[ $output == *"own.data is read: it cannot be replaced"* ]]
        cmp perf.data own.data
    done
    mkdir -p here && cp perf.data here/tprof.out
    run -1 post --import here/tprof.out -o here
    cmp perf.data here/tprof.out
}

@test "a program whose name has a line feed has the names of its functions" {
    cp "$program" $'line\nfeed'
    perf record -q -e cpu-clock -F 997 -o feed.data $'./line\nfeed' 1 >/dev/null
    post --import feed.data --json --clip 0
    [ "$(jq '[.reports[] | select(.title == "Module_Symbol") | .rows[] | select(.name | endswith("feed")) | .children[] | select(.name != "NoSymbols").ticks] | add' tprof.json)" -ge 10 ]
}

@test "records of unknown types, and features without a list, are reported" {
    python3 - perf.data unknown.data nofeatures.data <<'END'
import struct, sys
data = bytearray(open(sys.argv[1], 'rb').read())
begin, size = struct.unpack_from('<QQ', data, 40)
unknown = bytearray(data)
at = begin
changed = 0
while at < begin + size and changed < 20:
    kind, misc, length = struct.unpack_from('<IHH', unknown, at)
    if kind == 9:
        struct.pack_into('<I', unknown, at, 0x149)
        changed += 1
    at += length
assert changed == 20
open(sys.argv[2], 'wb').write(unknown)
data[72:104] = bytes(32)
open(sys.argv[3], 'wb').write(data)
END
    post --import perf.data --json && all=$(jq .ticks tprof.json)
    run post --import unknown.data --json
    [[ $output == *lost* ]]
    [ "$(jq .ticks tprof.json)" -eq $((all - 20)) ]
    run -3 post --import nofeatures.data
}

# with_tracefs COMMAND...: where the kernel's tracepoints can be read; the mount is this command's alone.
with_tracefs() {
    unshare -m bash -c '{ [ -d /sys/kernel/tracing/events ] || mount -t tracefs none /sys/kernel/tracing; } && exec "$@"' with_tracefs "$@"
}

# switches FILE: of each sample of sched:sched_switch its time in nanoseconds, next's thread id, and what PITRACE_STATE_* has of prev.
switches() {
    perf script -i "$1" --ns -G -F time,event,trace 2>/dev/null | awk 'BEGIN {
            state["S"] = 1; state["D"] = 2; state["T"] = state["t"] = 3; state["X"] = state["Z"] = 4; state["P"] = 5; state["I"] = 6 }
        !/ sched:sched_switch: / { next }
        { split($1, time, "[.:]"); match($0, /prev_state=[^ ]+/); letter = substr($0, RSTART + 11, RLENGTH - 11); match($0, / next_pid=[0-9]+/)
          value = / prev_pid=0 / ? 0 : letter == "R+" ? 256 : state[substr(letter, 1, 1)] + 0
          printf "%d%09d %d %d\n", time[1], time[2], substr($0, RSTART + 10, RLENGTH - 10), value }' | sort
}

# dispatches POST_SHOW: the same of the dispatches that post -showx has written.
dispatches() {
    gawk 'function number(text) { return strtonum("0x" text) }
        $4 == 12 && number($5) < 2147483648 { split($6, time, ":"); printf "%d %d %d\n", number(time[1]) * 4294967296 + number(time[2]), number($7), number($8) }' "$1" | sort
}

# same_switches FILE: each switch that perf has recorded is in the report, and only what perf has lost is lost.
same_switches() {
    switches "$1" >wanted
    [ "$(wc -l <wanted)" -ge 10 ]
    post --import "$1" --json --offcpu --clip 0
    [ "$(jq .off_cpu.dispatches tprof.json)" -eq "$(wc -l <wanted)" ]
    perf script -i "$1" --show-lost-events 2>/dev/null | grep -q PERF_RECORD_LOST || grep -q 'Nothing lost' tprof.out
    post -r "${1%/}.nrm2" -showx
    dispatches post.show | diff - wanted
}

# off FILE: of each thread of the program "starts" its id, how often it was switched to, and for how many nanoseconds it was off the CPU
# between a switch away from it and one to it. The kernel does not report every switch: where the last one on a CPU was to another thread,
# it is not known when prev came, but not before it was woken.
off() {
    perf script -i "$1" --ns -G -F cpu,time,event,trace 2>/dev/null | awk -v name="$threads" '
        { cpu = $1; split($2, time, "[.:]"); now = time[1] % 1000000 * 1000000000 + time[2] }
        / sched:sched_waking: / && match($0, / pid=[0-9]+/) {
          woken = substr($0, RSTART + 5, RLENGTH - 5)
          if (woken in left && blocked[woken]) sum[woken] += now - left[woken]
          if (woken in left ? blocked[woken] : !(woken in on)) { left[woken] = now; blocked[woken] = 0 } }
        !/ sched:sched_switch: / { next }
        {          match($0, / prev_pid=[0-9]+/); prev = substr($0, RSTART + 10, RLENGTH - 10)
          match($0, / next_pid=[0-9]+/); next_tid = substr($0, RSTART + 10, RLENGTH - 10) }
        { last = runs[cpu] "" }
        last != prev && prev in left { if (since[cpu] > left[prev]) sum[prev] += since[cpu] - left[prev]; delete left[prev] }
        last != prev && prev in on && on[prev] != cpu { runs[on[prev]] = ""; since[on[prev]] = now }
        { delete on[last]; delete on[prev]; since[cpu] = now; runs[cpu] = next_tid }
        next_tid in on && on[next_tid] != cpu { runs[on[next_tid]] = ""; since[on[next_tid]] = now }
        next_tid in left { sum[next_tid] += now - left[next_tid]; delete left[next_tid] }
        { on[next_tid] = cpu; ++came[next_tid]; if (prev != 0) left[prev] = now; blocked[prev] = !/ prev_state=R/ }
        index($0, "prev_comm=" name " ") { named[prev] = 1 }
        END { for (tid in named) printf "%04x %d %.0f\n", tid, came[tid], sum[tid] }' | sort
}

@test "context switches of perf record -e sched:sched_switch" {
    [ "$(swtrace check --json | jq .perf_system_works)" = true ] || skip "needs perf_event_open for the whole system"
    with_tracefs true 2>/dev/null || skip "needs root and tracefs"
    with_tracefs perf record -q -a -m 1024 -e cpu-clock/freq=499/ -e sched:sched_switch,sched:sched_waking -g -o switches.data "./$threads" 1 >/dev/null
    same_switches switches.data
    samples switches.data cpu-clock >wanted
    ticks | diff - wanted
    run ! grep -q 'Context switches' tprof.out
    [ "$(jq -r .trace.scope tprof.json)" = system ]
    # All but the end of a last wait.
    if grep -q 'Nothing lost' tprof.out; then
        off switches.data >wanted
        [ "$(wc -l <wanted)" -ge 2 ]
        jq -r '.off_cpu.threads[] | "\(.thread | split("_") | last) \(.dispatches) \(.runnable_ns + .blocked_ns - .cut_ns)"' tprof.json | sort >found
        join wanted found | awk '$2 != $4 || $3 != $5 { print; bad = 1 } END { exit bad || NR < 2 }'
    fi
}

# bats test_tags=long
@test "context switches to a pipe, in a directory, compressed, and of perf sched record" {
    [ "$(swtrace check --json | jq .perf_system_works)" = true ] || skip "needs perf_event_open for the whole system"
    with_tracefs true 2>/dev/null || skip "needs root and tracefs"
    with_tracefs perf record -q -a -e sched:sched_switch -o - "./$threads" 0.2 2>/dev/null | cat >piped.data
    same_switches piped.data
    with_tracefs perf record -q -a -z --threads -e cpu-clock/freq=499/ -e sched:sched_switch -o threads2.data "./$threads" 0.2 >/dev/null
    same_switches threads2.data
    with_tracefs perf sched record -o sched.data "./$threads" 0.2 >/dev/null 2>&1
    same_switches sched.data
    [ "$(jq .off_cpu.wakeups tprof.json)" -eq "$(perf script -i sched.data -F event 2>/dev/null | grep -c 'sched:sched_wak\(ing\|eup_new\)')" ]
}

# bats test_tags=long
@test "context switches of certain processes are not shown" {
    with_tracefs true 2>/dev/null || skip "needs root and tracefs"
    with_tracefs perf record -q -e sched:sched_switch -o some.data "./$threads" 0.2 >/dev/null
    "./$threads" 100 &
    local pid=$!
    with_tracefs perf record -q -e sched:sched_switch -p "$pid" -o pid.data sleep 0.5 >/dev/null
    with_tracefs perf record -q --no-inherit -e sched:sched_switch -p "$pid" -o alone.data sleep 0.5 >/dev/null
    kill "$pid"
    for each in some pid alone; do
        [ "$(perf script -i "$each.data" -F event 2>/dev/null | grep -c sched_switch)" -gt 0 ] || continue
        run -1 post --import "$each.data" --json --offcpu
        post --import "$each.data" --json
        [ "$(jq -r .trace.scope tprof.json)" != system ]
        tr -s ' \n' ' ' <tprof.out | grep -q 'have only the switches away from their threads'
    done
}

@test "parts of a directory that are links out of it, too many or no files are refused" {
    mkdir -p parts/good parts/linked parts/pipe parts/empty parts/many
    cp perf.data parts/good/data
    head -c 2000 /dev/zero >parts/good/data.0
    run -3 post --import parts/good -o parts --json
    cp perf.data parts/linked/data
    ln -s "$PWD/perf.data" parts/linked/data.0
    run -1 post --import parts/linked -o parts
    [[ $output == *"'parts/linked' has a file 'data.0' that cannot be opened: a symbolic link leads out of the directory."* ]]
    cp perf.data parts/pipe/data
    mkfifo parts/pipe/data.0
    run -1 timeout 10 post --import parts/pipe -o parts
    [[ $output == *"cannot be opened: not a regular file."* ]]
    run -1 post --import parts/empty -o parts
    [[ $output == *"'parts/empty' is a directory without a recording: 'data' cannot be opened: No such file or directory."* ]]
    cp perf.data parts/many/data
    (cd parts/many && touch $(seq -f data.%.0f 0 1024))
    run -1 bash -c 'ulimit -n 4096; post --import parts/many -o parts'
    [[ $output == *"'parts/many' has more than 1024 files."* ]]
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

# perf lists the build-ids of files with samples, and with --buildid-mmap tells those of all mapped files in their records.
@test "callers in libraries without samples, and the kernel's functions, have names" {
    local option
    mkdir -p names
    for option in '' --buildid-mmap; do
        # shellcheck disable=SC2086
        perf record -q -e cpu-clock -F 997 -g $option -o names/perf.data "./$program" 1 >/dev/null
        post --import names/perf.data -o names -folded --json -clip 0
        jq -e '[.symbol_notes[]? | select(test("libc\\.so|vmlinux|kernel"))] | length == 0' names/tprof.json
        [ "$(grep -cF '[vmlinux]_[k]' names/tprof.folded)" = 0 ]
    done
}

@test "the counts of a group of events are left out, and that is said" {
    mkdir -p group
    perf record -q -e '{cpu-clock,page-faults}:S' -F 997 -o group/perf.data "./$program" 1 >/dev/null
    post --import group/perf.data -o group --json
    [ "$(jq .ticks group/tprof.json)" = "$(perf script -i group/perf.data -F event 2>/dev/null | grep -c cpu-clock)" ]
    grep -q 'counts of a group' group/tprof.out
    post --import perf.data -o group
    [ "$(grep -c 'counts of a group' group/tprof.out)" = 0 ]
    # Hints name what perf records.
    perf record -q -e cpu-clock -F 997 -o group/plain.data "./$program" 0.2 >/dev/null
    run -1 post --import group/plain.data -o group -tree
    [[ $output == *"perf record -g"* ]]
}

@test "what is damaged, foreign or no file is refused or reported" {
    mkdir -p bad
    head -c 20000 perf.data >bad/cut.data
    run -3 post --import bad/cut.data -o bad --json
    [[ $output == *'The recording is not complete'* || $(cat bad/tprof.out) == *'The recording is not complete'* ]]
    # Behind the list of the places (16 bytes) of build-ids and facts, which follows the records; the bits at 72 of the head say which
    # there are. The place of the records is at 40.
    read -r begin size < <(od -An -td8 -j 40 -N 16 perf.data)
    facts=$(od -An -v -tx1 -j 72 -N 32 perf.data | tr -d ' \n' | fold -w 1 |
        awk '{ n += substr("0112122312232334", index("0123456789abcdef", $1), 1) } END { print n }')
    head -c $((begin + size + 16 * facts + 8)) perf.data >bad/facts.data
    run -3 post --import bad/facts.data -o bad
    [[ $output == *"build-ids or facts"* || $(cat bad/tprof.out) == *"build-ids or facts"* ]]
    : >bad/empty
    run -1 post --import bad/empty -o bad
    [[ $output == *"'bad/empty' is empty: perf record has failed"* ]]
    echo text >bad/text
    run -1 post --import bad/text -o bad
    [[ $output == *"'bad/text' is no recording of perf"* ]]
    run -1 post --import bad -o bad
    [[ $output == *"'bad' is a directory without a recording: 'data' cannot be opened"* ]]
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
