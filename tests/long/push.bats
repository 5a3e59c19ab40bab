#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Profiles on their way into stores: what arrives at a test store by TLS, decoded by protoc and by go tool pprof, is what post reports;
# and run.fleet sends each trace, also after the store was away.

bats_require_minimum_version 1.5.0

setup_file() {
    for program in node protoc openssl; do command -v $program >/dev/null || skip "needs $program (scripts/install-deps long)"; done
    export PATH="$BUILD_DIR/bin:$BUILD_DIR/tests:$PATH" PITRACE_SOCKET=$BATS_FILE_TMPDIR/recorder
    [ "$(swtrace check --json | jq .perf_system_works)" = true ] || skip "needs perf_event_open for the whole system"
    cd "$BATS_FILE_TMPDIR" || return
    swtrace init --source perf
    swtrace enable tprof
    swtrace setrate 1000
    swtrace stacks both
    swtrace on
    program='call;s "x"'
    cp "$BUILD_DIR/tests/calls" "$program"
    "./$program" 1 >/dev/null
    swtrace off
    swtrace get
    swtrace free
    post --export otlp --export pprof --clip 0 --json -folded -pnm
    openssl req -x509 -newkey rsa:2048 -nodes -keyout key.pem -out ca.pem -days 2 -subj /CN=ca -addext subjectAltName=IP:127.0.0.1 2>/dev/null
}

setup() {
    cd "$BATS_FILE_TMPDIR" || return
    server='' fleet=''
    rm -rf store
    mkdir -m 700 store
    mkdir -p -m 700 files
}

teardown() {
    for pid in $server $fleet; do
        kill -KILL "$pid" 2>/dev/null || true
        wait "$pid" 2>/dev/null || true
    done
    PITRACE_SOCKET=$BATS_TEST_TMPDIR/spool/recorder swtrace free >/dev/null 2>&1 || true
}

start() { # start PLAN [KEY CERTIFICATE]: sets port
    node "$SOURCE_DIR/tests/support/profile_store.mjs" store "$@" >node.log 2>&1 3>&- &
    server=$!
    for ((i = 0; i < 600; i++)); do
        if [[ -s store/port ]]; then
            port=$(<store/port)
            return
        fi
        sleep 0.05
    done
    return 1
}

decode() { zcat | protoc -I "$SOURCE_DIR/tests/long/export" --decode=otlp.Request otlp.proto; }
shown() { node "$SOURCE_DIR/tests/long/export/otlp.mjs" "$@"; }

@test "OTLP: each process's stacks have the ticks of post's own reports" {
    start 200 key.pem ca.pem
    cp tprof.otlp.gz files/1.otlp.gz
    pitrace-push --ca ca.pem "https://127.0.0.1:$port/v1development/profiles" files
    cmp tprof.otlp.gz store/0.body
    decode <store/0.body >decoded
    # Nothing but the known fields.
    run ! grep -nE '^ *[0-9]+[:{ ]' decoded
    shown <decoded | awk '{ ticks = $NF; sub(/ [0-9]+$/, ""); sum[$0] += ticks } END { for (stack in sum) print stack, sum[stack] }' | sort >stacks
    [ "$(awk '{ sum += $NF } END { print sum }' stacks)" -eq "$(jq .ticks tprof.json)" ]
    # A process's name has no character that is a separator in the folded form.
    sed 's/^call;s "x"/call\\x3bs "x"/' stacks | sort | diff - <(sort tprof.folded)
    grep -c ';beta;' stacks
    # By services: all of them together, on this host.
    shown --services <decoded >services
    [ "$(awk '{ sum += $NF } END { print sum }' services)" -eq "$(jq .ticks tprof.json)" ]
    [ "$(awk '{ print $(NF - 1) }' services | sort -u)" = "$(hostname)" ]
    # The time of day, to within the seconds that the trace has.
    begin=$(awk '$1 == "time_unix_nano:" { print $2; exit }' decoded)
    now=$(date +%s)
    ((begin / 1000000000 <= now && begin / 1000000000 > now - 600))
    # The ids of the profiles are not those of other services, and are the same the next time.
    [ "$(grep -c '^ *profile_id:' decoded)" -eq "$(grep '^ *profile_id:' decoded | sort -u | wc -l)" ]
    mkdir -p again
    post --export otlp -o again
    decode <again/tprof.otlp.gz | grep '^ *profile_id:' | diff - <(grep '^ *profile_id:' decoded)
}

@test "OTLP: the receiver of OpenTelemetry's collector reads each tick" {
    # GOPATH: another folder with the packages.
    export GOPATH=${GOPATH-/usr/share/gocode} GO111MODULE=off
    [ -d "$GOPATH/src/go.opentelemetry.io/collector/receiver/otlpreceiver" ] || skip "needs golang-opentelemetry-collector-dev of Debian's unstable release"
    go build -o receiver "$SOURCE_DIR/tests/long/export/otlp_receiver.go"
    local at=$((20000 + $$ % 10000))
    ./receiver $at >received 2>receiver.log 3>&- &
    server=$!
    cp tprof.otlp.gz files/1.otlp.gz
    pitrace-push --for 60 "http://127.0.0.1:$at/v1development/profiles" files
    cat receiver.log
    [ "$(awk '{ print $4 }' received)" -eq "$(jq .ticks tprof.json)" ]
}

@test "pprof: what Pyroscope and Parca get is the file that go tool pprof reads, with its time" {
    command -v go >/dev/null || skip "needs go (scripts/install-deps long)"
    start 200
    for to in pyroscope parca; do
        cp tprof.pb.gz files/1.pb.gz
        pitrace-push --to $to --host web1 "http://127.0.0.1:$port" files
    done
    cmp tprof.pb.gz store/0.body
    jq -r '.series[0].samples[0].rawProfile' store/1.body | base64 -d | cmp - tprof.pb.gz
    go tool pprof -sample_index=ticks -raw store/0.body >raw
    # The begin of the profile is that of the request.
    from=$(jq -r .url store/0.json | sed -E 's/.*from=([0-9]+).*/\1/')
    now=$(date +%s)
    ((from <= now && from > now - 600))
    [ "$(date -d "$(sed -n 's/^Time: //p' raw | sed 's/ [A-Z]*$//')" +%s)" -eq "$from" ]
    [ "$(go tool pprof -sample_index=ticks -top -nodecount=100000 -nodefraction=0 store/0.body 2>/dev/null | awk 'NR > 5 { sum += $1 } END { print sum }')" -eq \
        "$(jq .ticks tprof.json)" ]
}

value() { sed -n "s/^$1=//p" "$BATS_TEST_TMPDIR/spool/status" 2>/dev/null; }

until_value() { # until_value NAME LEAST
    for ((i = 0; i < 1200; i++)); do
        if (($(value "$1") + 0 >= $2)); then return; fi
        sleep 0.1
    done
    cat "$BATS_TEST_TMPDIR/spool/status" log
    return 1
}

@test "run.fleet sends each trace, after SIGKILL and a store that was away, too" {
    start 503,503,200 key.pem ca.pem
    echo 'Authorization: Bearer a-secret' >token
    chmod 600 token
    settings="push=https://127.0.0.1:$port/v1development/profiles"
    printf '%s\n' "folder=$BATS_TEST_TMPDIR/fleet" "spool=$BATS_TEST_TMPDIR/spool" source=perf cpu_percent=1000 seconds=3 "$settings" \
        "push_ca=$PWD/ca.pem" "push_headers=$PWD/token" >settings
    run.fleet --config settings >log 2>&1 3>&- &
    fleet=$!
    until_value pushed 1
    # Its pusher ends with it, and another one goes on.
    pusher=$(pgrep -P "$fleet" pitrace-push)
    kill -KILL "$fleet"
    for ((i = 0; i < 100; i++)); do if ! kill -0 "$pusher" 2>/dev/null; then break; fi; sleep 0.1; done
    run ! kill -0 "$pusher"
    rm "$BATS_TEST_TMPDIR/spool/status"
    run.fleet --config settings >>log 2>&1 3>&- &
    fleet=$!
    # The files of the last one come within a minute.
    before=$(find store -name '*.body' | wc -l)
    until_value pushed 2
    kill -TERM "$fleet"
    wait "$fleet"
    fleet=''
    [ "$(value push_refused)" -eq 0 ]
    [ "$(find store -name '*.body' | wc -l)" -gt "$before" ]
    [ "$(jq -r .headers.authorization store/0.json)" = "Bearer a-secret" ]
    run ! grep a-secret log "$BATS_TEST_TMPDIR/spool/status"
    # What has arrived are whole profiles of this host.
    for file in store/*.body; do decode <"$file" | shown --services | awk '{ sum += $NF } END { exit !sum }'; done
}
