#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# run.tprof's options from the command line: help, and wrong use, which is reported before anything is built or traced.

bats_require_minimum_version 1.5.0

setup() {
    # shellcheck source=tests/support/other_user.bash
    source "$SOURCE_DIR/tests/support/other_user.bash"
    PATH="$BUILD_DIR/bin:$PATH"
    cd "$BATS_TEST_TMPDIR" || return
}

# run.tprof as in an installation, next to the programs of this build: in the source tree it builds its own.
make_layout() {
    mkdir -p layout/bin layout/share/pitrace
    cp "$SOURCE_DIR/scripts/run.tprof" layout/bin/
    cp "$SOURCE_DIR"/scripts/{lib.sh,trace.sh,java.sh} layout/share/pitrace/
    ln -s "$BUILD_DIR/bin/swtrace" "$BUILD_DIR/bin/post" layout/bin/
}

teardown() {
    if [ -n "${public:-}" ]; then rm -rf "$public"; fi
}

@test "the help names every option; -h verbose also explains the steps" {
    run run.tprof --help
    [ "$status" -eq 0 ]
    for option in '-m time|event' '-c N' '-e EVENT' ' -g ' '--source=auto|driver|perf' '--strict' '-p PID' '--java' '--no-java' '--no-install'; do
        [[ "$output" == *"$option"* ]] || { echo "$option"; false; }
    done
    run run.tprof -h verbose
    [[ "$output" == *"swtrace setrate (or event)"* ]]
}

@test "--version works without a build" {
    mkdir -p tree/scripts
    cp "$SOURCE_DIR"/scripts/{run.tprof,run.itrace,lib.sh,trace.sh,java.sh} tree/scripts
    : >tree/CMakeLists.txt
    for script in run.tprof run.itrace; do
        run -0 "tree/scripts/$script" --version
        [[ "$output" == "$script (pitrace), from a source tree that is not built" ]]
    done
    [ ! -e tree/build ]
    run -0 run.tprof --version
    [[ "$output" =~ ^run.tprof\ .*[0-9]+\.[0-9]+ ]]
}

@test "a report that cannot be printed is kept, and the error says where; a reader that ends early is no error" {
    make_layout
    for all in '' --all; do
        for where in '>/dev/full' '>&-'; do
            mkdir -p out && echo old >out/tprof.out
            run -125 bash -c "layout/bin/run.tprof $all --source=perf -o out -- true $where"
            [[ $output == *"error: the report is complete in $PWD/out, but cannot be printed: "* ]]
            grep -q Process_Module_Symbol out/tprof.out
        done
        run -0 bash -c "set -o pipefail; layout/bin/run.tprof $all --source=perf -o out -- true | true"
        grep -q Process_Module_Symbol out/tprof.out
        run -7 bash -c "layout/bin/run.tprof $all --source=perf -o out -- sh -c 'exit 7' >/dev/full"
    done
    run -1 bash -c 'layout/bin/run.tprof --version >/dev/full'
    run -1 bash -c 'layout/bin/run.tprof --help >/dev/full'
}

@test "wrong use exits 255, reports the error, and leaves nothing behind" {
    for words in '-m cycles' '-e INSTR' '-m event -c 0' '-m event -c 1000000000' '-c 10001' '-c x' '-m event -e' '-x' \
        '-m event -m time -e INSTR' '-t --strict' '-r 5' '-s 0' '-M other/place' '--cpus=abc' '--time=3-1' '--post=--nosuch'; do
        # shellcheck disable=SC2086
        run run.tprof $words -- true
        [ "$status" -eq 255 ] || { echo "$words: $status"; false; }
        [[ "$output" == *"run.tprof: error: "* ]]
    done
    [ -z "$(ls -A)" ]
    run -255 run.tprof --html=page.html -- true
    [[ "$output" == *"--html takes no value"* ]]
    run -255 run.tprof --post=--nosuch -- true
    [[ "$output" == *"error: --post: "*"--nosuch"* ]]
    run -127 run.tprof -- ''
    [[ "$output" == *"the command is an empty word"* ]]
    touch file
    run -125 run.tprof -o file -- true
    [ "$output" = "run.tprof: error: file is a file, not a directory; choose a directory with -o" ]
}

@test "a report without data is left out, with a warning; -M names its file" {
    make_layout
    run -0 --separate-stderr layout/bin/run.tprof --source=perf -o out --post=-offcpu -M all.out -- \
        sh -c 'i=0; while [ $i -lt 100000 ]; do i=$((i + 1)); done'
    [[ "$output" == *"Files in out: tprof.out, tprof.json, swtrace.nrm2"* ]]
    [[ "$stderr" == *"contains no dispatches"*"tprof.offcpu is not written"* ]]
    [[ "$stderr" == *"concatenated reports: "*/out/all.out* ]]
    [ ! -e out/tprof.offcpu ]
    run -3 layout/bin/run.tprof --source=perf -p -o out --post=-offcpu --strict
    [[ "$output" == *"not complete (--strict)"* ]]
}

@test "-m event without -c takes the period of swtrace event" {
    [ "$(swtrace check --json | jq .perf_system_works)" = true ] ||
        skip "needs perf_event_open for the whole system"
    make_layout
    period() { tr '\0' '\n' <out/swtrace.nrm2 | grep -a '^period='; }
    layout/bin/run.tprof --source=perf -t -m event -e page-faults -o out -- true
    [ "$(period)" = period=1 ]
    layout/bin/run.tprof --source=perf -t -m event -e cpu-clock -o out -- true
    [ "$(period)" = period=10000000 ]
    layout/bin/run.tprof --source=perf -t -m event -e page-faults -c 3 -o out -- true
    [ "$(period)" = period=3 ]
}

@test "-g has the source of other runs, with perf and without" {
    make_layout
    rm layout/bin/swtrace
    # shellcheck disable=SC2016 # expanded by the fake program
    printf '%s\n' '#!/bin/sh' 'if [ "$1" = check ]; then cat check.json; else echo "$*" >>calls && exit 1; fi' >layout/bin/swtrace
    chmod +x layout/bin/swtrace
    echo '"perf_system_works": true' >check.json
    for words in '-g' '-g tables' '-g fp' '-g --source=driver' ''; do
        # shellcheck disable=SC2086
        run -125 layout/bin/run.tprof $words --no-java -o out -- true
    done
    echo '"perf_system_works": false' >check.json
    run -125 layout/bin/run.tprof -g --no-java -o out -- true
    sed -nE 's/^init .*--source ([a-z]+).*/\1/p' calls | tr '\n' ' ' >sources
    [ "$(cat sources)" = 'auto auto auto driver auto auto ' ]
}

@test "-p reports and -p PID traces; options for the other one are refused" {
    for words in '-p 1 -- true' '-p -- true' '-p 1 -p' '-p 1 -s 0' '-p 0' '-p 99999999' '-p 1 --java'; do
        # shellcheck disable=SC2086
        run run.tprof $words
        [ "$status" -eq 255 ] || { echo "$words: $status"; false; }
        [[ "$output" == *"run.tprof: error: "* ]]
    done
    [ -z "$(ls -A)" ]
    run -125 run.tprof -p -o nowhere
    [[ "$output" == *"there is no nowhere/swtrace.nrm2 to report on"* && ! -e nowhere ]]
}

@test "-p PID ends when the process has ended, although its parent has not waited for it" {
    make_layout
    # shellcheck disable=SC2016
    python3 -c 'import os, time
if (pid := os.fork()) == 0: time.sleep(2); os._exit(0)
print(pid, flush=True); time.sleep(100)' >pid &
    local parent=$!
    until [ -s pid ]; do sleep 0.05; done
    run timeout 60 layout/bin/run.tprof --source=perf -p "$(<pid)" -o out --lines=0
    kill "$parent"
    [ "$status" -ne 124 ]
    [ -s out/tprof.out ]
}

@test "characters that a terminal obeys or that nobody sees are shown as numbers in messages" {
    run -125 run.tprof -p -o $'a\xc2\x9b31m\xe2\x80\xae\xff'
    [[ "$output" == *'a\xc2\x9b31m\xe2\x80\xae\xff/swtrace.nrm2'* ]]
}

@test "one closed standard descriptor changes no exit status, and a command does not read the script from it" {
    make_layout
    cp "$SOURCE_DIR/scripts/run.itrace" layout/bin/
    local script
    for script in run.tprof run.itrace; do
        run -255 bash -c "layout/bin/$script --no-such-option 2>&-"
        run -255 bash -c "layout/bin/$script --no-such-option <&-"
    done
    # -t prints a message at the end.
    run -0 bash -c 'layout/bin/run.tprof --source=perf -t -o out -- true 2>&-'
    run -0 bash -c 'layout/bin/run.tprof --source=perf -t -o out -- sh -c "wc -c >count" <&-'
    [ "$(<count)" -eq 0 ]
    run -0 bash -c 'layout/bin/run.tprof --source=perf -t -o out -- sh -c "wc -c >count" <layout/bin/run.tprof'
    [ "$(<count)" -eq "$(wc -c <layout/bin/run.tprof)" ]
}

@test "closed standard descriptors disturb no run; the report is kept, although it cannot be printed" {
    make_layout
    local status=0
    layout/bin/run.tprof --source=perf -o out -- sh -c 'i=0; while [ $i -lt 100000 ]; do i=$((i + 1)); done' \
        <&- >&- 2>&- || status=$?
    [ "$status" -eq 125 ]
    grep -q 'Tprof Reports' out/tprof.out
}

@test "a command or process that does not exist is reported before anything is traced" {
    run -127 run.tprof -- ./no-such-command
    [[ "$output" == "run.tprof: error: ./no-such-command: command not found" ]]
    echo 'echo no' >"$BATS_TEST_TMPDIR/plain"
    mkdir "$BATS_TEST_TMPDIR/directory"
    for command in ./plain ./directory; do
        run -126 run.tprof -- "$command"
        [[ "$output" == "run.tprof: error: $command: "* ]]
    done
    PATH=$PATH:. run -126 run.tprof -- plain
    [[ "$output" == "run.tprof: error: plain: "*"may not be executed"* ]]
    rm -r plain directory
    run -125 run.tprof -p 4194303
    [[ "$output" == "run.tprof: error: there is no process 4194303; the number is decimal, as ps -e shows it, and hexadecimal in reports" ]]
    [ -z "$(ls -A)" ]
}

# The rest runs traces, of all processors by perf events.
need_ticks() {
    [ "$(swtrace check --json | jq .perf_system_works)" = true ] ||
        skip "needs perf_event_open for the whole system"
}

# busy SECONDS: a command with one function, which uses this CPU time.
busy() {
    # shellcheck disable=SC2016 # expanded by the command's shell
    printf '%s\n' bash -c 'end=$((SECONDS + '"$1"')); while ((SECONDS < end)); do :; done; echo to-stdout; echo to-stderr >&2'
}

@test "the page follows the command's output: no more than 23 lines, 80 columns and no escape sequence in a pipe" {
    need_ticks
    local command
    mapfile -t command < <(busy 2)
    run.tprof --source=perf --no-java -o out -- "${command[@]}" >page 2>err
    head -n 1 page | grep -qx to-stdout
    sed -i 1d page
    cat page err
    [ "$(wc -l <page)" -le 23 ]
    [ "$(wc -L <page)" -le 80 ]
    run ! grep -q $'\033' page err
    [ "$(cat err)" = to-stderr ]
    grep -qE '^bash:[0-9]+( and [0-9]+ descendants?)?: [0-9.]+ m?s elapsed, .* of processor time' page
    grep -qE '^ +[0-9.]+ %  .* +bash$' page
    grep -qx 'Files in out: tprof.out, tprof.json, swtrace.nrm2' page
    # The report begins with the same page.
    sed -n '2,/^ Tprof Reports$/p' out/tprof.out | sed '$d' >in_report
    sed 's/…/.../g' page | head -n "$(($(wc -l <in_report) - 1))" | diff - <(sed '$d' in_report)
    # What to type next works.
    sed -n 's/^  \(.*post top -r .* --command [0-9]*\)$/\1/p' page >next
    [ -s next ]
    TERM=xterm run -0 script -qec "stty columns 80 rows 24; $(cat next)" /dev/null <<<q
    [[ "$output" == *bash:* ]]
}

@test "--lines sets the functions of the page, --all is the report on all processes, 0 prints nothing" {
    need_ticks
    run.tprof --source=perf -t -o out -- sh -c 'head -c 30000000 /dev/zero | gzip >/dev/null'
    run -0 run.tprof -p -o out --lines=1
    [ "$(grep -cE '^ +[0-9<>.]+ %  ' <<<"$output")" -eq 2 ]
    [[ "$output" == *"other functions"* ]]
    run -0 run.tprof -p -o out --all --lines=3
    [[ "$output" == *" Tprof Reports"*"TOTAL TICKS"*")) Process_Module_Symbol"*"more lines"*"run.tprof: reports: "* ]]
    [ "$(sed -n '/)) Process_Module_Symbol/,$p' <<<"$output" | grep -cE '^ +(PID|MOD|SYM) +[0-9]')" -eq 3 ]
    [[ "$output" != *"processor time"* ]]
    run -0 --separate-stderr run.tprof -p -o out --lines=0
    [ -z "$output" ]
}

@test "--html also writes a page for a browser, and keeps the one before" {
    need_ticks
    run.tprof --source=perf -t -o out -- sh -c 'head -c 30000000 /dev/zero | gzip >/dev/null'
    run -0 run.tprof -p -o out --html
    [[ "$output" == *"Files in out: tprof.out, tprof.json, tprof.html, swtrace.nrm2"* ]]
    grep -q '^<pre id="data" hidden>.' out/tprof.html
    cp out/tprof.html before.html
    run -0 run.tprof -p -o out --html --all
    [[ "$output" == *"page for a browser: "*/out/tprof.html* ]]
    cmp before.html out/tprof.html.old
    run -255 run.tprof -t --html -- true
    [[ "$output" == *"--html is about the report, which -t does not make"* ]]
}

@test "options for post may be repeated, and quotes keep blanks" {
    need_ticks
    run.tprof --source=perf -t -o out -- true
    mkdir 'my dir'
    run.tprof -p -o out --lines=0 --post=-pnm --post="-clip 0 -show -sympath '$PWD/my dir'"
    [ -s out/post.show ]
    jq -e '.names.process_ids == false and .clip_percent == 0' out/tprof.json
    run -255 run.tprof -p -o out --post="-sympath 'my dir"
    [[ "$output" == *"--post has an unterminated quote"* ]]
}

# on_terminal COLUMNS LINES ARG...: prints the output of run.tprof on a terminal of that size.
on_terminal() {
    local size="columns $1 rows $2" words
    shift 2
    printf -v words '%q ' run.tprof "$@"
    script -qec "stty $size; $words" /dev/null </dev/null | tr -d '\r'
}

# page_fits COLUMNS: prints the lines of the page in screen that are wider. The command to be copied
# has one line on a terminal of any width.
page_fits() {
    [ -z "$(sed -n '/^bash:/,$p' screen | grep -v 'post top ' | awk -v most="$1" 'length > most')" ]
}

@test "on a terminal the page has its width, colours unless NO_COLOR is set, and the title shows the progress of the trace" {
    need_ticks
    unset COLUMNS NO_COLOR
    local command wide
    mapfile -t command < <(busy 3)
    TERM=xterm-256color LC_ALL=C.UTF-8 on_terminal 80 24 --source=perf --no-java -o out -- "${command[@]}" >screen
    grep -q $'\033\\[1;31m' screen
    # The title changes and is restored; from the command's start on no other part of the screen is
    # moved or erased.
    grep -qE $'\033\\[22;2t' screen
    grep -qE $'\033\\]2;run.tprof: [0-9]+ s, [0-9]+ records, 0 lost, [0-9.]+ MB\007' screen
    grep -qE $'\033\\]2;\007\033\\[23;2t' screen
    sed -n $'/\033\\[22;2t/,$p' screen | sed $'1s/.*\033\\[22;2t//' >from_start
    run ! grep -qE $'\033\\[[0-9;]*[A-HJKf]' from_start
    sed -E $'s/\033\\[[0-9;]*[mt]//g;s/\033\\][^\007]*\007//g' screen >plain
    [ "$(sed -n '/^bash:/,$p' plain | wc -l)" -le 23 ]
    [ "$(wc -L <plain)" -le 80 ]
    # Without colours. The message that the programs are up to date is in a line that is removed.
    plain_screen() { NO_COLOR=1 on_terminal "$@" -p -o out | sed $'s/.*\033\\[K//' >screen; }
    TERM=xterm LC_ALL=C.UTF-8 plain_screen 200 50
    run ! grep -q $'\033' screen
    wide=$(grep -c . screen)
    # A wide terminal needs no more lines than a narrow one.
    TERM=xterm LC_ALL=C.UTF-8 plain_screen 60 24
    (($(grep -c . screen) >= wide))
    page_fits 60
    TERM=xterm LC_ALL=C plain_screen 40 24
    page_fits 40
    run ! grep -q '[^ -~]' screen
    TERM=dumb on_terminal 80 24 -p -o out >screen
    run ! grep -q $'\033\\[[0-9;]*m' screen
}

@test "without a command an overwritten line shows the progress of the trace, on a terminal only" {
    need_ticks
    TERM=xterm on_terminal 80 24 --source=perf -s 0 -r 3 -o out >screen
    grep -qE $'\033\\[Krun.tprof: [0-9]+ s, [0-9]+ records, 0 lost' screen
    run ! grep -q $'\033\\]2;' screen
    grep -q 'The whole system' screen
    run.tprof --source=perf -s 0 -r 2 -o out >page 2>err
    run ! grep -q $'\033' page err
    grep -q '^The whole system, [0-9]* processor' page
}

@test "older files stay as they are until the new ones are written, and an error has one prefix" {
    mkdir out
    for name in tprof.out tprof.json swtrace.nrm2; do echo earlier >"out/$name"; done
    run -125 run.tprof --source=perf -m event -e nonsense -o out -- true
    [[ "$output" == *"run.tprof: error: the trace could not be started: "*nonsense* ]]
    [[ "$output" != *"swtrace: "* ]]
    run -125 run.tprof -p -o out
    [[ "$output" == *"run.tprof: error: no report could be made: "*swtrace.nrm2* ]]
    [[ "$output" != *"post: "* ]]
    for name in tprof.out tprof.json swtrace.nrm2; do [ "$(cat "out/$name")" = earlier ]; done
    local files=(out/*)
    [ "${#files[@]}" -eq 3 ]
    need_ticks
    run.tprof --source=perf --no-java -o out -- true
    for name in tprof.out tprof.json swtrace.nrm2; do
        [ "$(cat "out/$name.old")" = earlier ]
        [ "$(head -n 1 "out/$name")" != earlier ]
    done
}

@test "the page names the processes of a command that has several" {
    need_ticks
    # shellcheck disable=SC2016 # expanded by the command's shell
    run.tprof --source=perf --no-java -o out -- bash -c 'for ((i = 0; i < 400000; i++)); do :; done
        awk "BEGIN { for (i = 0; i < 4000000; ++i) sum += i }"' >page
    cat page
    grep -qE '^Processes: [a-z]+ [0-9.]+ %, [a-z]+ [0-9.]+ %' page
    sed -n 's/^Processes: //p' page | grep -q awk
    sed -n 's/^Processes: //p' page | grep -q bash
}

@test "the page has the reason for a command in a chroot or on a private file system, and its advice gives the names" {
    [ "$(id -u)" -eq 0 ] || skip "needs root for chroot and mount"
    need_ticks
    make_layout
    mkdir root private
    cp "$BUILD_DIR/tests/shares" root/inside
    while read -r file; do cp -L --parents "$file" root; done < <(ldd root/inside | grep -o '/[^ ]*')
    # In a build with sanitizers the program in the chroot cannot be searched for leaks.
    ASAN_OPTIONS=detect_leaks=0 layout/bin/run.tprof -- chroot root /inside 1 >page
    grep -Eq ' % of (inside has|the ticks of inside have) no name' page || { cat page && false; }
    grep -A 4 'Symbols : /inside: ' tprof.out | grep -q chroot
    grep -q 'post -nv -sympath DIR' tprof.out
    post -nv -sympath root --page >page
    grep -q ' % *forty' page || { cat page && false; }
    # shellcheck disable=SC2016 # the inner shell expands it
    layout/bin/run.tprof -- unshare -m sh -c 'mount -t tmpfs private private && cp root/inside private/alone && private/alone 1' >page
    grep -Eq ' % of (alone has|the ticks of alone have) no name' page || { cat page && false; }
    grep -A 4 'Symbols : .*/private/alone: ' tprof.out | grep -q 'private mount'
}

@test "a selected name that matches nothing is reported, and the kernel has the name that the page shows" {
    need_ticks
    run --separate-stderr run.tprof --source=perf -o out --no-module nosuchmodule -- "$BUILD_DIR/tests/shares" 0.5
    [ "$status" -eq 0 ]
    [[ "$stderr" == *"nosuchmodule"*"matches nothing"* ]] || { echo "$stderr" && false; }
    run --separate-stderr run.tprof -p -o out --module '[kernel]'
    [ "$status" -eq 0 ]
    [ -z "$stderr" ]
}

# buffers [OPTION]...: prints the sizes of the recorder's trace and MTE buffer while COMMAND runs.
buffers() {
    mkdir -p t
    # shellcheck disable=SC2016 # expanded by the command's shell
    TMPDIR=$PWD/t run.tprof --source=perf --no-java --lines=0 -o out "$@" -- \
        bash -c 'PITRACE_SOCKET=$(echo $PWD/t/*/run/recorder) swtrace info --json' | jq -r '"\(.trace.trace_bytes) \(.trace.mte_bytes)"'
}

@test "by default the buffers have space for an hour of ticks, and 100 MB for names" {
    need_ticks
    (($(awk '/^MemAvailable:/ { print $2 }' /proc/meminfo) > 2000000 * $(nproc))) || skip "needs 2 GB of free memory for each CPU"
    read -r trace names < <(buffers)
    ((trace >= 3600 * 1000 * 28 && names == 100 << 20))
    # A lower rate of ticks needs no less space for names.
    read -r trace names < <(buffers -c 100)
    ((trace >= 3600 * 100 * 28 && trace < 3600 * 1000 * 28 && names == 100 << 20))
    read -r trace names < <(buffers -b 1)
    ((trace == 1 << 20 && names == 5 << 20))
}

@test "a command without ticks is reported in a sentence" {
    need_ticks
    run.tprof --source=perf -c 1 -o out -- sleep 0.1 >page
    cat page
    grep -qE '^sleep:[0-9]+: ' page
    grep -q 'No tick fell on it' page || grep -qE ' %  ' page
}

@test "a hostile environment changes neither the directory of -o nor what is executed" {
    make_layout
    mkdir -p elsewhere/out out
    printf 'cpus 1\nsection mte 0\n10 name 100 program\nsection trace 0\n20 tick user 100 100 0x1000\n' |
        "$BUILD_DIR/tests/text_trace" >out/swtrace.nrm2
    echo 'touch executed' >commands
    # shellcheck disable=SC2016 # expanded by the script, if at all
    local touch='$(touch executed)'
    run -0 env CDPATH="$PWD/elsewhere" IFS='/o' GREP_OPTIONS=-v POSIXLY_CORRECT=1 ENV="$PWD/commands" PS4="$touch" \
        TIMEFORMAT="$touch" GLOBIGNORE='*' EXECIGNORE='*' layout/bin/run.tprof -p -o out --lines=0
    [ -s out/tprof.out ]
    [ -z "$(ls elsewhere/out)" ]
    [ ! -e executed ]
}

@test "root makes no temporary files where another user could replace them" {
    [ "$(id -u)" -eq 0 ] || skip "needs root and another user"
    make_public "$SOURCE_DIR"/scripts/{lib.sh,trace.sh}
    mkdir -p "$public/home/below" group own
    chmod 775 group
    guarded_in() {
        TMPDIR=$1 bash -c 'source "$1/lib.sh"; source "$1/trace.sh"; guard_run true </dev/null' _ "$public" 2>"$2"
    }
    for directory in "$public/home" "$public/home/below" group "$PWD/missing"; do
        run -0 guarded_in "$directory" said
        [[ $output == /tmp/tmp.*/run ]]
        grep -q "warning: other users can change what is in TMPDIR ($directory); /tmp is used" said
    done
    run -0 guarded_in "$PWD/own" said
    [[ $output == "$PWD/own/tmp."*/run && ! -s said ]]
    [ -z "$(find own group "$public/home" -name 'tmp.*')" ]
}

@test "--no-install installs nothing: it names the missing packages and ends" {
    [[ $SOURCE_DIR/scripts/run.tprof -ef $(readlink -f "$(type -P run.tprof)") ]] || skip "an installed run.tprof installs no packages"
    # A dpkg-query that finds no package.
    mkdir fake
    printf '#!/bin/sh\nexit 0\n' >fake/dpkg-query
    # shellcheck disable=SC2016 # expanded by the fake program
    printf '#!/bin/sh\necho called >>"$(dirname "$0")/called"; exit 1\n' >fake/apt-get
    chmod 755 fake/*
    PATH=$PWD/fake:$PATH run -125 run.tprof --no-install -- true
    [[ "$output" == *"--no-install was given"*"apt-get install g++ cmake"* ]]
    [ ! -e fake/called ]
}

@test "other users can run a tree that root built; run.tprof reports when it is outdated or not built" {
    [ "$(id -u)" -eq 0 ] || skip "needs root to become another user"
    make_public "$SOURCE_DIR/CMakeLists.txt" "$BUILD_DIR/bin/swtrace" "$BUILD_DIR/lib/libperfutil.so.0"
    mkdir -p "$public"/build/bin
    cp -R "$SOURCE_DIR/scripts" "$public"
    for program in post swtrace; do cp -L "$BUILD_DIR/bin/$program" "$public/build/bin"; done
    cp -L "$BUILD_DIR"/lib/lib{perfutil,a2n}.so.0 "$public"
    echo 'build profiler: phony' >"$public/build/build.ninja"
    (umask 077 && : >"$public/build/.lock")
    # run.tprof uses these programs to report on a trace, which is missing here.
    report() { run as_nobody "$public/scripts/run.tprof" -p -o "$public/home"; }
    report
    [ "$status" -eq 125 ]
    [[ "$output" == *"there is no $public/home/swtrace.nrm2 to report on; make one with "* && "$output" != *warning* ]]
    # The sources are newer than the build.
    printf 'rule make\n  command = false\nbuild profiler: make\n' >"$public/build/build.ninja"
    report
    [[ "$output" == *"warning: the programs in "*" are older than the sources; root can rebuild them"* ]]
    rm "$public/build/bin/post"
    report
    [ "$status" -eq 125 ]
    [[ "$output" == *"belongs to root and is not built"* ]]
    [[ "$output" != *"Permission denied"* ]]
}

@test "an option that does not exist: the one that was meant, and -- is advised only where it is missing" {
    refused() {
        local expected=$1
        shift
        run -255 run.tprof "$@"
        [ "${lines[0]}" = "run.tprof: error: $expected" ] || { echo "$output"; false; }
    }
    refused 'unknown option "--htlm"; did you mean --html?' -g --htlm -- true
    refused 'unknown option "--stric"; did you mean --strict?' --stric=1 -- true
    refused 'unknown option "-G"' -G -- true
    refused 'unknown option "-G"; write -- before the command to profile' -G true
    refused '--html takes no value' --html=foo.html -- true
    refused '-g takes tables or fp, not "tabels"; write -- before the command to profile' -g tabels -- true
    refused '-g takes tables or fp as a word of its own: -g fp' -g=fp -- true
    refused "--export is an option of post: --post='--export ...'" --export pprof -- true
    refused 'unknown option "--pid"; a process that runs is traced with -p PID' --pid 5
    refused '--stack-bytes takes a whole number from 512 to 61440, not "100"' --stack-bytes=100 -- true
    refused '--stack-bytes takes a multiple of 8, not "1001"' --stack-bytes=1001 -- true
    printf 'true\n' >rec && chmod a-x rec
    run -126 run.tprof -- ./rec
    [ "${lines[0]}" = "run.tprof: error: ./rec: may not be executed; chmod +x makes it a command" ]
}
