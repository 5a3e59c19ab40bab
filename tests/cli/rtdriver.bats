#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# rtdriver and the command server of JProf in real Java virtual machines: exact counts between commands, several JVMs,
# hostile clients and servers, other users.
# shellcheck disable=SC2030,SC2031 # each test has variables of its own

bats_require_minimum_version 1.5.0

setup() {
    # shellcheck source=tests/support/other_user.bash
    source "$SOURCE_DIR/tests/support/other_user.bash"
    PATH="$BUILD_DIR/bin:$PATH"
    agent=$BUILD_DIR/lib/libjprof.so
    peer=$BUILD_DIR/tests/rt_peer
    cd "$BATS_TEST_TMPDIR" || return
    export PITRACE_JVMS=$PWD/jvms
    unset JPROFOPTS jprofopts JAVA_TOOL_OPTIONS _JAVA_OPTIONS
    pids=() input=
}

teardown() {
    ((${#pids[@]} == 0)) || kill -9 "${pids[@]}" 2>/dev/null || true
    [ -z "${public:-}" ] || rm -rf "$public"
}

needs_agent() {
    if ! command -v java >/dev/null || [ ! -e "$agent" ]; then skip "needs a JDK"; fi
    ! readelf -d "$agent" | grep -qE 'NEEDED.*lib(a|t|ub)san' || skip "needs a build without sanitizers"
    [ -s "$BUILD_DIR/jprof/java/transformer.pack" ] || skip "needs libasm-java"
}

# wait_for TEXT FILE PID: waits until FILE contains TEXT; fails if the process ends.
wait_for() {
    local tries
    for ((tries = 0; tries < 1200; tries++)); do
        ! grep -qe "$1" "$2" || return 0
        kill -0 "$3" || return 1
        sleep 0.05
    done
    return 1
}

# phases NAME OPTIONS: starts Phases, whose process id is then in jvm, its output in NAME.out and NAME.err.
phases() {
    mkfifo "$1.in"
    java -XX:TieredStopAtLevel=1 -agentpath:"$agent=calltree$2" -cp "$BUILD_DIR/tests/java" Phases <"$1.in" >"$1.out" 2>"$1.err" &
    jvm=$!
    pids+=("$jvm")
    # The pipe stays open until a test closes this descriptor.
    exec {input}>"$1.in"
    wait_for ready "$1.out" "$jvm"
}

# work NUMBER: lets the program of the last phases make NUMBER calls.
work() {
    done=$((${done:-0} + 1))
    echo "$1" >&"$input"
    wait_for "^done $done\$" a.out "$jvm"
}

# calls LOG: how often Phases.step was called.
calls() {
    awk '$NF ~ /:Phases\.step\(I\)V$/ { n += $2 } END { print n + 0 }' "$1"
}

@test "start, stop, flush and reset: log-rt has exactly the calls between the commands" {
    needs_agent
    phases a ",metrics=raw_cycles,json,logrtdcmds"
    socket=$PITRACE_JVMS/jprof-$jvm.socket
    [ "$(stat -c %a "$PITRACE_JVMS" "$socket" | tr '\n' ' ')" = "700 600 " ]
    work 10
    run -1 rtdriver -l -c flush
    [[ $output == *"$jvm: flush: not done; nothing is recorded; START begins a recording" ]]
    run -0 rtdriver -l -c jprofinfo -c START
    [[ $output == *"calls: not recorded"*"metrics: RAW_CYCLES, calibrated"*"START: done; calls are recorded" ]]
    work 100
    rtdriver --pid "$jvm" -c flush
    work 20
    rtdriver --pid "$jvm" -c 'gc flush' -c reset
    work 7
    run -0 rtdriver --pid "$jvm" --json -c stop
    [ "$(jq -r '.done, .pid' <<<"$output" | tr '\n' ' ')" = "true $jvm " ]
    work 1000
    # Another directory; several commands at once, of which one is refused.
    mkdir Logs
    run -1 rtdriver --pid "$jvm" -c "LOGPATH=$PWD/Logs,nonsense,start"
    [[ $output == *"not done"*"'nonsense' is no command of JProf"*"calls are recorded"* ]]
    work 3
    run -1 rtdriver --pid "$jvm" -c ' logpath = Logs/missing' -c 'gc start=5' -c "logpath = $PWD/Logs"
    [[ $output == *"Logs/missing"*"write FGC,START=SEC"*"logpath = $PWD/Logs: done; the next log"* ]]
    # A log that could be written in part only is not continued by the next one.
    mkdir "Logs/log-rt.4_$jvm.json"
    run -1 rtdriver --pid "$jvm" -c stop
    [[ $output == *"its counts are kept: use FLUSH again"* ]]
    run -0 rtdriver --pid "$jvm" -c flush -c start -cx 'exit 3'
    [[ $output == *"exit 3: return code 3" ]]
    work 5
    exec {input}>&-
    wait "$jvm"
    [ "$(calls log-rt.1_"$jvm")" -eq 100 ]
    [ "$(calls log-rt.2_"$jvm")" -eq 120 ]
    [ "$(calls log-rt.3_"$jvm")" -eq 7 ]
    [ "$(calls Logs/log-rt.4_"$jvm")" -eq 3 ]
    [ "$(calls Logs/log-rt.5_"$jvm")" -eq 3 ]
    [ "$(calls Logs/log-rt.6_"$jvm")" -eq 5 ]
    [ "$(find . -name 'log-rt*' ! -name '*.json' | wc -l)" -eq 6 ]
    logrt --json Logs/log-rt.6_"$jvm".json --lines 0 | jq -e '.rows[] | select(.name == "Phases.step(I)V").calls == 5'
    # The agent's thread is in no log, and calibration happened once, before all of them.
    grep -h 'JProf_commands' log-rt* Logs/log-rt* && return 1
    for log in log-rt.?_"$jvm" Logs/log-rt.?_"$jvm"; do grep -q 'Calibration :: RAW_CYCLES: error bound' "$log"; done
    grep -q "command 'gc flush' from process" a.err
    [ ! -e "$socket" ]
}

@test "methods that are running when a recording starts are shown, and each of their exits fits" {
    needs_agent
    mkfifo a.in
    java -XX:TieredStopAtLevel=1 -agentpath:"$agent=calltree,calltrace,nometrics,nopidx,json" -cp "$BUILD_DIR/tests/java" Running <a.in >a.out 2>a.err &
    jvm=$!
    pids+=("$jvm")
    exec {input}>a.in
    wait_for ready a.out "$jvm"
    run -0 rtdriver --pid "$jvm" -c start
    # log-gen has all events, so it is neither written in between nor emptied.
    run -1 rtdriver --pid "$jvm" -c flush -c reset
    [[ $output == *"log-gen is written when the recording ends; use STOP"*"use STOP and START" ]]
    echo >&"$input"
    exec {input}>&-
    wait "$jvm"
    # LEVEL CALLS NAME, of the program's own methods; + after those that were entered before. Levels count from the first of these:
    # how many methods of the JDK call it depends on its version.
    jq -r '.threads[] | .name as $thread | [.nodes[] | select((.name // "") | startswith("Running."))] | (map(.level) | min) as $first | .[]
        | "\($thread | sub("^[^_]*_"; "")) \(.level - $first) \(.calls) \(.name | sub("^Running.(?<m>[a-z]*).*"; "\(.m)"))\(if .entered_before then "+" else "" end)"' log-rt.1.json |
        sort >found
    {
        echo 'main 0 0 main+'
        for level in 1 2 3 4 5 6; do echo "main $level 0 down+"; done
        for level in 2 3 4 5 6; do echo "main $level 1 step"; done
        echo 'main 1 1 step'
        # Thread.run() calls it through a hidden class, which is not recorded.
        echo 'other 0 0 lambda+'
        echo 'other 1 0 other+'
        for level in 2 3 4 5; do echo "other $level 0 fail+"; done
        echo 'other 2 1 step'
    } | sort >expected
    diff expected found
    [ "$(awk '$1 == "<" && $2 ~ /:Running\.(down|fail)\(/' log-gen.1 | wc -l)" -eq 10 ]
    # No exit was without an entry, and no frame ended without an exit.
    jq -e '[.threads[] | select(.name | test("_(main|other)$")) | .unwound] == [0, 0]' log-rt.1.json
}

@test "several JVMs, ports with keys, hostile clients: all JVMs answer, and their counts stay exact" {
    needs_agent
    phases b ",start,port=18900"
    other=$jvm other_input=$input
    phases a ",start,port=18900"
    run -1 rtdriver -l -c flush
    [[ $output == *"Several Java virtual machines accept commands: "*"Choose one with --pid PID, or all of them with -b."* ]]
    run -0 rtdriver -l -b --json -c query_pid
    [ "$(jq -r .text <<<"$output" | sort | tr '\n' ' ')" = "$(printf '%s\n' "$jvm" "$other" | sort | tr '\n' ' ')" ]

    # A port needs its key, and its clients choose no paths.
    port=$(rtdriver --pid "$jvm" -c jprofinfo | sed -n 's/.* and port //p')
    key=$PITRACE_JVMS/jprof-port-$port.key
    [ "$(stat -c %a "$key")" = 600 ]
    run -0 rtdriver -l -p "$port" -c query_pid
    [[ $output == *"port $port: query_pid: done; $jvm" ]]
    run -1 rtdriver -n localhost -p "$port" -c "fnm=$PWD/x" -c logpath=/tmp
    [ "$(grep -c 'only through the Unix socket' <<<"$output")" -eq 2 ]
    printf '%064d\n' 0 >wrong.key
    run -1 rtdriver -l -p "$port" --key wrong.key -c flush
    [[ $output == *"Cannot send commands to port $port: The JVM refuses the key."* ]]
    ss -Hltn "sport = :$port" 2>/dev/null | awk '{ print $4 }' >listening || true
    [ ! -s listening ] || [ "$(cat listening)" = "127.0.0.1:$port" ]

    # Clients that break the protocol, at one JVM.
    socket=$PITRACE_JVMS/jprof-$jvm.socket
    mkfifo silent
    "$peer" deaf "$socket" <>silent >deaf.out 3>&- {input}>&- {other_input}>&- &
    deaf=$!
    pids+=("$deaf")
    wait_for full deaf.out "$deaf"
    [ "$("$peer" say "$socket" query_pid)" = "$jvm" ]
    [ "$("$peer" say "$socket" nonsense)" = N ]
    [ "$("$peer" say "$socket" $'\x0e\x0f\x0e\x0e')" = N ]
    [ "$("$peer" say "$socket" $'\x0e\x0f\x0e\x0f\xff\xff\xff\xff')" = "K....N...!a message has at most 65536 bytes...." ]
    [ "$("$peer" half "$socket")" = "K....N....the message has no end...." ]
    [ "$("$peer" gigabyte "$socket")" = "cut off" ]
    [ "$("$peer" crowd "$socket" 1000)" -ge 984 ]
    work 50
    run -0 rtdriver --pid "$jvm" -c flush
    [ "$(calls log-rt.1_"$jvm")" -eq 50 ]
    # Their memory is limited: the gigabyte did not arrive.
    [ "$(awk '$1 == "VmRSS:" { print $2 }' "/proc/$jvm/status")" -lt 600000 ]

    # A socket that remained of a killed JVM disturbs nobody.
    kill -9 "$other"
    wait "$other" || true
    [ -S "$PITRACE_JVMS/jprof-$other.socket" ]
    run -1 rtdriver --pid "$other" -c flush
    [[ $output == *"Process $other has ended, or accepts no more commands."* ]]
    run -0 rtdriver -l -c shutdown -c flush
    [[ $output == *"$jvm: shutdown: done; written: "*"log-rt.2_$jvm'" ]]
    [ ! -e "$socket" ]
    [ ! -e "$key" ]
    work 4
    exec {input}>&- {other_input}>&-
    wait "$jvm"
    [ ! -s a.err ]
}

@test "the examples of the manual work" {
    needs_agent
    phases a ",port=18940"
    port=$(rtdriver --pid "$jvm" -c jprofinfo | sed -n 's/.* and port //p')
    # cli/jprof_locks runs that of the lock monitor.
    sed -n '/ jlm /d; s/^\.Dl \$ //p' "$SOURCE_DIR/docs/man/rtdriver.1" >examples
    [ "$(wc -l <examples)" -eq 4 ]
    # The recording that the second and third example write is stopped by the first one.
    rtdriver -l -c start
    while read -r example; do
        example=${example//4711/$jvm} example=${example//--pid 4712/} example=${example//8888/$port}
        bash -euc "${example/stop 10/stop 1 -c start}" <<<'query_pid'
    done <examples >out
    grep -q "stop: done; written: " out
    grep -q "gc flush: done; written: " out
    grep -q "^date: return code 0\|[0-9] date: return code 0" out
    grep -q "query_pid: done; $jvm" out
    grep -q "port $port: jprofinfo: done" out
    exec {input}>&-
}

@test "another user is refused, even if the socket accepts the connection; root may send commands to any user's JVM" {
    needs_agent
    [ "$(id -u)" -eq 0 ] || skip "needs root to become another user"
    make_public "$BUILD_DIR/bin/rtdriver" "$peer" "$agent" "$BUILD_DIR/tests/java/Phases.class"
    unset PITRACE_JVMS
    # The JVM belongs to nobody; nobody's directory is found by root without further options.
    mkfifo a.in
    as_nobody env -u XDG_RUNTIME_DIR PITRACE_JVMS="$public/home/jvms" java -XX:TieredStopAtLevel=1 -agentpath:"$public/libjprof.so=calltree,start" \
        -cp "$public" Phases <a.in >a.out 2>a.err &
    pids+=($!)
    exec {input}>a.in
    wait_for ready a.out $!
    socket=$(echo "$public"/home/jvms/jprof-*.socket)
    jvm=${socket##*/jprof-} jvm=${jvm%.socket}
    pids+=("$jvm")
    run -0 env PITRACE_JVMS="$public/home/jvms" rtdriver -l -c query_pid
    [[ $output == *"$jvm: query_pid: done; $jvm" ]]
    chmod 755 "$public/home" "$public/home/jvms"
    chmod 666 "$socket"
    as_daemon() { setpriv --reuid 1 --regid 1 --clear-groups env LD_LIBRARY_PATH="$public" PITRACE_JVMS="$public/home/jvms" "$@"; }
    run -0 as_daemon "$public/rt_peer" say "$socket" query_pid
    [ "$output" = N ]
    run -1 as_daemon "$public/rtdriver" -l -c query_pid
    [[ $output == *"No Java virtual machine accepts commands."* ]]
    # rtdriver does not use a directory that another user may change.
    run -1 env PITRACE_JVMS="$public/home/jvms" rtdriver -l -c query_pid
    [[ $output == *"No Java virtual machine accepts commands."* ]]
    exec {input}>&-
}

@test "a socket that cannot be created is reported, and the JVM continues; NOSERVER makes none" {
    needs_agent
    mkdir -m 755 "$PITRACE_JVMS"
    java -agentpath:"$agent=calltree,start,port=18920" -cp "$BUILD_DIR/tests/java" Phases <<<5 >out 2>err
    grep -q "^done 1" out
    grep -q "^JProf: '$PITRACE_JVMS' is not a private directory of this user.*No commands of rtdriver are accepted; the JVM continues" err
    [ "$(calls log-rt.1_*)" -eq 5 ]
    rm -r "$PITRACE_JVMS" log-*
    java -agentpath:"$agent=calltree,start,noserver" -cp "$BUILD_DIR/tests/java" Phases <<<6 >out 2>err
    [ ! -s err ]
    [ "$(calls log-rt.1_*)" -eq 6 ]
    [ ! -e "$PITRACE_JVMS" ]
}

@test "answers of a hostile server cannot steer the terminal, and have limits" {
    mkdir -m 700 "$PITRACE_JVMS"
    for kind in steer huge end; do
        rm -f "$PITRACE_JVMS"/*
        "$peer" serve "$PITRACE_JVMS/jprof-77.socket" "$kind" &
        until [ -S "$PITRACE_JVMS/jprof-77.socket" ]; do sleep 0.05; done
        sleep 0.1
        run rtdriver --pid 77 -c "x"$'\x1b'"[2J"
        case $kind in
        steer)
            [ "$status" -eq 0 ]
            [[ $output == *'77: x\x1b[2J: done'$'\n''  a\x1b[2J\x0db\x9b1m'$'\n''  c' ]]
            ;;
        huge)
            [ "$status" -eq 1 ]
            [[ $output == *"The answer of the JVM has another form than that of JProf."* ]]
            ;;
        end)
            [ "$status" -eq 1 ]
            [[ $output == *"The JVM has closed the connection."* ]]
            ;;
        esac
        wait $!
    done
    # A socket of a dead process, a file, and another name.
    : >"$PITRACE_JVMS/jprof-78.socket"
    : >"$PITRACE_JVMS/jprof-x.socket"
    run -1 rtdriver -l -c flush
    [[ $output == *"No Java virtual machine accepts commands."* ]]
    # The key is a regular file, not a link.
    ln -s /etc/passwd "$PITRACE_JVMS/jprof-port-8888.key"
    run -1 rtdriver -l -p 8888 -c flush
    [[ $output == *"Cannot read the key"* ]]
}

@test "wrong use exits 255 and reports the error; --help goes to standard output" {
    for words in '' '-l -a 127.0.0.1' '-l -l' '-l -p 0' '-l -p 65536' '-l -p x' '-l -p 8888 -b' '--pid 0' '--pid x' '--pid 1 -p 8888' \
        '--pid 1 -l' '-a 10.0.0.1' '-a localhost' '-l --key x' '-l -c' '-l -c 1x' '-l -c flush 1x' '-l -c flush 86401' \
        '-l -cx' '-l -c flush -ta' '-l flush' '--xml'; do
        # shellcheck disable=SC2086
        run rtdriver $words
        [ "$status" -eq 255 ] || { echo "$words: $status: $output"; false; }
        [[ "$output" == *"rtdriver: error: "* ]]
    done
    run rtdriver -a 10.0.0.1 -c flush
    [[ $output == *"'10.0.0.1' is not this machine"*"ssh 10.0.0.1 rtdriver -l"* ]]
    many=()
    for _ in {1..65}; do many+=(-c flush); done
    run -255 rtdriver -l "${many[@]}"
    for word in --help '-?' '-??'; do
        run --separate-stderr -0 rtdriver "$word"
        [[ "$output" == "Usage: rtdriver "* ]]
    done
}
