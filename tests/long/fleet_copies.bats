#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# pitrace-fleet on folders as copies from two hosts make them: one name twice, files that are missing or not complete; and on narrow
# terminals. With DuckDB's library from npm.

bats_require_minimum_version 1.5.0

# host NUMBER: records five seconds as run.fleet does, as a host of its own name.
host() {
    mkdir "host$1" && cd "host$1" || return
    export PITRACE_SOCKET=$BATS_FILE_TMPDIR/recorder$1
    swtrace init --source perf
    swtrace enable tprof
    swtrace stacks both
    swtrace on
    sleep 5
    swtrace off
    swtrace get
    swtrace free
    post --fleet "../fleet$1" swtrace.nrm2
}

setup_file() {
    command -v npm >/dev/null || skip "needs npm (scripts/install-deps long)"
    [ "$(id -u)" -eq 0 ] || skip "needs root to trace the system"
    export PATH="$BUILD_DIR/bin:$PATH"
    cd "$BATS_FILE_TMPDIR" || return
    if [[ -z ${PITRACE_DUCKDB-} ]]; then
        cp -r "$SOURCE_DIR/tests/long/export" readers
        (cd readers && npm ci --ignore-scripts --no-audit --no-fund)
        export PITRACE_DUCKDB=$BATS_FILE_TMPDIR/readers/node_modules/@duckdb/node-bindings-linux-x64/libduckdb.so
    fi
    # Three at the same time, of which two have one name.
    for i in 1 2 3; do
        # shellcheck disable=SC2016 # expanded by the host
        BATS_FILE_TMPDIR=$BATS_FILE_TMPDIR unshare --uts --net bash -ec "$(declare -f host)"'; hostname "web$((1 + $1 / 3))"; host "$1"' host "$i" 3>&- &
    done
    wait
    mkdir fleet && cp -r fleet1/. fleet3/. fleet/
}

setup() { cd "$BATS_FILE_TMPDIR" || return; }

ticks() { pitrace-fleet top --json "$1" 2>/dev/null | jq .ticks; }

@test "two machines with one name are noticed, also in sums by day" {
    pitrace-fleet report fleet >/dev/null 2>messages
    run ! grep 'traces of the same time' messages
    [ "$(pitrace-fleet report --json fleet | jq .hosts)" -eq 2 ]
    cp -r fleet twins && cp -r fleet2/. twins/
    [ "$(ticks twins)" -eq $(($(ticks fleet) + $(ticks fleet2))) ]
    for words in report top flame "diff --a host=web1 --b host=web2"; do
        # shellcheck disable=SC2086 # words
        pitrace-fleet $words twins >/dev/null 2>messages
        grep 'web1 has traces of the same time.*two machines' messages
    done
    # Only where they are selected.
    pitrace-fleet top --where host=web2 twins >/dev/null 2>messages
    run ! grep 'traces of the same time' messages
    for table in records paths stacks frames; do mv "twins/$table/date="* "twins/$table/date=2026-01-02"; done
    pitrace-fleet compact twins 2>messages
    grep 'web1 has traces of the same time' messages
    rm -r twins/records
    pitrace-fleet report twins >/dev/null 2>messages
    grep 'web1 has traces of the same time' messages
}

@test "ticks whose call paths have not been copied are reported" {
    cp -r fleet partly
    pitrace-fleet flame partly 2>&1 >/dev/null | { run ! grep 'left out'; }
    rm partly/stacks/*/host=web2/*.parquet
    missing=$(ticks fleet3) all=$(ticks fleet)
    pitrace-fleet flame partly 2>&1 >/dev/null | grep -F "$missing of $all ticks are left out"
    pitrace-fleet report --html partly.html partly 2>&1 | grep -F "$missing of $all ticks are left out"
}

@test "files that are not complete are named, each table's" {
    for table in records paths stacks frames; do
        rm -rf cut && cp -r fleet cut
        file=$(echo cut/$table/*/host=web1/*.parquet)
        truncate -s -100 "$file"
        run -1 pitrace-fleet flame cut
        [[ $output == *"1 file is not complete"*"$file"*"Copy it again"* ]]
        truncate -s 0 "$file"
        run -1 pitrace-fleet flame cut
        [[ $output == *"1 file is not complete"*"$file"* ]]
        cp "fleet1/${file#cut/}" "$file"
        pitrace-fleet flame cut >/dev/null
    done
}

@test "tables in the folder of another host are counted and named" {
    cp -r fleet moved
    # The first host's tables again, as those of a third one.
    for table in records paths stacks frames; do cp -r moved/$table/*/host=web1 "$(echo moved/$table/date=*)/host=web3"; done
    for words in report top "diff --a host=web1"; do
        # shellcheck disable=SC2086 # words
        pitrace-fleet $words moved >/dev/null 2>messages
        grep -E "A table is not where post has written it: moved/records/date=[-0-9]*/host=web3/[0-9]*.parquet was date=[-0-9]*/host=web1/[0-9]*.parquet" messages
    done
    run -1 pitrace-fleet flame moved
    [[ $output == *"two stacks have one number"* ]]
    for words in report flame; do
        pitrace-fleet $words fleet 2>&1 >/dev/null | { run ! grep 'not where'; }
    done
}

# flip FILE: changes a bit in what a page contains, behind the eight bytes with which a frame of zstd begins. The next frame begins within
# 45 bytes from the end of this one: its page has a header. A column of equal values has shorter frames.
flip() {
    python3 - "$1" <<'END'
import random, re, sys
data = bytearray(open(sys.argv[1], 'rb').read())
frames = [frame.start() for frame in re.finditer(re.escape(bytes([0x28, 0xb5, 0x2f, 0xfd])), data)]
places = [at for begin, end in zip(frames, frames[1:]) for at in range(begin + 8, end - 45)]
assert places
data[random.choice(places)] ^= 1 << random.randrange(8)
open(sys.argv[1], 'wb').write(data)
END
}

@test "a changed bit in what a table contains changes no answer silently, and its file is named" {
    rm -rf changed && cp -r fleet changed
    for table in records paths; do
        words=report
        [[ $table == records ]] || words=flame
        pitrace-fleet $words --lines 0 fleet >expected 2>/dev/null
        file=$(echo changed/$table/*/host=web1/*.parquet)
        cp "$file" intact
        found=0
        for ((i = 0; i < 50; ++i)); do
            cp intact "$file"
            flip "$file"
            run pitrace-fleet $words --lines 0 changed
            if [[ $status -eq 0 ]]; then
                # In a column that is not read.
                diff expected <(pitrace-fleet $words --lines 0 changed 2>/dev/null)
            else
                [[ $status -eq 1 && $output == *"$file"* ]] || { echo "$output" && false; }
                found=$((found + 1))
            fi
        done
        echo "$table: $found of 50 found"
        [ "$found" -ge 10 ]
        cp intact "$file"
    done
}

# sql TEXT: runs it by DuckDB's library.
sql() {
    python3 - "$PITRACE_DUCKDB" "$1" <<'END'
import ctypes, sys
duckdb, database, connection = ctypes.CDLL(sys.argv[1]), ctypes.c_void_p(), ctypes.c_void_p()
assert duckdb.duckdb_open(None, ctypes.byref(database)) == 0 and duckdb.duckdb_connect(database, ctypes.byref(connection)) == 0
sys.exit(duckdb.duckdb_query(connection, sys.argv[2].encode(), None))
END
}

@test "a table with a negative number of ticks is refused and named" {
    for table in records paths; do
        rm -rf negative && cp -r fleet negative
        file=$(echo negative/$table/*/host=web2/*.parquet)
        sql "COPY (SELECT * REPLACE (-count AS count) FROM read_parquet('$file', hive_partitioning = false)) TO 'other.parquet' (KV_METADATA {'pitrace.schema': '$table 3.0'})"
        mv other.parquet "$file"
        run -1 pitrace-fleet flame negative
        [[ $output == *"number of ticks"* && $output == *"$file"* ]]
    done
}

# For sums by day: a day that is over.
past() { # past FOLDER
    cp -r fleet "$1"
    for table in records paths stacks frames; do mv "$1/$table/date="* "$1/$table/date=2026-01-02"; done
}

@test "compact refuses and warns as questions do, and keeps the sums of removed tables beside late ones" {
    past compacted
    file=$(echo compacted/records/*/host=web2/*.parquet)
    cp "$file" good
    LC_ALL=C sed 's/records 3\.0/records 2.0/' good >"$file"
    run -1 pitrace-fleet compact compacted
    [[ $output == *"has the schema 'records 2.0'"* ]]
    sql "COPY (SELECT * REPLACE (-count AS count) FROM read_parquet('good', hive_partitioning = false)) TO 'other.parquet' (KV_METADATA {'pitrace.schema': 'records 3.0'})"
    cp other.parquet "$file"
    run -1 pitrace-fleet compact compacted
    [[ $output == *"negative number"* ]]
    cp good "$file"
    run -0 pitrace-fleet compact compacted
    [[ $output == *"not where post has written"* ]]
    all=$(ticks compacted)
    # The sums of a table that is removed stay, also when another one comes.
    rm compacted/records/*/host=web1/*
    [ "$(ticks compacted)" -eq "$all" ]
    cp fleet2/records/*/host=web1/*.parquet compacted/records/date=2026-01-02/host=web1/
    for i in 1 2; do
        pitrace-fleet top --json compacted 2>messages | jq -e ".ticks == $all"
        grep 'of 1 days of hosts tables were removed after' messages
        pitrace-fleet compact compacted 2>messages
        grep 'of 1 days of hosts tables were removed after' messages
    done
    # Sums of another version.
    rm compacted/records/*/host=web1/*
    LC_ALL=C sed -i 's/days 1\.0/days 9.0/' compacted/days/*/host=web1/day.parquet
    pitrace-fleet top compacted 2>&1 >/dev/null | grep '1 days of hosts are left out'
    # A name that no post writes.
    past strange
    pitrace-fleet compact strange
    rm strange/records/*/host=web1/*
    mv strange/records/date=2026-01-02/host=web2 'strange/records/date=2026-01-02/host=a[b'
    pitrace-fleet top strange 2>&1 >/dev/null | grep 'days of hosts are left out'
}

@test "a copied table of call paths is reported" {
    cp -r fleet paths
    file=$(echo paths/paths/*/host=web1/*.parquet)
    cp "$file" "${file%/*}/1.parquet"
    for words in flame "report --html paths.html"; do
        # shellcheck disable=SC2086 # words
        pitrace-fleet $words paths 2>&1 >/dev/null | grep 'a table of paths is there twice'
    done
}

@test "an empty folder, and words in the wrong places, are reported" {
    mkdir -p empty/records/date=2026-01-02/host=web1 nothing
    run -1 pitrace-fleet report nosuch
    [[ $output == *"there is no folder nosuch"* ]]
    run -1 pitrace-fleet report nothing
    [[ $output == *"nothing is no folder of post --fleet"* ]]
    run -1 pitrace-fleet report empty
    [[ $output == *"empty/records has no table"* ]]
    run -1 pitrace-fleet flame empty
    # Where the limit of a disk has removed all tables of a day.
    cp -r fleet gaps && mkdir -p gaps/records/date=2020-01-01 gaps/records/date=2020-01-02/host=web1
    [ "$(ticks gaps)" -eq "$(ticks fleet)" ]
    run -0 pitrace-fleet compact empty
    run -255 pitrace-fleet fleet report
    [[ $output == *"'fleet' is no question"* ]]
    run -255 pitrace-fleet report fleet fleet2
    run -1 pitrace-fleet report --where host=nosuch fleet
    [[ $output == *"no tick is selected"* ]]
}

@test "a folder with a control character in its name is named" {
    cp -r fleet renamed
    host=$(find renamed/records -name 'host=*' | head -n 1)
    cp -r "$host" "${host%/*}/host=a"$'\n'b
    run -1 pitrace-fleet report renamed
    [[ $output == *"host=a\x0ab"*"has a control character"* && $output != *damaged* ]]
}

@test "a folder below NAME=VALUE, too little memory and many stars" {
    mkdir -p service=shop && ln -sfn "$PWD/fleet" service=shop/fleet
    run -1 pitrace-fleet top --by service "$PWD/service=shop/fleet"
    [[ $output == *"has a =: for DuckDB such a part is a column"* ]]
    (cd service=shop && [ "$(ticks fleet)" -eq "$(ticks ../fleet)" ])
    run -1 pitrace-fleet top --memory 1MB fleet
    [[ $output == *"needs more memory"* && $output != *damaged* ]]
    run -1 timeout 20 pitrace-fleet top --where "host=*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*b" fleet
    [[ $output == *"no tick is selected"* ]]
}

@test "hosts whose names mean none are hosts" {
    count=0
    for name in null __HIVE_DEFAULT_PARTITION__; do
        count=$((count + 1))
        BATS_FILE_TMPDIR=$BATS_FILE_TMPDIR unshare --uts --net bash -ec "echo $name >/proc/sys/kernel/hostname; mkdir none-$count; cd none-$count; export PITRACE_SOCKET=\$PWD/recorder
            swtrace init --source perf; swtrace enable tprof; swtrace on; sleep 1; swtrace off; swtrace get; swtrace free; post --fleet ../none swtrace.nrm2"
    done
    [ "$(pitrace-fleet top --json --by host none | jq -c '[.by.host[].name] | sort')" = '["__HIVE_DEFAULT_PARTITION__","null"]' ]
    [ "$(pitrace-fleet top --json --where host=null none | jq .hosts)" -eq 1 ]
}

@test "compact follows no link of another user" {
    cp -r fleet linked
    day=$(cd linked/records && find . -name 'host=*' | sort | head -n 1)
    # A day that is over.
    for table in records paths stacks frames; do mv "linked/$table/${day%/*}" "linked/$table/date=2026-01-02"; done
    day=date=2026-01-02/${day##*/}
    echo precious >victim
    mkdir -p "linked/days/$day"
    for name in day.unfinished tmp_day.unfinished; do ln -s "$PWD/victim" "linked/days/$day/$name"; done
    run -0 pitrace-fleet compact linked
    [ "$(cat victim)" = precious ]
    [[ -f linked/days/$day/day.parquet && ! -L linked/days/$day/day.parquet ]]
    rm -r linked/days && ln -s "$PWD" linked/days
    run -1 pitrace-fleet compact linked
    [[ $output == *"cannot use linked/days"* ]]
    rm linked/days
}

@test "a signal that ends a question leaves no private folder" {
    mkdir -p private
    for signal in TERM HUP; do
        # The pipe that it prints to is not read.
        mkfifo "to$signal"
        TMPDIR=$PWD/private pitrace-fleet flame fleet >"to$signal" 3>&- &
        question=$!
        exec 4<"to$signal"
        until [[ -n $(ls private) ]] || ! kill -0 "$question"; do :; done
        kill "-$signal" "$question"
        wait "$question" || true
        exec 4<&-
        [[ -z $(ls private) ]]
    done
}

@test "tables of another kind, copies under other names and folders that cannot be read are reported" {
    cp -r fleet foreign
    # It has the columns that this question needs.
    cp fleet/paths/*/host=web1/*.parquet "$(echo foreign/records/*/host=web1)/zz.parquet"
    run -1 pitrace-fleet top --by host foreign
    [[ $output == *"/zz.parquet has the schema 'paths 3.0', not 'records 3.x'"* ]]
    rm foreign/records/*/host=web1/zz.parquet
    cp fleet/records/*/host=web1/*.parquet "$(echo foreign/records/*/host=web1)/it's
again.parquet"
    pitrace-fleet top foreign 2>&1 >/dev/null | grep 'web1 has traces of the same time.*copied under another name'
    rm foreign/records/*/host=web1/it*
    chmod 000 foreign/records/*/host=web1
    chmod 755 . foreign
    if setpriv --reuid 65534 --clear-groups test -x "$BATS_FILE_TMPDIR/foreign/records" -a -r "$PITRACE_DUCKDB"; then
        run -1 setpriv --reuid 65534 --clear-groups --inh-caps=-all "$(command -v pitrace-fleet)" top "$BATS_FILE_TMPDIR/foreign"
        [[ $output == *"cannot read"*"host=web1: Permission denied"* ]]
    fi
    chmod 755 foreign/records/*/host=web1
    mv foreign $'for\neign'
    run -1 pitrace-fleet top $'for\neign'
    [[ $output == *"control character"* ]]
}

@test "call paths whose function is [rare] are missing where functions are selected, and said to be" {
    mkdir rare
    for i in 1 3; do post --fleet rare --rare 1000000 "host$i/swtrace.nrm2"; done
    pitrace-fleet flame rare 2>&1 >/dev/null | { run ! grep 'left out'; }
    pitrace-fleet flame --where 'module=vmlinux' rare 2>&1 >/dev/null | grep -F 'their function is [rare] (post --rare)'
}

@test "answers fit into a narrow terminal" {
    # Four columns of numbers and a name of eight are 44.
    for width in 40 44 60; do
        for words in report "top --by module" "diff --a host=web1 --b host=web2"; do
            [[ $width -ge 44 || $words != diff* ]] || continue
            COLUMNS=$width script -qec "pitrace-fleet $words fleet 2>/dev/null" /dev/null | sed 's/\r//g' >narrow
            grep -E '^ (A|Hosts)  ' narrow
            awk -v width=$width 'length($0) > width { print; wide = 1 } END { exit wide }' narrow
        done
    done
    # Not in a file.
    COLUMNS=60 pitrace-fleet report --lines 0 fleet | awk 'length($0) > 60' | grep -q .
}
