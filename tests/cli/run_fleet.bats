#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# run.fleet: one trace after the other, added to a folder; its endings, limits and settings.

bats_require_minimum_version 1.5.0

setup() {
    PATH="$BUILD_DIR/bin:$BUILD_DIR/tests:$PATH"
    [ "$(swtrace check --json | jq .perf_system_works)" = true ] || skip "needs perf_event_open for the whole system"
    cd "$BATS_TEST_TMPDIR" || return
    fleet=''
}

teardown() {
    if [[ -n $fleet ]]; then kill -KILL "$fleet" 2>/dev/null || true; fi
    PITRACE_SOCKET=$BATS_TEST_TMPDIR/spool/recorder swtrace free >/dev/null 2>&1 || true
}

settings() { # settings NAME=VALUE...
    printf '%s\n' '# A comment' "folder=$PWD/fleet" "spool=$PWD/spool" source=perf cpu_percent=1000 "$@" '' >settings
}

start() {
    run.fleet --config settings >>log 2>&1 3>&- &
    fleet=$!
}

value() { sed -n "s/^$1=//p" spool/status 2>/dev/null; }

until_value() { # until_value NAME LEAST
    for ((i = 0; i < 600; i++)); do
        if (($(value "$1") + 0 >= $2)); then return; fi
        sleep 0.1
    done
    cat spool/status log
    return 1
}

until_recording() {
    for ((i = 0; i < 600; i++)); do
        if [[ $(value state) == recording ]]; then return; fi
        sleep 0.1
    done
    cat log
    return 1
}

end() {
    kill -TERM "$fleet"
    wait "$fleet"
    fleet=''
    [ "$(value state)" = ended ]
}

tables() { find fleet/records -name '*.parquet' | wc -l; }

@test "traces are added one after the other, and the last one when it ends" {
    settings seconds=1
    start
    until_value added 1
    run -125 run.fleet --config settings
    [[ $output == *"another run.fleet uses"* ]]
    end
    [ "$(value failed)" -eq 0 ]
    [ "$(value cpu_ms)" -gt 0 ]
    [ "$(tables)" -eq "$(value added)" ]
    [ "$(tables)" -ge 2 ]
    [ -z "$(ls spool/*.nrm2 2>/dev/null)" ]
    # Nothing is left behind.
    PITRACE_SOCKET=$PWD/spool/recorder run swtrace info
    [[ $output != *"Recorder pid"* ]]
    [ "$(stat -c %a fleet spool | sort -u)" = 700 ]
}

@test "after SIGKILL, of the recorder too, the next start adds what was written" {
    settings seconds=1000
    start
    until_recording
    calls 1 >/dev/null
    sleep 2
    recorder=$(PITRACE_SOCKET=$PWD/spool/recorder swtrace info | sed -nE 's/^ *Recorder pid[ :]*([0-9]+)$/\1/p')
    kill -KILL "$fleet" "$recorder"
    [ -s spool/open.nrm2 ]
    # Not after the time of a whole trace.
    start
    until_value added 1
    [ "$(value state) $(value partial)" = "recording 1" ]
    end
    [ "$(tables)" -eq "$(value added)" ]
}

@test "after SIGKILL of run.fleet alone its recorder goes on, and the next start takes it over" {
    settings seconds=1000
    start
    until_recording
    kill -KILL "$fleet"
    wait "$fleet" || true
    calls 0.5 >/dev/null
    start
    until_value added 1
    end
    [ "$(value partial) $(value added)" = "0 2" ]
}

@test "ended while it adds what earlier runs have left, it leaves the rest for the next start" {
    settings seconds=1000
    start
    until_recording
    calls 0.5 >/dev/null
    kill -KILL "$fleet"
    wait "$fleet" || true
    PITRACE_SOCKET=$PWD/spool/recorder swtrace free
    for i in {1..12}; do cp spool/open.nrm2 "spool/closed-$i.nrm2"; done
    rm spool/open.nrm2 spool/status
    # A second trace begins before all of them are added.
    start
    until_recording
    calls 0.5 >/dev/null
    end
    [ "$(value failed)" -eq 0 ]
    [ "$(find spool -name 'closed-*' | wc -l)" -eq $((13 - $(value added))) ]
    before=$(value added)
    rm spool/status
    start
    until_value added $((13 - before))
    end
    [ "$(value failed) $((before + $(value added))) $(find spool -name '*.nrm2' | wc -l)" = "0 14 0" ]
}

@test "a trace that cannot be added is tried once more; one without any record is added" {
    mkdir -m 700 spool
    echo damaged >spool/closed-1.cut.nrm2
    PITRACE_SOCKET=$PWD/socket
    export PITRACE_SOCKET
    swtrace init --source perf
    swtrace enable mte
    swtrace on
    swtrace off
    swtrace get spool/closed-2.nrm2
    swtrace free
    unset PITRACE_SOCKET
    settings seconds=2
    start
    until_value failed 1
    end
    [ "$(value failed) $(value partial)" = "1 0" ]
    [ "$(cat spool/failed-1.cut.nrm2)" = damaged ]
    [ "$(grep -c 'closed-1.cut.nrm2 cannot be added.*once more' log) $(grep -c 'closed-1.cut.again.nrm2 cannot be added' log)" = "1 1" ]
    grep -q 'closed-2.nrm2 contains neither ticks nor context switches' log
    [ "$(tables)" -eq "$(value added)" ]
}

@test "the limit of the disk removes the oldest tables, and is reported" {
    settings seconds=1 disk_mb=10
    mkdir -p fleet/records/date=2000-01-01/host=a spool
    truncate -s 8M fleet/records/date=2000-01-01/host=a/{1,2}000000000000000000.parquet
    start
    until_value removed 1
    end
    [ "$(value removed)" -eq 1 ]
    [ ! -e fleet/records/date=2000-01-01/host=a/1000000000000000000.parquet ]
    [ -e fleet/records/date=2000-01-01/host=a/2000000000000000000.parquet ]
    grep -q 'more than 10 MB (disk_mb): removed the 1 oldest files' log
}

@test "the limit of the disk removes all tables of a trace, and nothing else that is there" {
    settings seconds=1 disk_mb=10
    day=date=2000-01-01/host=a
    mkdir -p fleet/{records,paths,stacks,frames,days}/$day backups spool
    for table in records paths stacks frames; do truncate -s 2M fleet/$table/$day/{1,2}000000000000000000.parquet; done
    touch fleet/names.parquet fleet/days/$day/day.parquet fleet/mine.parquet fleet/1.gz
    start
    until_value removed 4
    end
    [ "$(value removed)" -eq 4 ]
    [ "$(find fleet -name '1000*.parquet' | wc -l) $(find fleet -name '2000*.parquet' | wc -l)" = "0 4" ]
    [[ -e fleet/names.parquet && -e fleet/days/$day/day.parquet && -e fleet/mine.parquet && -e fleet/1.gz ]]
}

@test "a recorder that is stopped is ended, and another one records" {
    sed "s/timeout -k 5 120/timeout -k 1 2/; s/timeout -k 5 20/timeout -k 1 2/" "$(readlink -f "$(command -v run.fleet)")" >run.quick
    mkdir -p tool/scripts && mv run.quick tool/scripts/run.fleet && cp "$SOURCE_DIR"/scripts/{lib,trace}.sh tool/scripts/ && ln -s "$BUILD_DIR" tool/build && touch tool/CMakeLists.txt
    settings seconds=3
    bash tool/scripts/run.fleet --config settings >>log 2>&1 3>&- &
    fleet=$!
    until_recording
    recorder=$(PITRACE_SOCKET=$PWD/spool/recorder swtrace info | sed -nE 's/^ *Recorder pid[ :]*([0-9]+)$/\1/p')
    kill -STOP "$recorder"
    until_value partial 1
    grep -q 'the recorder does not answer' log
    end
    run ! kill -0 "$recorder"
}

@test "names of files in the folder are no commands, and do not defeat the limit of the disk" {
    settings seconds=1 disk_mb=0010
    mkdir -p fleet/records/date=2000-01-01/host=a spool
    truncate -s 11M fleet/records/date=2000-01-01/host=a/5.parquet
    touch 'fleet/records/date=2000-01-01/host=a/1 used[$(id>PWNED)0] .parquet' 'fleet/records/date=2000-01-01/host=a/1 x[$(id)] .parquet'
    start
    until_value removed 1
    end
    [ ! -e PWNED ]
    [ ! -e fleet/records/date=2000-01-01/host=a/5.parquet ]
    [ ! -e 'fleet/records/date=2000-01-01/host=a/1 x[$(id)] .parquet' ]
}

@test "a folder to which others can write is refused, with the sticky bit, too" {
    mkdir -m 1777 open
    for one in folder spool; do
        settings "$one=$PWD/open"
        run -125 run.fleet --config settings
        [[ $output == *"another user could"* ]]
    done
}

@test "a folder whose name is too long for a socket is refused" {
    long=$PWD/$(printf 'x%.0s' {1..100})
    settings "spool=$long"
    run -125 run.fleet --config settings
    [[ $output == *"$long is too long for the recorder's socket"* ]]
}

@test "after the recorder is killed another one records; what a killed post has left is removed" {
    settings seconds=80000
    mkdir -m 700 fleet
    touch -d '-20 minutes' fleet/.post-old.tmp
    touch fleet/.post-new.tmp
    start
    until_recording
    [ "$(find fleet -name '.post-*.tmp')" = fleet/.post-new.tmp ]
    calls 1 >/dev/null
    sleep 2
    recorder=$(PITRACE_SOCKET=$PWD/spool/recorder swtrace info --json | jq .trace.recorder)
    kill -KILL "$recorder"
    until_value partial 1
    [[ $(<log) == *"the recorder has ended"* ]]
    until_recording
    end
}

# bats test_tags=long
@test "the capabilities of its unit are enough to record all processes, also those of other users" {
    [ "$(id -u)" -eq 0 ] || skip "needs root"
    capabilities=$(sed -n 's/^CapabilityBoundingSet=//p' "$SOURCE_DIR/debian/pitrace.pitrace-fleet.service" | tr 'A-Z ' 'a-z,' | sed 's/cap_/+/g')
    [ -n "$capabilities" ]
    settings seconds=2 push=http://127.0.0.1:1/
    # A program that only its owner can read, of another user.
    cp "$BUILD_DIR/tests/calls" "calls-$$"
    chown 65534 "calls-$$" && chmod 700 "calls-$$" && chmod 755 .
    setpriv --no-new-privs --bounding-set="-all,$capabilities" --inh-caps=-all run.fleet --config settings >>log 2>&1 3>&- &
    fleet=$!
    until_recording
    setpriv --reuid 65534 --clear-groups "./calls-$$" 1 >/dev/null
    until_value added 1
    end
    [ "$(value failed) $(value partial)" = "0 0" ]
    # Its functions have names, and so have those of the kernel: in profiles for a store that is away.
    zcat spool/push/*.otlp.gz | tr -c '[:graph:]' '\n' >texts
    grep -E '^.?recurse.?$' texts
    grep -E '_\[k\].?$' texts
}

@test "wrong settings are refused" {
    for line in nosuch=1 rate=0 rate=x source=other stacks=some omit=nosuch omit=path, hash=path hash_key=/k folder=here 'no line' seconds=99999999 "spool=/a"$'\t' push=https://user:secret@host/; do
        printf '%s\n' "$line" >settings
        run -255 run.fleet --config settings
        [[ $output == *"error: "* ]]
    done
    settings "folder=$PWD/spool/fleet"
    run -255 run.fleet --config settings
    [[ $output == *"none is in the other"* ]]
    settings "push=https://host/" "push_headers=$PWD/nosuch"
    run -125 run.fleet --config settings
    [[ $output == *"cannot read $PWD/nosuch"* ]]
    rm -r spool
    mkfifo pipe
    for config in nosuch pipe /dev/zero .; do run -125 timeout 10 run.fleet --config "$config"; done
    # Who can write them decides where traces go.
    settings
    chmod 666 settings
    run -125 run.fleet --config settings
    [[ $output == *"another user could change settings"* ]]
    chmod 644 settings
    if [ "$(id -u)" -eq 0 ]; then
        chown nobody settings
        run -125 run.fleet --config settings
        [[ $output == *"another user could change settings"* ]]
        rm settings
    fi
    run -255 run.fleet --nosuch
    run -255 run.fleet --config
    mkdir -m 777 open
    for line in "spool=$PWD/open/spool" "folder=$PWD/open/folder"; do
        settings "$line"
        run -125 run.fleet --config settings
        [[ $output == *"another user could replace"* ]]
    done
}
