#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# post from the command line: help, wrong options, good traces, damaged files and files that are not traces.

bats_require_minimum_version 1.5.0

setup() {
    PATH="$BUILD_DIR/bin:$PATH"
    cd "$BATS_TEST_TMPDIR" || return
}

# le SIZE NUMBER: prints the number in SIZE bytes, little-endian.
le() {
    local i byte number=$2
    for ((i = 0; i < $1; ++i)); do
        printf -v byte '\\x%02x' $((number & 255))
        # shellcheck disable=SC2059
        printf "$byte"
        ((number >>= 8)) || true
    done
}

# section TYPE CPU FILE: prints a section header for the file's bytes, then the bytes.
section() {
    printf NRM2
    le 4 0x04030201
    le 4 10
    le 4 512
    le 4 "$(stat -c %s "$3")"
    le 4 0
    le 4 "$2"
    le 8 0
    le 8 0
    le 8 0
    le 4 1
    le 4 0
    le 4 2 # processors
    head -c 52 /dev/zero
    le 4 "$1"
    head -c 124 /dev/zero
    le 4 0x00010000
    head -c 264 /dev/zero
    cat "$3"
}

# some_ticks PID COUNT TIME: prints COUNT ticks of 28 bytes, the first at TIME and each 1000 later.
some_ticks() {
    # shellcheck disable=SC2059 # the bytes are escapes
    printf "$(awk -v pid="$1" -v count="$2" -v time="$3" '
        function le(number, i, text) {
            for (i = 0; i < 4; i++) { text = text sprintf("\\x%02x", number % 256); number = int(number / 256) }
            return text
        }
        BEGIN { for (i = 0; i < count; i++)
            printf "\\x1c\\0\\x10\\0\\x23\\0\\0\\0%s%s%s\\0\\0\\0\\0\\0\\x10\\0\\0", le(time + 1000 * i), le(pid), le(pid) }')"
}

# make_trace COUNT: writes swtrace.nrm2 with COUNT ticks of process 32 on each of two CPUs.
make_trace() {
    some_ticks 32 "$1" 1 >ticks
    { section 2 0 ticks; section 2 1 ticks; } >swtrace.nrm2
}

@test "help in all its forms goes to stdout and exits 0" {
    for form in '-?' '-??' -h --help -help; do
        run --separate-stderr post "$form"
        [ "$status" -eq 0 ]
        [[ $output == "Usage: post"* ]]
        [[ $output == *"--clip"* ]]
        [ -z "$stderr" ]
    done
}

@test "--version names the program and exits 0" {
    run post --version
    [ "$status" -eq 0 ]
    [[ $output == "post (pitrace) "[0-9]* ]]
}

@test "wrong options print an error on stderr and exit 255" {
    for words in -bogus "-clip x" "-clip" "-rsel 123" "-rsel 0101" "-r stray stray" "--of 0" "-showx --json"; do
        # shellcheck disable=SC2086
        run --separate-stderr post $words
        [ "$status" -eq 255 ]
        [ -z "$output" ]
        [[ $stderr == "post: error:"* ]]
    done
    [ ! -e tprof.out ]
    run --separate-stderr post stray another
    [ "$status" -eq 255 ]
    [[ $stderr == 'post: error: unexpected argument "another"'* ]]
}

@test "a missing trace file exits 1 with advice" {
    run post
    [ "$status" -eq 1 ]
    [[ $output == *"swtrace.nrm2"* && $output == *"-r"* ]]
    run post -r /nowhere/x.nrm2
    [ "$status" -eq 1 ]
    [[ $output == *"/nowhere/x.nrm2"* ]]
}

@test "a directory or a FIFO as trace file exits 1 and does not hang" {
    run post -r .
    [ "$status" -eq 1 ]
    mkfifo pipe
    run timeout 10 post -r pipe
    [ "$status" -eq 1 ]
    [[ $output == *"not a regular file"* ]]
}

@test "-tree and -folded without stacks, and -offcpu without dispatches, exit 1 and name the command that records them" {
    make_trace 5
    for option in -tree -folded "-tree -threads --json"; do
        # shellcheck disable=SC2086
        run post $option
        [ "$status" -eq 1 ]
        [[ $output == *"no call stacks"* && $output == *"swtrace stacks both"* ]]
    done
    run post -offcpu
    [ "$status" -eq 1 ]
    [[ $output == *"no dispatches"* && $output == *"swtrace enable dispatch"* ]]
    [ "$(find . -name 'tprof.*' | wc -l)" -eq 0 ]
}

# with_stack PID TIME CALLER: prints a tick with a stack, 40 bytes.
with_stack() {
    le 2 40
    le 2 0x10
    le 4 0x23
    le 4 "$2"
    le 4 "$1"
    le 4 "$1"
    le 4 0
    le 4 4096
    le 4 0x100 # one user frame
    le 4 0
    le 4 "$3"
}

# dispatch PID TIME STATE: prints a dispatch, 20 bytes.
dispatch() {
    le 2 20
    le 2 0x12
    le 4 "$1"
    le 4 "$2"
    le 4 "$1"
    le 4 "$3"
}

@test "-tree and -folded write callers and callees, in addition to tprof.out" {
    { with_stack 32 1 8192; with_stack 32 2 8192; } >ticks
    section 2 0 ticks >swtrace.nrm2
    run post -tree -folded -clip 0 --json
    [ "$status" -eq 0 ]
    [ -z "$output" ]
    grep -q '^ TOTAL TICKS              2$' tprof.out
    grep -q '^ FUN         2 100.00         0   0.00     \[broken\]$' tprof.tree
    grep -q '^ Whole stacks : 0 of 2 (0.00 %)' tprof.tree
    [ "$(cat tprof.folded)" = "pid_0020;[broken];[unknown] 2" ]
    grep -q '"tree":' tprof.json
}

@test "-offcpu needs no ticks; without ticks it writes only its own report" {
    { dispatch 32 1000000 1; dispatch 0 3000000 1; dispatch 32 4000000 0; } >dispatches
    section 2 0 dispatches >swtrace.nrm2
    run post -offcpu -clip 0
    [ "$status" -eq 0 ]
    [ -z "$output" ]
    grep -q '^ TID        2.000        0.000        1.000 .* pid_0020 tid_0020$' tprof.offcpu
    [ ! -e tprof.out ]
    run post
    [ "$status" -eq 1 ]
}

@test "a good trace makes tprof.out, exits 0 and prints nothing" {
    make_trace 50
    run post
    [ "$status" -eq 0 ]
    [ -z "$output" ]
    grep -q '^ TOTAL TICKS            100$' tprof.out
    grep -q '^ PID       100 100.00   pid_0020$' tprof.out
    [ "$(stat -c %a tprof.out)" = "$(printf %o $((0644 & ~$(umask))))" ]
    [ ! -e post.show ]
    [ ! -e tprof.json ]
    [ "$(find . -name '.post-*' | wc -l)" -eq 0 ]
}

@test "reports of the same trace are identical" {
    make_trace 50
    post -o . && cp tprof.out first
    post && cmp tprof.out first
}

@test "-r, -o and --json set the input and output files" {
    make_trace 5
    mkdir out
    mv swtrace.nrm2 other
    run post -r other -o out --json
    [ "$status" -eq 0 ]
    [ "$(jq .ticks out/tprof.json)" -eq 10 ]
    [ "$(jq -r '.reports | map(.title) | join(" ")' out/tprof.json)" = \
        "Process Process_Module Process_Module_Symbol Process_Thread Process_Thread_Module Process_Thread_Module_Symbol Module Module_Symbol" ]
    run post -r other --json=report.json
    [ -s report.json ]
}

@test "-show adds post.show, -showx and -showxx write nothing else" {
    make_trace 5
    run post -show
    [ "$status" -eq 0 ]
    [ -e tprof.out ]
    [ "$(wc -l <post.show)" -eq 11 ]
    [ "$(stat -c %a post.show)" = 600 ]
    rm tprof.out
    run post -showx
    [ "$status" -eq 0 ]
    [ ! -e tprof.out ]
    run post -showxx
    [ "$(grep -c '^ ---- 0010001C 00000023' post.show)" -eq 10 ]
}

@test "a trace without ticks is reported, exits 1 and makes no report" {
    : >ticks
    section 2 0 ticks >swtrace.nrm2
    run post
    [ "$status" -eq 1 ]
    [[ $output == *"contains no ticks"* ]]
    [ ! -e tprof.out ]
}

@test "-show of a trace without ticks writes its records, reports that there are no ticks, and exits 0" {
    # A record of an unknown major.
    { le 2 16 && le 2 0x60 && le 4 1 && le 4 5 && le 4 7; } >other
    section 2 0 other >swtrace.nrm2
    run post -show
    [ "$status" -eq 0 ]
    [[ $output == *"contains no ticks"* ]]
    [ -s post.show ]
    [ ! -e tprof.out ]
    rm post.show
    # A missing report that was requested by name is an error.
    run post -show -tree
    [ "$status" -eq 1 ]
    rm post.show
    run post -show --json
    [ "$status" -eq 1 ]
}

@test "--diff refuses to compare ticks of different kinds, for traces and for reports" {
    make_trace 5
    post --json=time.json -clip 0
    jq '.trace.tick = "event" | .trace.event = "page-faults"' time.json >faults.json
    jq '.trace.tick = "event" | .trace.event = "cycles"' time.json >cycles.json
    for pair in 'time.json faults.json' 'swtrace.nrm2 faults.json' 'faults.json time.json' 'cycles.json faults.json'; do
        # shellcheck disable=SC2086
        run post --diff $pair
        [ "$status" -eq 1 ] || { echo "$pair"; false; }
        [[ $output == *"post: error: the ticks of "*"page-faults"*"cannot be compared"* ]]
    done
    post --diff faults.json faults.json
    post --diff swtrace.nrm2 time.json
}

@test "files that are not traces exit 1 with a message" {
    for make in ': ' 'head -c 5000 /dev/zero' 'head -c 5000 /dev/urandom' 'cat /bin/true' 'echo NRM2'; do
        eval "$make" >swtrace.nrm2
        run post
        [ "$status" -eq 1 ]
        [[ $output == "post: error: swtrace.nrm2: "* ]]
        [ ! -e tprof.out ]
    done
}

# Unit tests try each size and each bit of a smaller file (DamagedFiles); these are about the exit status.
@test "a truncated trace reports the good records and exits 3, or exits 1 when no tick is left" {
    make_trace 20
    whole=$(stat -c %s swtrace.nrm2)
    cp swtrace.nrm2 whole
    for ((size = whole - 1; size > 0; size -= 211)); do
        head -c "$size" whole >swtrace.nrm2
        rm -f tprof.out
        run post
        [[ $status -eq 3 || $status -eq 1 ]]
        [ -n "$output" ]
        if [ "$status" -eq 3 ]; then
            grep -q '^ Damaged : ' tprof.out
        else
            [ ! -e tprof.out ]
        fi
    done
}

@test "flipped bits never crash post, and detectable ones are reported" {
    make_trace 3
    cp swtrace.nrm2 whole
    size=$(stat -c %s whole)
    for ((at = 0; at < size; at += 83)); do
        cp whole swtrace.nrm2
        byte=$(od -An -tu1 -j "$at" -N 1 whole)
        # shellcheck disable=SC2059
        printf "\\x$(printf %02x $((byte ^ (1 << at % 8))))" |
            dd of=swtrace.nrm2 bs=1 seek="$at" conv=notrunc status=none
        run post
        [[ $status -eq 0 || $status -eq 1 || $status -eq 3 ]]
        [[ $status -eq 0 || -n $output ]]
    done
}

@test "a damaged length is reported with its offset; the other buffer is in the report" {
    make_trace 4
    # The length of the second record of CPU 0.
    printf '\x00' | dd of=swtrace.nrm2 bs=1 seek=540 conv=notrunc status=none
    run post
    [ "$status" -eq 3 ]
    [[ $output == *"CPU 0 trace"*"impossible length at file offset 540"* ]]
    grep -q '^ TOTAL TICKS              7$' tprof.out
}

@test "post -o creates the directory, and the trace can be named without -r" {
    make_trace 4
    mv swtrace.nrm2 other.nrm2
    run -0 post -pnm other.nrm2 -o new/directory
    [ -s new/directory/tprof.out ]
}

@test "no output replaces the trace, or another output" {
    make_trace 4
    cp swtrace.nrm2 whole
    for words in --html=swtrace.nrm2 --json=./swtrace.nrm2 --archive=swtrace.nrm2 "-o . --html=$PWD/swtrace.nrm2"; do
        # shellcheck disable=SC2086 # words
        run -1 post -r swtrace.nrm2 $words
        [[ $output == *"swtrace.nrm2 is read: it cannot be replaced"* ]]
        cmp whole swtrace.nrm2
    done
    mv swtrace.nrm2 tprof.out
    run -1 post tprof.out
    cmp whole tprof.out
    mv tprof.out swtrace.nrm2
    run -0 post --json=first.json
    run -1 post --diff first.json swtrace.nrm2 --json=first.json
    [[ $output == *"first.json is read"* ]]
    head -c 32 /dev/urandom >key && chmod 600 key && cp key same
    run -1 post --export pprof --hash path --hash-key key --json=key
    [[ $output == *"key is read"* ]]
    cmp key same
    # A link is replaced.
    ln -s swtrace.nrm2 link.html
    run -0 post --html=link.html
    cmp whole swtrace.nrm2
    [[ ! -L link.html ]]
    # What the shell has opened, by a link to it, which another program of root may need.
    ln -s "$PWD/stream" stdout
    run -1 bash -c 'post --html=stdout >stream'
    [[ $output == *"not a regular file"* && -L stdout ]]
    for words in --html=tprof.out '--html=same --json=same' '--json=./tprof.pb.gz --export pprof'; do
        # shellcheck disable=SC2086 # words
        run -1 post $words
        [[ $output == *"two files are to be written to"* ]]
    done
    # Known before anything is written.
    run -1 post -o new --json=same --html=same
    [[ -z $(ls new) ]]
    run -1 post -o new --json=post.msg -verbmsg
    [[ -z $(ls new) ]]
}

@test "--page prints the page with which tprof.out begins" {
    make_trace 4
    run -0 --separate-stderr post --page
    [ "${lines[0]}" = "The whole system, 2 processors: 3 us elapsed, 8 ticks (samples)" ]
    [[ $output == *" 100 %  NoSymbols  NoModule  (no name)"*"Files: tprof.out, swtrace.nrm2"*"post top" ]]
    [ "$(sed -n 2p tprof.out)" = "${lines[0]}" ]
    run -0 --separate-stderr post --page --of 32
    [ "${lines[0]}" = "Process 32: 3 us elapsed, 8 ticks (samples)" ]
    run -1 --separate-stderr post --page --of 33
    [[ $stderr == *"no process of swtrace.nrm2 has the id 33 (--of)."*decimal* ]]
    # Without ticks: no error, but a hint.
    make_trace 0
    run -0 --separate-stderr post --page -o none
    [[ $output == *" 0 ticks (samples)"*"No tick fell on it"* ]]
    [ ! -e none/tprof.out ]
    # A warning of each file that is not made.
    run -0 --separate-stderr post --page -o none --export pprof --export callgrind
    [[ $stderr == *"no ticks: tprof.callgrind is not written."*"no ticks: tprof.pb.gz is not written."* ]]
    [ -z "$(ls none)" ]
    run -3 post --page -o none --export pprof --strict
    # The old form has no page.
    make_trace 4
    run -0 post -compat
    [ "$(sed -n 2p tprof.out)" = " Tprof Reports" ]
    run ! grep -q Percentages tprof.out
}

@test "output that cannot be written exits 1 with the reason and leaves nothing behind" {
    make_trace 4
    : >file
    run post -o file/below
    [ "$status" -eq 1 ]
    [[ $output == *"cannot create the directory file/below: Not a directory; name another one with -o."* ]]
    mkdir tprof.out
    run post
    [ "$status" -eq 1 ]
    [[ $output == *"cannot replace tprof.out"* ]]
    [ "$(find . -name '.post-*' | wc -l)" -eq 0 ]
}

# make_long_trace DOUBLINGS: repeats the ticks of make_trace, so that their time also runs backwards.
make_long_trace() {
    make_trace 10
    for ((i = 0; i < $1; ++i)); do cat ticks ticks >doubled && mv doubled ticks; done
    section 2 0 ticks >swtrace.nrm2
}

@test "a full disk exits 1 with a message and without a partial report" {
    [ "$(id -u)" -eq 0 ] || skip "needs root to mount a small file system"
    make_long_trace 10
    mkdir small
    mount -t tmpfs -o size=64k tmpfs small || skip "needs to mount a tmpfs"
    run post -o small -showx
    listing=$(ls -A small)
    umount small
    [ "$status" -eq 1 ]
    [[ $output == *"No space left on device"* ]]
    [ -z "$listing" ]
}

# Each ending leaves the old files or the new ones, and nothing else.
@test "a signal leaves all old files or all new ones, also in folders" {
    # Its times begin again and again, which is damage.
    make_long_trace 9
    run -3 post --json --export ctf --export parquet --bucket 0 -o out
    for ((i = 0; i < 12; i++)); do
        find out -type f -exec touch -d 2020-01-01 {} +
        post --json --export ctf --export parquet --bucket 0 -o out 2>/dev/null 3>&- &
        sleep "0.$((RANDOM % 9))$((RANDOM % 9))"
        kill "$!" 2>/dev/null || true
        wait "$!" || true
        [[ -z $(find out -name '.post-*') ]]
        old=$(find out -type f ! -newermt 2020-01-02 | wc -l) new=$(find out -type f -newermt 2020-01-02 | wc -l)
        ((old == 0 || new == 0))
    done
}

@test "the two tables of --export parquet appear together or not at all" {
    [ "$(id -u)" -eq 0 ] || skip "needs root to mount a small file system"
    make_trace 4
    run -0 post --export parquet -o good
    mkdir small
    # No page for the second table.
    pages=$(stat -c %s good/tprof.out good/tprof.parquet | awk '{ pages += int(($1 + 4095) / 4096) } END { print pages }')
    mount -t tmpfs -o "size=$((pages * 4096))" tmpfs small || skip "needs to mount a tmpfs"
    run post --export parquet -o small
    listing=$(ls -A small)
    umount small
    [ "$status" -eq 1 ]
    [[ $output == *"cannot write small/tprof.stacks.parquet: No space left on device"* ]]
    [ -z "$listing" ]
}

# The partial file has no name where the file system allows that.
writes_a_partial_file() { # PID
    [ -n "$(find . -name '.post-*')" ] || find -L "/proc/$1/fd" -size +0 -links 0 2>/dev/null | grep -q .
}

@test "a signal while post.show is written leaves no partial file" {
    make_long_trace 19 # 5 million ticks: writing takes long enough
    for signal in TERM KILL; do
        post -showxx 2>/dev/null &
        pid=$!
        for ((i = 0; i < 500; ++i)); do
            writes_a_partial_file "$pid" && break
            sleep 0.01
        done
        writes_a_partial_file "$pid"
        kill -"$signal" "$pid"
        wait "$pid" && status=0 || status=$?
        [ "$status" -eq $((128 + $(kill -l "$signal"))) ]
        ls -A
        [ "$signal" = KILL ] && [ "$(stat -f -c %T .)" = overlayfs ] || [ "$(find . -name '.post-*' | wc -l)" -eq 0 ]
        [ ! -e post.show ]
    done
}

@test "-kas warns when the trace was made on another kernel" {
    make_trace 4
    echo kernel=0.0.0-other >info
    section 256 0 info >>swtrace.nrm2
    run post -kas
    [[ $output == *"warning: -kas takes the symbols of the running kernel $(uname -r), but the trace was made on 0.0.0-other"* ]]
    grep -q '^ TOTAL TICKS              8$' tprof.out
}

@test "a trace cut off by a full disk is reported as such and exits 3" {
    make_trace 4
    echo "ended=disk full" >info
    section 256 0 info >>swtrace.nrm2
    run post
    [ "$status" -eq 3 ]
    [[ $output == *"disk was full"* ]]
    grep -q '^ Ended : the disk was full' tprof.out
}

@test "lost records are reported on stderr and before the reports, and do not change the exit status" {
    make_trace 4
    printf 'count.0.trace.%s\n' produced=10 written=4 full=6 >info
    printf 'count.1.trace.%s\n' produced=4 written=4 >>info
    section 256 0 info >>swtrace.nrm2
    run post
    [ "$status" -eq 0 ]
    [[ $output == *"warning: Lost: 6 of 14 records (42.86 %)"* ]]
    [ "$(grep -n -m1 '^ Lost : 6 of 14' tprof.out | cut -d: -f1)" -lt \
        "$(grep -n -m1 ')) Process$' tprof.out | cut -d: -f1)" ]
    grep -q '^ Records produced : 14 (8 written, 6 lost)$' tprof.out
}

@test "-k with a missing image exits 1 and names the file" {
    make_trace 4
    run post -k /nowhere/vmlinux
    [ "$status" -eq 1 ]
    [[ $output == *"/nowhere/vmlinux"*"-k"* ]]
}

# count PRODUCED WRITTEN [REASON=N]...: appends the writer's counts for CPU 0 and 1.
count() {
    printf 'count.0.trace.%s\n' produced="$1" written="$2" "${@:3}" >info
    printf 'count.1.trace.%s\n' produced="$2" written="$2" >>info
    section 256 0 info >>swtrace.nrm2
}

@test "help fits terminals of 40 and 60 columns" {
    for tool in post cpi; do
        for width in 40 60; do
            COLUMNS=$width run "$tool" --help
            [ "$status" -eq 0 ]
            # Examples are commands to be copied.
            wide=$(awk -v width="$width" '/^$/ { example = 0 } /^Examples:$/ { example = 1 } length > width && !example' <<<"$output")
            [ "$wide" = "" ] || { echo "$wide" && false; }
        done
    done
    [[ $output == 'Usage: cpi [OPTION]... -- COMMAND [ARGUMENT]...'* ]]
}

@test "unsupported options exit 255 with the reason and the replacement" {
    run --separate-stderr post -mask=ff
    [ "$status" -eq 255 ]
    [[ $stderr == "post: error: -mask is not supported: there are no debugging codes; use -verbose"* ]]
    for option in -int3 --oldjit -undup -noskew -aixtrc -d; do
        run post "$option"
        [ "$status" -eq 255 ]
        [[ $output == *"is not supported: "*"; "* ]]
    done
}

@test "windows select records or ticks; a window without ticks exits 1" {
    make_trace 10 # times 1, 1001, ...: two ticks at each
    run post -twin 1 5
    [ "$status" -eq 0 ]
    grep -q '^ TOTAL TICKS              5$' tprof.out
    grep -q '^ Only : ticks number 1 to 5 (-twin)' tprof.out
    run post -pp 3 6 --json -show
    [ "$status" -eq 0 ]
    [ "$(jq -c '[.ticks, .selection.records, .selection.of_ticks, .records.read]' tprof.json)" = '[4,{"first":3,"last":6},6,6]' ]
    [ "$(wc -l <post.show)" -eq 5 ]
    run post -p 7
    grep -q '^ TOTAL TICKS              7$' tprof.out
    rm tprof.out
    run post -twin 21 30
    [ "$status" -eq 1 ]
    [[ $output == *"none of the 20 ticks"* ]]
    run post -tpsel 1
    [ "$status" -eq 1 ]
    [ ! -e tprof.out ]
}

@test "-x adds reports; an error in its file is reported with the line before the trace is read" {
    make_trace 5
    printf '# two more\n31\n345\n' >extra
    run post -x extra --json
    [ "$status" -eq 0 ]
    [ "$(jq -r '.reports[8:] | map(.title) | join(" ")' tprof.json)" = "Module_Process Module_Symbol_Offset" ]
    grep -q '^   OFF      10 100.00     0x1000$' tprof.out
    grep -q '^ Extra Tree Reports$' tprof.out
    rm tprof.out
    printf '31\n36\n' >extra
    run post -x extra
    [ "$status" -eq 1 ]
    [[ $output == *"extra:2: "* ]]
    mkfifo pipe
    for file in . pipe /nowhere /dev/null; do
        run timeout 10 post -x "$file"
        [ "$status" -eq 1 ]
        [[ $output == *"post: error:"*"$file"* ]]
    done
    [ ! -e tprof.out ]
}

@test "-verbmsg writes facts and warnings to post.msg" {
    make_trace 4
    count 6 4 full=2
    run post -verbmsg
    [ "$status" -eq 0 ]
    grep -q '^major 10: 8 records (ticks)$' post.msg
    grep -q '^warning: Lost: 2 of 10 records' post.msg
}

@test "--strict exits 3 for every loss and for unknown losses; the reports are written" {
    make_trace 4
    count 4 4
    run post --strict
    [ "$status" -eq 0 ]
    [ -z "$output" ]
    make_trace 4
    count 6 4 stopped=2
    run post
    [ "$status" -eq 0 ]
    rm tprof.out
    run post --strict
    [ "$status" -eq 3 ]
    [[ $output == *"swtrace.nrm2 is not complete (--strict): 2 records were lost."* ]]
    grep -q '^ TOTAL TICKS              8$' tprof.out
    run post -showx --strict
    [ "$status" -eq 3 ]
    make_trace 4
    echo missed.sched_fork=1 >missed
    count 4 4
    section 256 0 missed >>swtrace.nrm2
    run post --strict
    [ "$status" -eq 3 ]
    [[ $output == *"1 hits of hooks were missed"* ]]
    make_trace 4
    run post --strict
    [ "$status" -eq 3 ]
    [[ $output == *"does not contain how many records were produced"* ]]
}

@test "--budget exits with 4 when a limit is exceeded and lists each such limit" {
    make_trace 50
    cat >limits <<'END'
module NoModule 99.5%   # 100 of 100 ticks
symbol NoSymbols:NoModule 100%
process nobody 1 %
process (no name) 50
END
    run --separate-stderr post --budget limits --json
    [ "$status" -eq 4 ]
    [ -z "$output" ]
    [[ $stderr == *"post: error: limits:1: module NoModule: 100.00 % (100 of 100 ticks), limit 99.5 %: exceeded"* ]]
    [[ $stderr == *"post: warning: limits:3: process nobody: no tick fell on that name, limit 1 %; is it written as in tprof.out?"* ]]
    [[ $stderr == *"post: error: limits:4: process (no name): 100.00 %"* ]]
    [[ $stderr != *"limits:2"* ]]
    [ "$(jq -c '.budget | map(.exceeded)' tprof.json)" = '[true,false,false,true]' ]
    grep -q '^ Budget : module NoModule: 100.00 % (100 of 100 ticks), limit 99.5 %:' tprof.out
    sed -i '/99.5\|50/d' limits
    run post --budget limits
    [ "$status" -eq 0 ]
}

@test "a budget on a damaged trace exits 3" {
    make_trace 50
    echo 'module NoModule 1%' >limits
    count 60 59
    run post --budget limits
    [ "$status" -eq 3 ]
    [[ $output == *"exceeded"* ]]
}

@test "an invalid budget exits 1 with its line, and makes no report" {
    make_trace 5
    printf 'module a 5%%\n\nmodule b five\n' >limits
    run post --budget limits
    [ "$status" -eq 1 ]
    [[ $output == *"limits:3: a line ends with a limit from 0% to 100%, such as 50%, 12.5 % or 50, not with 'five'"* ]]
    head -c 2000000 /dev/zero >limits
    run post --budget limits
    [ "$status" -eq 1 ]
    [[ $output == *"is longer than"* ]]
    head -c 100000 /dev/urandom >limits
    run post --budget limits
    [ "$status" -eq 1 ]
    run post --budget /nowhere
    [ "$status" -eq 1 ]
    [ ! -e tprof.out ]
}

@test "--diff compares traces and JSON in every combination with the same result" {
    make_trace 50
    mv swtrace.nrm2 a
    { some_ticks 32 80 1; some_ticks 0 40 80001; } >ticks
    section 2 0 ticks >b
    for side in a b; do
        post -r "$side" -clip 0 --json="$side.json"
    done
    run --separate-stderr post --diff a b --json
    [ "$status" -eq 0 ]
    [ -z "$stderr" ]
    grep -q '^         TOTAL TICKS               100               120$' <<<"$output"
    # 0 of 100 against 40 of 120, by Fisher's exact test
    grep -qE '^  \+33\.33 +0\.00 +33\.33 +0\.0 +336134\.5 +\+7\.1 more  SystemProcess$' <<<"$output"
    grep -qE '^  -33\.33 100\.00 +66\.67 .* -7\.1 less  \(no name\)$' <<<"$output"
    [ "$(jq -r '.processes[0].verdict + " " + .modules[0].verdict' tprof.diff.json)" = "more noise" ]
    expected=$(grep -v '^ [AB] : ' <<<"$output")
    for pair in "a b.json" "a.json b" "a.json b.json"; do
        # shellcheck disable=SC2086
        run --separate-stderr post --diff $pair
        [ "$status" -eq 0 ]
        [ "$(grep -v '^ [AB] : ' <<<"$output")" = "$expected" ]
    done
}

@test "--diff of a trace with itself finds no difference" {
    make_trace 50
    run post --diff swtrace.nrm2 swtrace.nrm2
    [ "$status" -eq 0 ]
    [ "$(grep -cE ' (more|less) ' <<<"$output")" -eq 0 ]
    [ ! -e tprof.out ]
}

@test "--diff reports inputs that it cannot compare, and losses of either side" {
    make_trace 50
    cp swtrace.nrm2 good
    : >ticks
    section 2 0 ticks >empty
    for words in "good /nowhere" "/nowhere good" "good empty" "good ." "good /bin/true" "good limits"; do
        echo '{"schema": "other"}' >limits
        # shellcheck disable=SC2086
        run --separate-stderr post --diff $words
        [ "$status" -eq 1 ]
        [ -z "$output" ]
        [[ $stderr == "post: error:"* ]]
    done
    count 60 50 full=10
    run --separate-stderr post --diff good swtrace.nrm2
    [ "$status" -eq 0 ]
    [[ $stderr == *"warning: swtrace.nrm2: Lost: 10 of 110 records"* ]]
    [[ $output == *" Lost of B : 10 of 110 records"* ]]
    run post --diff good swtrace.nrm2 --strict
    [ "$status" -eq 3 ]
    head -c 1000 good >short
    run post --diff good short
    [ "$status" -eq 3 ]
    [[ $output == *"Damaged of B : "* ]]
}

@test "--diff into a full device exits 1" {
    make_trace 50
    run bash -c 'post --diff swtrace.nrm2 swtrace.nrm2 >/dev/full'
    [ "$status" -eq 1 ]
    [[ $output == *"cannot write to the standard output: No space left"* ]]
}

@test "a full device behind standard error changes neither the report nor the exit status" {
    make_trace 4
    count 6 4 stopped=2
    run -0 bash -c 'post 2>/dev/full'
    grep -q '^ TOTAL TICKS              8$' tprof.out
    run -1 bash -c 'post -r none 2>/dev/full'
    run -1 --separate-stderr bash -c 'post --help >/dev/full'
    [[ $stderr == "post: error: Cannot write the output: No space left on device." ]]
    for tool in swtrace mpevt msr cpi genmsi arcf ptt pttstats pitrace-attach genmap hdump logrt rtdriver; do
        run -255 bash -c '"$1" --no-such-option 2>/dev/full' bash "$tool"
    done
}

@test "messages show control characters of names, and send none to the terminal" {
    local name
    # The last one is the control character U+009B in UTF-8.
    for name in $'x\e[31my' $'x\ry' $'x\xc2\x9b31my'; do
        run -1 post -r "$name"
        [[ $output == *"\\x"* ]]
        run ! grep -q $'[\e\r\x9b]' <<<"$output"
    done
    run -127 run.tprof -- $'./\e[31mmissing'
    [[ $output == *'./\x1b[31mmissing: command not found'* ]]
}

@test "a selection of CPUs or seconds outside the trace names what it has" {
    make_trace 4
    run -1 post --cpus 4711
    [[ $output == *"The trace has CPUs 0 to 1."* ]]
    run -1 post --time 100-200
    [[ $output == *"The trace has ticks until 3 us after its first one."* ]]
}
