#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# pitrace-push: what it sends, and stores that are away, busy, hostile, or not whom they claim to be.

bats_require_minimum_version 1.5.0

setup() {
    PATH="$BUILD_DIR/bin:$PATH"
    command -v node >/dev/null || skip "needs node"
    cd "$BATS_TEST_TMPDIR" || return
    mkdir -m 700 files store
    server=''
}

teardown() { stop; }

stop() {
    [[ -n $server ]] || return 0
    kill -KILL "$server" 2>/dev/null || true
    wait "$server" 2>/dev/null || true
    server=''
}

start() { # start PLAN [KEY CERTIFICATE]: sets port
    node "$SOURCE_DIR/tests/support/profile_store.mjs" store "$@" >node.log 2>&1 3>&- &
    server=$!
    for ((i = 0; i < 200; i++)); do
        if [[ -s store/port ]]; then
            port=$(<store/port)
            return
        fi
        sleep 0.05
    done
    cat node.log
    return 1
}

put() { # put NAME TEXT: a file that waits to be sent
    printf '%s' "$2" | gzip -n >"files/$1"
}

otlp() { pitrace-push "$@" "http://127.0.0.1:$port/v1development/profiles" files; }

requests() { find store -name '*.body' | wc -l; }
waiting() { find files -type f | wc -l; }

@test "files are sent, the oldest first, as OTLP over HTTP, and removed" {
    start 200
    put 2.otlp.gz second
    put 1.otlp.gz first
    put other.pb.gz other
    cp files/1.otlp.gz one
    # What is for this host does not pass a proxy.
    http_proxy=http://127.0.0.1:1 run -0 otlp
    [ "${lines[0]}" = "sent 1.otlp.gz $(stat -c %s one)" ]
    [ "${#lines[@]}" -eq 2 ]
    cmp one store/0.body
    [ "$(zcat <store/1.body)" = second ]
    [ "$(ls files)" = other.pb.gz ]
    jq -e '.method == "POST" and .url == "/v1development/profiles" and .headers["content-type"] == "application/x-protobuf"
        and .headers["content-encoding"] == "gzip" and .headers["otlp-profiles-development-version"] == "1" and .headers.expect == null' store/0.json
    # Nothing is left to do.
    run -0 otlp
    [ -z "$output" ]
}

@test "a store that is busy is asked again, later and later, and no sooner than it says" {
    start 503,429:2,200
    put 1.otlp.gz first
    put 2.otlp.gz second
    run -0 otlp --for 60
    [ "$(requests)" -eq 4 ]
    awk '{ since[NR] = $1 - last; last = $1 } END { exit !(since[2] >= 450 && since[3] >= 1900) }' store/times
}

@test "of a store that is away nothing is lost" {
    put 1.otlp.gz first
    run -1 pitrace-push --for 0 http://127.0.0.1:1/ files
    [[ $output == *"1 file waits for the next time"* ]]
    [ "$(waiting)" -eq 1 ]
    start close
    run -1 otlp --for 2
    [ "$(requests)" -ge 2 ]
    [ "$(waiting)" -eq 1 ]
}

@test "what a store refuses is removed, and reported; other files go on" {
    start 400,500,413,200
    for i in 1 2 3 4; do put "$i.otlp.gz" "$i"; done
    run -1 otlp
    [ "$(grep -c '^refused' <<<"$output")" -eq 3 ]
    [[ $output == *"1.otlp.gz is refused and removed: the store answered 400"* && $output == *"sent 4.otlp.gz"* ]]
    [ "$(waiting)" -eq 0 ]
}

@test "a store that takes nothing as things are gets nothing more, and nothing is lost" {
    for code in 401 403 404 301; do
        rm -f store/*
        start "$code"
        put 1.otlp.gz first
        put 2.otlp.gz second
        run -1 otlp
        [[ $output == *"the store answered $code; 2 files wait"* ]]
        [ "$(requests)" -eq 1 ]
        [ "$(waiting)" -eq 2 ]
        stop
    done
}

@test "files that are no profiles are not sent" {
    start 200
    echo junk >files/1.otlp.gz
    put 2.otlp.gz whole
    truncate -s -4 files/2.otlp.gz
    head -c 70000000 /dev/zero | gzip -1 >files/3.otlp.gz
    ln -s /etc/passwd files/4.otlp.gz
    mkfifo files/5.otlp.gz
    put 6.otlp.gz good
    run -1 timeout 20 pitrace-push "http://127.0.0.1:$port/" files
    [ "$(grep -c '^refused' <<<"$output")" -eq 3 ]
    [[ $output == *"3.otlp.gz is refused and removed: it has more than 64 MB"* ]]
    [ "$(requests)" -eq 1 ]
    [ "$(zcat <store/0.body)" = good ]
}

@test "answers without end, or that never come, cost no memory and little time" {
    # Two answers above the limits of bytes, of which that with a status counts, one that is none, and one that takes too long.
    start endless,heads,junk,hang
    put 1.otlp.gz first
    put 2.otlp.gz second
    put 3.otlp.gz third
    run -1 timeout 60 bash -c "ulimit -v 400000; pitrace-push --for 8 --timeout 2 http://127.0.0.1:$port/ files"
    [[ $output == *"sent 1.otlp.gz"*"2.otlp.gz: the store took it, but its answer is not one of OTLP"* ]]
    [ "$(requests)" -ge 4 ]
    # What the kernel's buffers hold.
    (($(<store/endless) < 100000000))
    [ "$(waiting)" -eq 1 ]
}

record() { # record PROGRAM...: a trace of the system while they run
    export PITRACE_SOCKET=$PWD/recorder
    swtrace init --source perf
    swtrace enable tprof
    swtrace stacks both
    swtrace on
    for program in "$@"; do "$program" 1 >/dev/null; done
    swtrace off
    swtrace get
    swtrace free
}

@test "names that are left out or hashed do not reach a store" {
    [ "$(swtrace check --json | jq .perf_system_works)" = true ] || skip "needs perf_event_open for the whole system"
    head -c 32 /dev/urandom >key && chmod 600 key
    mkdir secretfolder
    cp "$BUILD_DIR/tests/calls" secretfolder/secretly
    # Its functions have no symbols: they are named after the file.
    strip -o secretfolder/secretstripped secretfolder/secretly
    record ./secretfolder/secretly ./secretfolder/secretstripped
    host=$(uname -n)
    start 200
    hidden=command,path,user,cgroup,function
    first=0
    for privacy in '' "--omit $hidden" "--hash $hidden,host --hash-key key"; do
        # shellcheck disable=SC2086 # words
        post --fleet fleet --export otlp --export pprof $privacy -o out swtrace.nrm2
        cp out/tprof.*.gz files/
        run -0 otlp
        label=()
        if [[ $privacy == --hash* ]]; then label=(--hash-key key); fi
        run -0 pitrace-push --to pyroscope "${label[@]}" "http://127.0.0.1:$port" files
        for sent in $first $((first + 1)); do
            { zcat <"store/$sent.body" && jq -r .url "store/$sent.json"; } >both
            tr '\n' ' ' <both >text
            if [[ -z $privacy ]]; then
                for name in secretly secretfolder '[^a-z]alpha[^a-z]' "host(%3D|\.name.{0,6})$host"; do LC_ALL=C grep -aqE -e "$name" text; done
                continue
            fi
            LC_ALL=C run ! grep -aoE 'secret|[^a-z]alpha[^a-z]|/usr/|/lib/|\.so\>|\.(service|slice)' text
            [[ $privacy == --hash* ]] || continue
            LC_ALL=C run ! grep -aoE "host(%3D|\.name.{0,6})$host" text
            [ "$(grep -aoE 'h-[0-9a-f]{24}' text | sort -u | wc -l)" -ge 10 ]
            # The same hashes as in the tables.
            hashed=$(basename "$(find fleet/records -name 'host=h-*')")
            grep -aqF "${hashed#host=}" text
        done
        first=$((first + 2))
    done
    run -255 post --export chrome --export otlp --omit path swtrace.nrm2
    [[ $output == *"--export chrome keeps all names"* ]]
    run -255 post --omit path swtrace.nrm2
}

@test "what a collector says about a part that it rejected is reported, without control characters" {
    start partial
    put 1.otlp.gz first
    run -0 otlp
    [[ $output == *"1.otlp.gz: the store took it, but it rejected 2 profiles: too old"* ]]
}

@test "above the limit of the folder the oldest are removed, and reported" {
    for i in 1 2 3; do head -c 700000 /dev/urandom | gzip -1 >"files/$i.otlp.gz"; done
    run -1 pitrace-push --for 0 --limit 1 http://127.0.0.1:1/ files
    [ "$(grep -c '^removed' <<<"$output")" -eq 2 ]
    [[ $output == *"more than 1 MB (--limit): removed the 2 oldest files"* ]]
    [ "$(ls files)" = 3.otlp.gz ]
}

certificate() { # certificate NAME HOST: a key and a certificate by the authority ca
    openssl req -newkey rsa:2048 -nodes -keyout "$1.key" -out "$1.csr" -subj "/CN=$2" -addext "subjectAltName=$2" 2>/dev/null
    openssl x509 -req -in "$1.csr" -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -copy_extensions copy -out "$1.pem" 2>/dev/null
}

@test "with https the store must have a certificate for its name from an authority that is trusted" {
    command -v openssl >/dev/null || skip "needs openssl"
    for ca in ca other; do openssl req -x509 -newkey rsa:2048 -nodes -keyout $ca.key -out $ca.pem -days 2 -subj /CN=$ca 2>/dev/null; done
    certificate good IP:127.0.0.1
    certificate wrong DNS:store.example
    printf '%s\n' '# for the store' 'Authorization: Bearer a-secret' >token
    chmod 600 token
    put 1.otlp.gz first
    start 200 good.key good.pem
    # The system does not trust it, nor does another authority.
    for options in '' '--ca other.pem'; do
        # shellcheck disable=SC2086 # words
        run -1 pitrace-push $options --headers token "https://127.0.0.1:$port/" files
        [[ $output == *certificate* && $output == *"1 file waits"* ]]
        [ "$(requests)" -eq 0 ]
    done
    run -0 pitrace-push --ca ca.pem --headers token "https://127.0.0.1:$port/" files
    [ "$(jq -r .headers.authorization store/0.json)" = "Bearer a-secret" ]
    [[ $output != *a-secret* ]]
    stop
    # A certificate for another name.
    rm store/*
    start 200 wrong.key wrong.pem
    put 2.otlp.gz second
    run -1 pitrace-push --ca ca.pem "https://127.0.0.1:$port/" files
    [ "$(requests)" -eq 0 ]
    [ "$(waiting)" -eq 1 ]
}

@test "credentials are read from a file of the user alone, and sent in the clear to this host only" {
    echo 'Authorization: Bearer a-secret' >token
    put 1.otlp.gz first
    chmod 644 token
    run -1 pitrace-push --headers token https://store.example/ files
    [[ $output == *"other users may read it"* ]]
    chmod 600 token
    run -255 pitrace-push --headers token http://store.example/ files
    [[ $output == *"need an https address"* ]]
    run -255 pitrace-push https://me:secret@store.example/ files
    [[ $output == *"put credentials in a file"* && $output != *secret* ]]
    for line in 'a secret word' ': none' $'A: b\x01' 'A b: c'; do
        echo "$line" >token
        run -1 pitrace-push --headers token https://store.example/ files
        [[ $output == *"line 1 of --headers is no header"* && $output != *"$line"* ]]
    done
    for words in "ftp://store.example/ files" "file:///etc/passwd files" "files" "https://store.example/ files more" "--to nosuch https://store.example/ files" \
        "--timeout 0 https://store.example/ files" "--limit x https://store.example/ files" "--cert token https://store.example/ files"; do
        # shellcheck disable=SC2086 # words
        run -255 pitrace-push $words
    done
    mkdir -m 777 open
    run -1 pitrace-push https://store.example/ open
    [[ $output == *"other users can write to it"* ]]
    exec 9<files
    flock 9
    run -1 pitrace-push https://store.example/ files
    [[ $output == *"another pitrace-push is sending its files"* ]]
}

@test "the process that sends has no rights of the super-user" {
    [ "$(id -u)" -eq 0 ] || skip "needs root"
    start hang
    put 1.otlp.gz first
    pitrace-push --for 0 --timeout 5 "http://127.0.0.1:$port/" files >log 2>&1 3>&- &
    pusher=$!
    for ((i = 0; i < 100; i++)); do
        if [[ -e store/times ]]; then break; fi
        sleep 0.05
    done
    child=$(pgrep -P "$pusher")
    grep -E '^(Uid|CapEff|CapBnd|NoNewPrivs)' "/proc/$child/status"
    awk '/^Uid/ && ($2 == 0 || $3 == 0 || $4 == 0) { exit 1 } /^CapEff/ && $2 !~ /^0+$/ { exit 1 } /^NoNewPrivs/ && $2 != 1 { exit 1 }' "/proc/$child/status"
    # It ends with the one that started it.
    kill -KILL "$pusher"
    for ((i = 0; i < 100; i++)); do
        if ! kill -0 "$child" 2>/dev/null; then return; fi
        sleep 0.05
    done
    return 1
}
