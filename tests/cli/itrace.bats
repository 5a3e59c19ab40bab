#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# ITrace from the command line without the module, by ptrace: swtrace it_*, run.itrace.

bats_require_minimum_version 1.5.0

setup() {
    PATH="$BUILD_DIR/bin:$PATH"
    export PITRACE_SOCKET="$BATS_TEST_TMPDIR/recorder"
    flow="$BUILD_DIR/tests/flow"
    cd "$BATS_TEST_TMPDIR" || return
}

teardown() {
    [ -z "${hanging-}" ] || kill -KILL "$hanging" 2>/dev/null || true
    swtrace free >/dev/null 2>&1 || true
}

needs_perf() {
    [ "$(swtrace check --json | jq .perf_system_works)" = true ] ||
        skip "needs perf_event_open for the whole system"
}

init_perf() {
    swtrace init --source perf >/dev/null
}

# run.itrace in the layout of an installation, with the programs of this build: in the source tree it would build its own.
installed() {
    mkdir -p layout/bin layout/share/pitrace
    cp "$SOURCE_DIR/scripts/run.itrace" layout/bin/
    cp "$SOURCE_DIR/scripts/lib.sh" "$SOURCE_DIR/scripts/trace.sh" "$SOURCE_DIR/scripts/java.sh" \
        layout/share/pitrace/
    ln -s "$BUILD_DIR/bin/swtrace" "$BUILD_DIR/bin/post" layout/bin/
    PATH="$PWD/layout/bin:$PATH"
}

# Starts tests/hangs MODE as process $hanging, which waits for the bytes that are written to descriptor 9.
start_hanging() {
    mkfifo input
    "$BUILD_DIR/tests/hangs" "$1" <input >ready 3>&- &
    hanging=$!
    exec 9>input
    until [ -s ready ]; do
        kill -0 "$hanging" || skip "needs the right to use userfaultfd"
        sleep 0.05
    done
}

# Its state, and "-1" where it waits outside of system calls.
hangs_in() {
    [ "$(cut -d ' ' -f 3 "/proc/$hanging/stat") $(cut -d ' ' -f 1 "/proc/$hanging/syscall")" = "$1" ]
}

# Its second byte ends its waiting: it must still exit with its own status.
end_hanging() {
    grep -qx 'TracerPid:[[:space:]]*0' "/proc/$hanging/status"
    printf b >&9
    local status=0
    wait "$hanging" || status=$?
    hanging=
    [ "$status" -eq 7 ]
}

in_time() {
    timeout 5 swtrace "$@" >/dev/null
}

@test "every command has a help that exits 0, and is in the short help and in the manual" {
    for command in it_install it_enable it_on it_run it_off it_remove it_info; do
        run -0 swtrace "$command" --help
        [[ "$output" == "Usage: swtrace $command"* ]]
        swtrace help | grep -q "^  $command "
        grep -q "^\.It Cm $command" "$SOURCE_DIR/docs/man/swtrace.1" || { echo "$command"; false; }
    done
    # The classic second name of it_install.
    run -0 swtrace itinit --help
}

@test "every option of it_install and run.itrace is in the manual" {
    for option in i user kernel cont ss c p children threads reserve; do
        swtrace it_install --help | grep -qE -- "^  --?${option} " || { echo "help: $option"; false; }
        grep -qE "^\.(It|Op) Fl $option\b" "$SOURCE_DIR/docs/man/swtrace.1" || { echo "$option"; false; }
    done
    for option in c i user kernel -children cont t n o p -source -lines -post; do
        run.itrace --help | grep -qE -- "^  -${option}[ =]" || { echo "help: $option"; false; }
        grep -qE "^\.It Fl $option\b" "$SOURCE_DIR/docs/man/run.itrace.1" || { echo "$option"; false; }
    done
}

@test "wrong use exits 255 and reports the error" {
    for words in 'it_install -p x' 'it_install -p 0' 'it_install -p 5-3' 'it_install -p 1,,2' 'it_install -p -' \
        'it_install -user -kernel' 'it_install -threads 0' 'it_install -threads 65537' 'it_install -c x' \
        'it_install -reserve 0' 'it_install 17' 'it_enable' 'it_enable x' 'it_on now' 'it_off 1' 'it_remove -f' \
        'it_info 1' 'it_run' 'it_run --' 'it_run ls'; do
        # shellcheck disable=SC2086
        run swtrace $words
        [ "$status" -eq 255 ] || { echo "$words: $status"; false; }
        [[ "$output" == *"swtrace: error: "* ]]
    done
}

@test "without a recorder each command exits 1 and names swtrace init" {
    for words in it_install 'it_enable 1' it_on it_off it_remove it_info; do
        # shellcheck disable=SC2086
        run -1 swtrace $words
        [[ "$output" == *"swtrace init"* ]]
    done
}

@test "ITrace must be installed before it is turned on; removing it without that is a warning" {
    needs_perf
    init_perf
    run -0 swtrace it_remove
    [[ "$output" == "swtrace: warning: ITrace is not installed"* ]]
    swtrace on
    run -1 swtrace it_on
    [[ "$output" == *"it_install"* ]]
    run -1 swtrace it_enable 1
    run -0 swtrace it_info
    [[ "$output" == *"not installed"* ]]
    swtrace it_install
    run -1 swtrace it_install
    [[ "$output" == *"installed already"* ]]
    run -1 swtrace it_on
    [[ "$output" == *"No process has been enabled"* ]]
    swtrace it_remove
}

@test "without the module, requests that ptrace cannot serve are refused, and -c warns that it does nothing" {
    needs_perf
    init_perf
    local advice
    if [ -e /proc/modules ]; then advice="Load it with 'sudo "; else advice="no loadable modules"; fi
    for words in '-kernel' '-p all' '-p 100-' '-p 1-2' "-p $(swtrace info --json | jq .trace.recorder)"; do
        # shellcheck disable=SC2086
        run -1 swtrace it_install $words
        [[ "$output" == *"ptrace"*"$advice"* ]] || { echo "$words"; false; }
    done
    # A refused request changes nothing.
    [ "$(swtrace it_info --json | jq .installed)" = false ]
    run -0 swtrace it_install -c 50
    [[ "$output" == "swtrace: warning: -c does nothing"* ]]
    [ "$(swtrace maj | grep -cE ' 0x(20|21|28|29|2b|2c|2e|2f)$')" -eq 8 ]
}

@test "a program that turns ITrace on itself gets an error that names the module" {
    [ ! -e /dev/pitrace ] || skip "the module is loaded"
    run -1 "$BUILD_DIR/examples/example_itrace_c"
    [[ "$output" == *"module is not loaded"*"run.itrace"* ]]
}

@test "it_run follows a command from its first instruction, step by step" {
    needs_perf
    init_perf
    swtrace it_install -i
    swtrace on
    printf l | swtrace it_run -- "$flow"
    swtrace it_off
    swtrace off
    swtrace get flow.nrm2
    # 5 instructions up to and including the read, 3 to the loop, 2001 in it, 3 at the end; the last one is not stepped.
    # it_run's own steps before the exec come first.
    [ "$(swtrace it_info --json | jq .steps)" -ge 2011 ]
    post -r flow.nrm2 -arc -o . >/dev/null
    [ "$(awk '$7 ~ /\/flow$/ { sum += $4 } END { print sum }' arc)" -eq $((5 + 3 + 2001 + 3)) ]
    post -r flow.nrm2 -showx -o . >/dev/null
    [ -s post.show ]
}

@test "it_run returns the exit status of the command" {
    needs_perf
    init_perf
    swtrace it_install
    swtrace on
    # shellcheck disable=SC2016
    run -1 env --ignore-signal=USR1 bash -c 'printf b | swtrace it_run -- "$0"' "$flow"
    swtrace it_off
    run -127 swtrace it_run -- ./no-such-command
    [ "$(swtrace it_info --json | jq .on)" = false ]
}

@test "it_run passes the recorder's socket to the command only if the caller's environment had it" {
    needs_perf
    init_perf
    swtrace it_install
    swtrace on
    socket=$PITRACE_SOCKET
    run -0 env -u PITRACE_SOCKET "$BUILD_DIR/bin/swtrace" it_run -socket "$socket" -- "$BUILD_DIR/tests/environment"
    swtrace it_off
    [[ "$output" == *PATH=* && "$output" != *PITRACE_SOCKET* ]]
}

@test "it_run permits the recorder that uses ptrace, and no other process, to trace the command" {
    needs_perf
    type -P strace >/dev/null || skip "needs strace"
    init_perf
    swtrace it_install
    swtrace on
    # The recorder cannot attach, since strace is attached already.
    run strace -o calls -e trace=prctl swtrace it_run -- true
    grep -q "PR_SET_PTRACER, $(swtrace info --json | jq .trace.recorder)[,)]" calls
    run ! grep -q PR_SET_PTRACER_ANY calls
}

@test "a process that waits in vfork delays neither it_on, info, it_off nor free" {
    needs_perf
    init_perf
    start_hanging vfork
    printf a >&9
    until hangs_in 'D 58'; do sleep 0.05; done
    swtrace it_install
    swtrace on
    swtrace it_enable "$hanging"
    in_time it_on
    in_time info
    in_time it_info
    run -1 timeout 5 swtrace it_off
    [[ "$output" == *"1 followed thread (thread $hanging of process $hanging) did not stop within two seconds"* ]]
    [[ "$output" != *SIGTRAP* ]]
    # Reports have this as a note.
    swtrace info | grep -q "thread $hanging of process $hanging"
    in_time it_on
    in_time free
    end_hanging
}

@test "a process that is followed into vfork keeps no trap flag when it_off gives it up" {
    needs_perf
    init_perf
    start_hanging vfork
    swtrace it_install
    swtrace on
    swtrace it_enable "$hanging"
    swtrace it_on
    printf a >&9
    until hangs_in 'D 58'; do sleep 0.05; done
    run -1 timeout 5 swtrace it_off
    [[ "$output" == *"did not stop within two seconds"* && "$output" != *SIGTRAP* ]]
    end_hanging
}

@test "a followed thread that waits in a page fault delays neither info, it_off nor free" {
    needs_perf
    init_perf
    start_hanging fault
    swtrace it_install
    swtrace on
    swtrace it_enable "$hanging"
    for last in it_off free; do
        swtrace it_on
        [ "$last" = free ] || printf a >&9
        until hangs_in 'S -1'; do sleep 0.05; done
        in_time info
        in_time it_info
        in_time "$last"
    done
    end_hanging
}

@test "it_off does not wait for a main thread that ended before the other threads" {
    needs_perf
    init_perf
    start_hanging main
    swtrace it_install
    swtrace on
    swtrace it_enable "$hanging"
    swtrace it_on
    printf a >&9
    until [ "$(cut -d ' ' -f 3 "/proc/$hanging/stat")" = Z ]; do sleep 0.05; done
    in_time it_off
    end_hanging
}

@test "run.itrace: wrong use exits 255, reports the error, and leaves nothing behind" {
    for words in '-x -- true' '-user -kernel -- true' '-t x -- true' '-n -- true' '-p 0' '-p 1 -- true' '--source=x -- true' '--' ''; do
        # shellcheck disable=SC2086
        run run.itrace $words </dev/null
        [ "$status" -eq 255 ] || { echo "$words: $status"; false; }
        [[ "$output" == *"run.itrace: error: "* ]]
    done
    run -127 run.itrace -- ./no-such-command
    [ -z "$(ls -A)" ]
}

@test "run.itrace writes the arc and the trace, prints the arc's first lines, and returns the command's exit status" {
    needs_perf
    installed
    unset PITRACE_SOCKET
    printf l >letter
    # A sanitized tool executes more instructions before the command's first one; --lines must cover them.
    run -0 run.itrace --source=perf -i -c --lines=5000 -o out -- "$flow" <letter
    [[ "$output" == *"user code only, by ptrace"*"_start"*"report: $PWD/out/arc"* ]]
    [ -s out/swtrace.nrm2 ]
    # The loop, and the instructions before and after it.
    [ "$(awk '$7 ~ /\/flow$/ { sum += $4 } END { print sum }' out/arc)" -eq $((5 + 3 + 2001 + 3)) ]
    printf '?' >letter
    run -99 run.itrace --source=perf -o out -- "$flow" <letter
    [ -s out/arc.old ]
    [ -s out/swtrace.nrm2.old ]
    run -125 bash -c 'run.itrace --source=perf -o out -- true >/dev/full'
    [[ $output == *"error: the report is complete in $PWD/out, but cannot be printed: "*"No space left"* ]]
}

# bats test_tags=long
@test "the instruction count of each function equals callgrind's" {
    needs_perf
    type -P valgrind callgrind_annotate >/dev/null || skip "needs valgrind"
    # shellcheck source=tests/support/against_callgrind.bash
    source "$SOURCE_DIR/tests/support/against_callgrind.bash"
    installed
    unset PITRACE_SOCKET
    local program=$BUILD_DIR/tests/algorithms
    count_by_callgrind counted "$program" sort 100
    run.itrace --source=perf -i -c -cont -t 0 -n 0 -o out -- "$program" sort 100
    arcf -F out/arc -r 2 >functions
    diff <(only_of_source <counted) <(own_functions "$program" functions | only_of_source)
    [ "$(only_of_source <counted | wc -l)" -eq 7 ]
}

@test "run.itrace reports the limit that ended the trace; the command runs to its end" {
    needs_perf
    installed
    unset PITRACE_SOCKET
    # The command runs until run.itrace has printed that the limit is reached, but not for ever.
    status=0
    # shellcheck disable=SC2016
    run.itrace --source=perf -n 300 -o out -- bash -c 'for i in {1..300}; do ! grep -q "limit reached" said || exit 7; sleep 0.1; done' >said 2>&1 ||
        status=$?
    [ "$status" -eq 7 ]
    output=$(<said)
    [[ "$output" == *"limit reached: "*"branches (-n 300). Tracing is off,"*"; a larger -n, or -n 0 for no limit, records more"* ]]
    [[ "$output" == *"ended by a limit: "*"branches (-n 300)"* ]]
    # shellcheck disable=SC2016
    run -0 --separate-stderr run.itrace --source=perf -cont -n 0 -t 1 -o out -- bash -c 'while ((SECONDS < 3)); do :; done; echo end >&2'
    # The limit is on stderr, before the command ends.
    # shellcheck disable=SC2154 # run sets it
    [[ "$stderr" == *"limit reached: 1 seconds (-t 1). Tracing is off,"*"; a larger -t, or -t 0 for no limit, records more"*end* ]]
    [[ "$stderr" == *"ended by a limit: 1 seconds (-t 1)"* ]]
}

@test "run.itrace: the examples of help and manual are the same" {
    run -0 run.itrace --help
    examples=$(sed -n 's/^  \(run\.itrace .*\)/\1/p' <<<"$output")
    [ "$examples" = "$(sed -n 's/^\.Dl //p' "$SOURCE_DIR/docs/man/run.itrace.1")" ]
    # Each is complete: a command has -- before it.
    while read -r example; do
        [[ "$example" == *" -- "* || "$example" == *" -p "* ]] || { echo "$example"; false; }
    done <<<"$examples"
    run -255 run.itrace --help=no
    run -255 run.itrace ls /
    [[ "$output" == *"\"ls\" is not an option; write -- before a command: run.itrace -- ls"* ]]
}

@test "without the module run.itrace refuses options that need it, and existing files stay" {
    needs_perf
    installed
    unset PITRACE_SOCKET
    mkdir out
    echo earlier | tee out/arc >out/swtrace.nrm2
    for options in -kernel '-kernel -cont'; do
        # shellcheck disable=SC2086
        run -125 run.itrace --source=perf $options -o out -- true
        [[ "$output" == *"cannot trace kernel code"* ]]
        [ "$(cd out && echo *)" = 'arc swtrace.nrm2' ]
        [ "$(cat out/arc out/swtrace.nrm2)" = earlier$'\n'earlier ]
    done
}

@test "run.itrace renames existing files when the new ones are written" {
    needs_perf
    installed
    unset PITRACE_SOCKET
    for options in '' -cont; do
        rm -rf out && mkdir out
        echo earlier | tee out/arc >out/swtrace.nrm2
        # shellcheck disable=SC2086
        run -0 run.itrace --source=perf $options -n 300 -o out -- cat out/arc
        # While the command runs, the file has its name; a message may precede its text.
        [[ $'\n'"$output" == *$'\n'earlier$'\n'* ]]
        [ "$(cat out/arc.old out/swtrace.nrm2.old)" = earlier$'\n'earlier ]
        run ! grep -q earlier out/arc
    done
}

@test "run.itrace: options for post may be repeated, and quotes keep blanks" {
    needs_perf
    installed
    unset PITRACE_SOCKET
    run -255 run.itrace --post="-sympath 'x" -- true
    [[ "$output" == *"--post has an unterminated quote: "* ]]
    mkdir 'my dir'
    run -0 run.itrace --source=perf -n 300 --post=-ss --post="-sympath '$PWD/my dir'" -o out -- true
    # -ss adds instructions.
    [ "$(wc -l <out/arc)" -gt "$(grep -c '@' out/arc)" ]
}
