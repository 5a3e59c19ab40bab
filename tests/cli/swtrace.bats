#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# swtrace from the command line: help, exit codes, a whole trace with perf, a recorder that dies.

bats_require_minimum_version 1.5.0

setup() {
    # shellcheck source=tests/support/other_user.bash
    source "$SOURCE_DIR/tests/support/other_user.bash"
    PATH="$BUILD_DIR/bin:$PATH"
    export PITRACE_SOCKET="$BATS_TEST_TMPDIR/recorder"
    cd "$BATS_TEST_TMPDIR" || return
}

teardown() {
    swtrace free >/dev/null 2>&1 || true
    [ -z "${public:-}" ] || rm -rf "$public"
}

# nobody NAME=VALUE... -- ARGUMENT...: runs swtrace as the user nobody.
nobody() {
    local -a variables=()
    while [ "$1" != -- ]; do
        variables+=("$1")
        shift
    done
    shift
    as_nobody env -u PITRACE_SOCKET "${variables[@]}" swtrace "$@"
}

swtrace_for_nobody() {
    [ "$(id -u)" -eq 0 ] || skip "needs root to become another user"
    make_public "$BUILD_DIR/bin/swtrace" "$BUILD_DIR/lib/libperfutil.so.0"
}

needs_perf() {
    [ "$(swtrace check --json | jq .perf_system_works)" = true ] ||
        skip "needs perf_event_open for the whole system"
}

# Pid of this test's recorder.
recorder() {
    swtrace info --json | jq .trace.recorder
}

# is_running PID: a zombie does not count as running.
is_running() {
    grep -qs '^State:.[^ZX]' "/proc/$1/status"
}

# burn SECONDS: keeps one CPU busy; bash alone, so that it is one process.
burn() {
    timeout "$1" bash -c 'while :; do :; done' || true
}

# info_of FILE KEY: the values of a key in the info section of a trace file.
info_of() {
    # The bytes before the section's first line are not text.
    tr '\0' '\n' <"$1" | grep -a "^$2=" | cut -d= -f2-
}

# sum FILE PATTERN: the sum of the values of all count lines that match.
sum() {
    grep -aE "^count\.[0-9]+\.$2=" "$1" | awk -F= '{ sum += $2 } END { print sum + 0 }'
}

@test "the classic and the modern help forms print help and exit 0" {
    for word in '?' '-?' help -help ayuda -ayuda syntax '??' '-??' --help --ayuda -h; do
        run swtrace "$word"
        [ "$status" -eq 0 ]
        [[ "$output" == *"Usage: swtrace COMMAND"* ]]
        [[ "$output" == *setrate* ]]
    done
    run swtrace --help
    [[ "$output" == *"step by step"* ]]
    run swtrace '?'
    [[ "$output" != *"step by step"* ]]
}

@test "every command has a help text with examples" {
    for command in init free enable disable maj setrate event stacks on off get ai info check; do
        run swtrace "$command" --help
        [ "$status" -eq 0 ]
        [[ "$output" == "Usage: swtrace $command"* ]]
        [[ "$output" == *Examples:* ]]
    done
}

@test "wrong use exits 255 and reports the error" {
    run swtrace
    [ "$status" -eq 255 ]
    run swtrace frobnicate
    [ "$status" -eq 255 ]
    [ "$output" = "swtrace: error: There is no command 'frobnicate'.
Try swtrace --help." ]
    run swtrace onn
    [ "$status" -eq 255 ]
    [ "$output" = "swtrace: error: There is no command 'onn'. Did you mean 'on'?
Try swtrace --help." ]
    run swtrace init --scop system
    [ "$status" -eq 255 ]
    [ "${lines[0]}" = "swtrace: error: there is no option --scop. Did you mean --scope?" ]
    run swtrace init -s
    [ "$status" -eq 255 ]
    [ "${lines[0]}" = "swtrace: error: option -s needs a value." ]
    for words in 'on now' 'enable 256' 'enable sixteen' 'disable -1' 'setrate 10001' 'setrate x' \
        'init -s 0' 'init -s 5T' 'init -s 4096' 'init -t loop' 'init -anon 2' 'init --source none' \
        'init --scope process' 'init --pid 0' 'init -t cont -ss 2K' 'init -t wrap -ss x' 'suspend now' 'get a b' 'info --xml'; do
        # shellcheck disable=SC2086
        run swtrace $words
        [ "$status" -eq 255 ] || { echo "$words: $status"; false; }
        [[ "$output" == *"swtrace: error: "* ]]
    done
}

@test "without a recorder every command that needs one exits 1 and names swtrace init" {
    for command in on off maj get free enable disable setrate; do
        run swtrace "$command"
        [ "$status" -eq 1 ]
        [[ "$output" == *"swtrace init"* ]]
    done
    run swtrace info
    [ "$status" -eq 0 ]
    [[ "$output" == *"no recorder runs"* ]]
    [ "$(swtrace info --json | jq .trace)" = null ]
    swtrace info --json | jq -e '.above_idle_source | . == "hooks" or . == "/proc/stat"'
}

@test "check prints a line for each check, a remedy for each failure, and a verdict" {
    run swtrace check
    [[ "$output" == *"run.tprof will use"* || "$status" -eq 1 ]]
    while read -r verdict rest; do
        [[ "$verdict" =~ ^(ok|FAIL|note|->|run.tprof|Neither|)$ ]] || { echo "$verdict $rest"; false; }
    done <<<"$output"
    swtrace check --json | jq -e '[.checks[] | select(.verdict == "FAIL") | .remedy] | all(. != null)'
}

@test "a whole trace with perf: the file's counts match its records, and it has the busy process's ticks" {
    needs_perf
    swtrace init --source perf
    [ "$(swtrace maj | wc -l)" -eq 2 ]
    swtrace enable tprof
    run swtrace maj
    [ "$output" = " Enabled Major Trace Hooks
   Decimal   Hexadecimal
        16          0x10
        25          0x19" ]
    run swtrace setrate 1000
    [ "$output" = "Tprof rate: 1002.88 ticks/second, interval 997.13 microseconds" ]
    swtrace on
    [ "$(swtrace info --json | jq .trace.active)" = true ]
    burn 2
    run swtrace get early.nrm2
    [ "$status" -eq 1 ]
    swtrace off
    swtrace info --json >info.json
    run swtrace get run.nrm2
    [ "$status" -eq 0 ]
    [[ "$output" == "run.nrm2: $(stat -c %s run.nrm2) bytes written: trace "* ]]
    [ "$(stat -c %a run.nrm2)" = 600 ]
    swtrace free

    [ "$(info_of run.nrm2 source)" = perf ]
    [ "$(info_of run.nrm2 ended)" = off ]
    [ "$(info_of run.nrm2 rate)" = 1000 ]
    for kind in trace mte; do
        produced=$(sum run.nrm2 "$kind\.produced")
        written=$(sum run.nrm2 "$kind\.written")
        lost=$(sum run.nrm2 "$kind\.(full|stopped|too_long|source)")
        [ "$produced" -eq $((written + lost)) ]
        [ "$produced" -eq "$(jq ".trace.$kind.produced" info.json)" ]
        [ "$written" -eq "$(jq ".trace.$kind.written" info.json)" ]
    done
    # Two seconds at 1,000 a second on one CPU, which other processes share.
    [ "$(sum run.nrm2 'trace\.written')" -ge 1000 ]
    if [ "$(info_of run.nrm2 kallsyms)" = complete ]; then
        tail -c +"$(od -An -j80 -N8 -td8 run.nrm2 | awk '{print $1 + 1}')" run.nrm2 |
            head -c "$(od -An -j88 -N8 -td8 run.nrm2 | tr -d ' ')" | zstd -dc | cmp - /proc/kallsyms
    fi
    grep -aqE '^[0-9a-f]{16,}@[0-9]+ /.*/bash$' run.nrm2
}

@test "sizes, rate and majors can be changed only in a state that permits it" {
    needs_perf
    run swtrace init --source perf -s 64K -sm 128KB -anon 0
    [ "$status" -eq 0 ]
    [[ "$output" == *"64 KB trace and 128 KB MTE"* ]]
    [ "$(swtrace enable 0x10 031)" = "Enabled: ticks without names (0x10), mte (0x19)" ]
    [ "$(swtrace maj | tail -n +3 | awk '{print $1}' | xargs)" = "16 25" ]
    [ "$(swtrace disable 16)" = "Disabled: ticks without names (0x10)" ]
    [ "$(swtrace maj | tail -n +3 | awk '{print $1}' | xargs)" = 25 ]
    [ "$(swtrace enable)" = "Enabled: all majors" ]
    [ "$(swtrace maj | tail -n +3 | wc -l)" -eq 254 ]
    swtrace disable
    # A bare number is decimal; the answer shows the name and the hexadecimal number.
    [ "$(swtrace enable 18 12)" = "Enabled: dispatch (0x12), hooks of programs (0x0c)" ]
    [ "$(swtrace maj | tail -n +3 | awk '{print $2}' | xargs)" = "0xc 0x12" ]
    [ "$(swtrace disable dispatch 12)" = "Disabled: dispatch (0x12), hooks of programs (0x0c)" ]
    [ "$(swtrace enable tprof)" = "Enabled: tprof (0x10 and 0x19)" ]
    swtrace disable
    swtrace on
    run swtrace setrate 50
    [ "$status" -eq 1 ]
    run swtrace on
    [ "$status" -eq 1 ]
    swtrace off
    run swtrace off
    [ "$status" -eq 1 ]
    run swtrace setrate
    [[ "$output" == *"100.29 ticks/second"* ]]
}

@test "a buffer that is too small: off warns and exits 0, the file reports it, and written + lost = produced" {
    needs_perf
    swtrace init --source perf -s 64K -sm 64K
    swtrace enable tprof
    swtrace setrate 10000
    swtrace on
    burn 1
    run swtrace info
    [[ "$output" == *"a buffer is full"* ]]
    run swtrace off
    [ "$status" -eq 0 ]
    [[ "$output" == *"warning: "*"became full"* ]]
    swtrace get full.nrm2
    [ "$(info_of full.nrm2 ended)" = "buffer full" ]
    [ "$(sum full.nrm2 '(trace|mte)\.full')" -eq 1 ]
    [ "$(sum full.nrm2 '(trace|mte)\.stopped')" -gt 0 ]
    [ "$(sum full.nrm2 '(trace|mte)\.produced')" -eq \
        "$(sum full.nrm2 '(trace|mte)\.(written|full|stopped|too_long|source)')" ]
}

@test "a stopped recorder counts the records that perf's rings dropped meanwhile" {
    needs_perf
    swtrace init --source perf
    swtrace enable tprof
    swtrace setrate 10000
    local began=${EPOCHREALTIME/[.,]/} stopped continued running
    swtrace on
    pid=$(recorder)
    kill -STOP "$pid"
    stopped=${EPOCHREALTIME/[.,]/}
    burn 3
    continued=${EPOCHREALTIME/[.,]/}
    kill -CONT "$pid"
    swtrace off
    # Milliseconds in which the recorder emptied the rings.
    running=$(((${EPOCHREALTIME/[.,]/} - continued + stopped - began) / 1000))
    swtrace get held.nrm2
    # A ring has space for 13,000 ticks; a CPU that is busy for three seconds makes 30,000.
    [ "$(sum held.nrm2 'trace\.source')" -gt 0 ]
    [ "$(sum held.nrm2 'trace\.produced')" -ge 20000 ]
    # Ten ticks a millisecond, on average.
    [ "$(sum held.nrm2 'trace\.written')" -lt $(($(nproc) * (14000 + 11 * running))) ]
    [ "$(sum held.nrm2 'trace\.produced')" -eq \
        "$(sum held.nrm2 'trace\.(written|full|stopped|too_long|source)')" ]
}

@test "one recorder at a time: a second init fails and names the recorder's pid" {
    needs_perf
    swtrace init --source perf
    run swtrace init --source perf
    [ "$status" -eq 1 ]
    [[ "$output" == *"facility busy: recorder pid $(recorder) "* ]]
    PITRACE_SOCKET="$BATS_TEST_TMPDIR/second" swtrace init --source perf
    PITRACE_SOCKET="$BATS_TEST_TMPDIR/second" swtrace free
    swtrace free
    swtrace init --source perf
}

@test "init starts a recorder and reports it, whichever standard descriptors the caller has closed" {
    needs_perf
    local closed
    for closed in '<&-' '>&-' '2>&-' '<&- >&-' '<&- 2>&-' '<&- >&- 2>&-'; do
        bash -c "swtrace init --source perf -s 64 $closed"
        is_running "$(recorder)"
        bash -c "swtrace free $closed"
        run swtrace off
        [ "$status" -eq 1 ]
        [[ "$output" == *"swtrace init"* ]]
    done
}

@test "every program works with closed standard descriptors: wrong use still exits 255" {
    local program
    for program in arcf cpi genmap genmsi hdump logrt mpevt msr post ptt pttstats rtdriver swtrace; do
        echo "$program"
        run bash -c "exec $program --no-such-option <&- >&- 2>&-"
        [ "$status" -eq 255 ]
    done
}

@test "output that cannot be written is an error of every program" {
    local words
    for words in 'swtrace check' 'swtrace info' 'swtrace event list' 'swtrace --help' 'ptt --help' 'ptt --version' \
        'mpevt --help' 'cpi --help' 'msr --help' 'arcf --help' 'genmap --help' 'genmsi --help' 'post --help'; do
        run -1 bash -c "$words >/dev/full"
        [[ "$output" == "${words%% *}: error: "*"No space left on device"* ]]
    done
}

@test "a recorder killed with -9 at any moment does not prevent the next one" {
    needs_perf
    for i in 1 2 3 4 5 6 7 8; do
        swtrace init --source perf -s 64K -sm 64K
        swtrace enable tprof
        [ $((i % 2)) -eq 0 ] || swtrace on
        sleep "0.0$i"
        kill -9 "$(recorder)"
        run swtrace off
        [ "$status" -eq 1 ]
    done
    run swtrace info
    [[ "$output" == *"no recorder runs"* ]]
    swtrace init --source perf
    swtrace on
    swtrace off
}

@test "a recorder that gets SIGTERM, SIGINT or SIGHUP ends cleanly" {
    needs_perf
    for signal in TERM INT HUP; do
        swtrace init --source perf
        swtrace on
        pid=$(recorder)
        kill -"$signal" "$pid"
        for _ in $(seq 50); do
            is_running "$pid" || break
            sleep 0.1
        done
        run ! is_running "$pid"
        [ ! -e "$PITRACE_SOCKET" ]
    done
}

@test "get refuses a symbolic link and a missing directory, and keeps the trace" {
    needs_perf
    swtrace init --source perf
    swtrace on
    swtrace off
    echo precious >target
    ln -s target link.nrm2
    run swtrace get link.nrm2
    [ "$status" -eq 1 ]
    [[ "$output" == *"symbolic link"* ]]
    [ "$(cat target)" = precious ]
    run swtrace get missing/x.nrm2
    [ "$status" -eq 1 ]
    swtrace get
    [ -s swtrace.nrm2 ]
}

@test "a full disk: get fails and reports the missing bytes, and the partial file is a trace" {
    needs_perf
    [ "$(id -u)" -eq 0 ] || skip "needs root to mount a small tmpfs"
    mkdir small
    mount -t tmpfs -o size=40k none small || skip "needs permission to mount a tmpfs"
    swtrace init --source perf
    swtrace enable tprof
    swtrace setrate 5000
    swtrace on
    burn 1
    swtrace off
    run swtrace get small/t.nrm2
    cp small/t.nrm2 t.nrm2
    ls -A small >left
    umount small
    [ "$status" -eq 1 ]
    [[ "$output" == *"No space left"*"bytes are missing"* ]]
    [ "$(cat left)" = t.nrm2 ]
    [ "$(head -c 4 t.nrm2)" = NRM2 ]
    [ "$(info_of t.nrm2 ended)" = "disk full" ]
    swtrace get whole.nrm2
    [ "$(info_of whole.nrm2 ended)" = off ]
}

@test "a limit of file sizes that is too small for a trace buffer is named" {
    needs_perf
    run -1 bash -c 'ulimit -f 64; swtrace init --source perf'
    [[ "$output" == *"No memory for a trace buffer"*"'ulimit -f'"* ]]
}

@test "with too few file descriptors nothing is traced, and the error says so; a trace has all CPUs" {
    needs_perf
    # Their run-time library needs descriptors itself.
    ! readelf -d "$BUILD_DIR/lib/libperfutil.so" | grep -q 'NEEDED.*libubsan' || skip "needs a build without sanitizers"
    for ((limit = 6; limit < 24; limit++)); do
        echo kept >others
        run -0 bash -c 'exec 3>>others; ulimit -n "$1" && { swtrace init --source perf && swtrace enable tprof && swtrace on; } 2>&1 || echo failed' bash "$limit"
        # A recorder that cannot open anything must not write into a file of its caller.
        [ "$(cat others)" = kept ]
        if [[ $output == *failed ]]; then
            [[ $output =~ open\ files|file\ descriptor ]] || { echo "$limit: $output"; false; }
        else
            swtrace off
            swtrace get few.nrm2
            [ "$(tr "\0" "\n" <few.nrm2 | grep -ac "^count\.[0-9]*\.trace\.written=")" -eq "$(getconf _NPROCESSORS_ONLN)" ]
        fi
        swtrace free >/dev/null 2>&1 || true
    done
    # The last ones were enough.
    [ -e few.nrm2 ]
}

@test "with the scope of one process the trace has only that process's ticks" {
    needs_perf
    bash -c 'while :; do :; done' &
    busy=$!
    swtrace init --source perf --scope process --pid "$busy"
    swtrace enable tprof
    swtrace setrate 1000
    swtrace on
    # Half a second of processor time, in hundredths.
    start=$(awk '{ print $14 }' "/proc/$busy/stat")
    until (($(awk '{ print $14 }' "/proc/$busy/stat") >= start + 50)); do sleep 0.1; done
    swtrace off
    swtrace get one.nrm2
    kill "$busy"
    [ "$(info_of one.nrm2 scope)" = process ]
    [ "$(info_of one.nrm2 pid)" = "$busy" ]
    [ "$(sum one.nrm2 'trace\.written')" -ge 200 ]
    info_of one.nrm2 cannot_see | grep -q "only process $busy"
    run swtrace init --source perf --scope process --pid 999999999
    [ "$status" -ne 0 ]
}

@test "a continuous trace whose kernel symbols do not fit on the disk is reported as incomplete" {
    [ "$(id -u)" -eq 0 ] || skip "needs root to mount a small disk"
    needs_perf
    mkdir small
    # The records of a second are about 0.1 MB; the symbols of any kernel are 1 MB or more.
    mount -t tmpfs -o size=512k none small
    swtrace init -t cont -f small/full.nrm2 -s 1
    swtrace enable tprof
    swtrace on
    timeout 1 bash -c 'while :; do :; done' || true
    run -1 swtrace off
    swtrace free
    cp small/full.nrm2 .
    umount small
    [[ $output == *"The kernel's symbols are not in the file"* ]]
    run -3 post -r full.nrm2 --strict
    grep -q "Note : The disk was full: the kernel's symbols are not in the file" tprof.out
    grep -q 'Ended : the disk was full; what did not fit is missing' tprof.out
}

@test "an unprivileged user gets the remedies when the kernel permits nothing" {
    [ "$(cat /proc/sys/kernel/perf_event_paranoid)" -ge 1 ] ||
        skip "needs kernel.perf_event_paranoid of 1 or more"
    swtrace_for_nobody
    run nobody PITRACE_SOCKET="$public/home/recorder" -- init --source perf
    [ "$status" -eq 1 ]
    [[ "$output" == *"sysctl kernel.perf_event_paranoid"* ]]
    # Only if the loader finds the library without $ORIGIN, which it ignores for files with capabilities.
    if [[ $output == *"'sudo setcap "* ]]; then
        eval "$(tr '\n' ' ' <<<"$output" | sed -n "s/.*'sudo \(setcap [^']*\)'.*/\1/p")"
        nobody PITRACE_SOCKET="$public/home/recorder" -- init --source perf
        nobody PITRACE_SOCKET="$public/home/recorder" -- free
    else
        [ ! -r "$BUILD_DIR/lib/libperfutil.so.0" ] || as_nobody test ! -r "$BUILD_DIR/lib/libperfutil.so.0"
    fi
    # The module is advised only if the kernel can load modules.
    if [ -e /proc/modules ]; then
        [[ "$output" == *"groupadd -f --system pitrace && sudo usermod -aG pitrace"* ]]
    else
        [[ "$output" != *pitrace\ module* ]]
    fi
}

@test "an unprivileged user can trace one of his processes, and the trace names what it lacks" {
    [ "$(cat /proc/sys/kernel/perf_event_paranoid)" -eq 2 ] ||
        skip "needs kernel.perf_event_paranoid of 2"
    swtrace_for_nobody
    setpriv --reuid 65534 --regid 65534 --clear-groups bash -c 'while :; do :; done' &
    busy=$!
    user() {
        nobody PITRACE_SOCKET="$public/home/recorder" -- "$@"
    }
    sleep 0.2
    user init --pid "$busy"
    # All of the recorder's ids are that user's, and it has no capabilities.
    [ "$(awk '/^[UG]id:/ { $1 = ""; print }' "/proc/$(user info --json | jq .trace.recorder)/status" | sort -u)" = " 65534 65534 65534 65534" ]
    [ "$(awk '/^Cap(Prm|Eff):/ { print $2 }' "/proc/$(user info --json | jq .trace.recorder)/status" | sort -u)" = 0000000000000000 ]
    user enable tprof
    user setrate 1000
    user on
    # On a machine under load the process gets less CPU time.
    for _ in $(seq 60); do
        sleep 0.5
        [ "$(user info --json | jq .trace.trace.written)" -lt 300 ] || break
    done
    user off
    user get mine.nrm2
    post -r "$public/home/mine.nrm2" -o "$public/home" --page | grep -q 'at least .* of processor time'
    grep -q 'Short threads' "$public/home/tprof.out"
    user free
    kill "$busy"
    [ "$(stat -c '%a %u' "$public/home/mine.nrm2")" = "600 65534" ]
    [ "$(sum "$public/home/mine.nrm2" 'trace\.written')" -ge 200 ]
    [ "$(info_of "$public/home/mine.nrm2" scope)" = process ]
    [ "$(info_of "$public/home/mine.nrm2" kallsyms)" = hidden ]
    info_of "$public/home/mine.nrm2" cannot_see | grep -q "^The kernel: "
}

@test "a socket directory that another user created is refused" {
    swtrace_for_nobody
    mkdir -m 755 "$public/home/pitrace"
    run nobody XDG_RUNTIME_DIR="$public/home" -- on
    [ "$status" -eq 1 ]
    [[ "$output" == *"not a private directory of this user"* ]]
    rmdir "$public/home/pitrace"
    run nobody XDG_RUNTIME_DIR="$public/home" -- on
    [ "$status" -eq 1 ]
    [[ "$output" == *"No recorder runs"* ]]
    [ "$(stat -c '%a %u' "$public/home/pitrace")" = "700 65534" ]
}

@test "another user cannot control a recorder, even if its socket accepts the connection" {
    needs_perf
    swtrace_for_nobody
    mkdir "$public/open"
    export PITRACE_SOCKET="$public/open/recorder"
    swtrace init --source perf -s 64K
    [ "$(stat -c %a "$PITRACE_SOCKET")" = 600 ]
    swtrace on
    chmod 755 "$public/open"
    chmod 666 "$PITRACE_SOCKET"
    for words in off suspend discard "get $public/home/stolen.nrm2" info free; do
        # shellcheck disable=SC2086 # several words
        run nobody PITRACE_SOCKET="$PITRACE_SOCKET" -- $words
        [ "$status" -ne 0 ] || [ "$words" = info ]
    done
    [ ! -e "$public/home/stolen.nrm2" ]
    [ "$(swtrace info --json | jq .trace.on)" = true ]
}

# hanging_file MODE: starts tests/hanging_file as process $holder, whose file is mapped when descriptor 8 gets a line.
hanging_file() {
    [ "$(id -u)" -eq 0 ] && [ -r /dev/fuse ] || skip "needs root and /dev/fuse to mount such a file system"
    mkdir place
    mkfifo go
    exec 8<>go
    unshare -m "$BUILD_DIR/tests/hanging_file" place "$@" <&8 >reached 2>why 3>&- 8>&- &
    holder=$!
    for ((i = 0; i < 600; i++)); do if grep -q ready reached || ! kill -0 $holder; then break; fi && sleep 0.1; done
    grep -q ready reached || { cat why && false; }
}

# map_file: has it mapped.
map_file() {
    echo >&8
    for ((i = 0; i < 600; i++)); do if grep -q mapped reached; then break; fi && sleep 0.1; done
    grep -q mapped reached
}

# finish_beside_it: the trace ends, and is in run.nrm2.
finish_beside_it() {
    timeout 60 swtrace off
    timeout 60 swtrace get run.nrm2
    timeout 60 swtrace free
    kill -KILL $holder
    wait $holder || true
}

@test "a file system that does not answer costs only its own files' symbols" {
    needs_perf
    hanging_file
    swtrace init -s 8 --source perf
    swtrace enable tprof
    swtrace on
    map_file
    "$BUILD_DIR/tests/mixed" 1
    finish_beside_it
    post -r run.nrm2
    tr -s ' \n' ' ' <tprof.out >words
    grep -q 'The build-ids of 1 file(s) were not read in time: a file system does not answer.* The first is [^ ]*/place/code.so\.' words
    # Files that were mapped later have their symbols.
    grep -q 'SYM.* user_work' tprof.out
}

# beside_hanging_file MODE: records another program that begins later.
beside_hanging_file() {
    needs_perf
    hanging_file "$1"
    swtrace init -s 8 --source perf
    swtrace enable tprof
    swtrace stacks user -depth 100
    swtrace on
    map_file
    "$BUILD_DIR/tests/calls" 2
    finish_beside_it
    post -r run.nrm2 -folded
    tr -s ' \n' ' ' <tprof.out >words
}

# whole_stacks: the stacks of that program are whole.
whole_stacks() {
    grep -E '^calls_[0-9a-f]*;' tprof.folded | awk '
        { all += $NF } /;_start;.*;main;work[; ]/ { whole += $NF }
        END { print whole + 0 " of " all + 0; exit !(whole > 20 && whole > 0.9 * all) }'
}

@test "a file that cannot be opened costs no other file's stacks" {
    beside_hanging_file open
    grep -q 'a file system did not answer when a mapped file was opened' words
    whole_stacks
}

# bats test_tags=long
@test "a file that cannot be closed costs no other file's stacks" {
    beside_hanging_file close
    whole_stacks
}
