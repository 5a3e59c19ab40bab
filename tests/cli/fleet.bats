#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# post --fleet: where its tables are written, and what is refused; pitrace-fleet without DuckDB. long/fleet reads the tables.

bats_require_minimum_version 1.5.0

setup_file() {
    export PATH="$BUILD_DIR/bin:$BUILD_DIR/tests:$PATH" PITRACE_SOCKET=$BATS_FILE_TMPDIR/recorder
    [ "$(swtrace check --json | jq .perf_system_works)" = true ] || skip "needs perf_event_open for the whole system"
    cd "$BATS_FILE_TMPDIR" || return
    swtrace init --source perf
    swtrace enable tprof
    swtrace on
    cp "$BUILD_DIR/tests/calls" secretly
    ./secretly 1 >/dev/null
    swtrace off
    swtrace get
    swtrace free
}

setup() { cd "$BATS_TEST_TMPDIR" || return; }

trace() { echo "$BATS_FILE_TMPDIR/swtrace.nrm2"; }

files() { (cd "$1" && find . -type f | sort); }

@test "a trace is four files below folders of its day and host, and a second time the same ones" {
    post --fleet fleet "$(trace)"
    [ ! -e tprof.out ]
    files fleet >found
    day=$(date -u -r "$(trace)" +%F)
    # At midnight the trace may have begun the day before.
    grep -xE "\./records/date=($day|[-0-9]*)/host=$(uname -n)/[0-9]{19}\.parquet" found
    grep -xE "\./paths/date=($day|[-0-9]*)/host=$(uname -n)/[0-9]{19}\.parquet" found
    grep -xE "\./stacks/date=($day|[-0-9]*)/host=$(uname -n)/[0-9]{19}\.parquet" found
    grep -xE "\./frames/date=($day|[-0-9]*)/host=$(uname -n)/[0-9]{19}\.parquet" found
    [ "$(wc -l <found)" -eq 4 ]
    [ "$(sed 's/^\.\/[a-z]*//' found | sort -u | wc -l)" -eq 1 ]
    head -c 4 fleet/records/*/*/*.parquet | grep -x PAR1
    grep -aq pitrace.end fleet/records/*/*/*.parquet
    # Names may differ: traced files can vanish.
    ls -i fleet/records/*/*/* >before
    post --fleet fleet "$(trace)"
    files fleet | diff found -
    run ! diff before <(ls -i fleet/records/*/*/*)
}

@test "a name that is no folder's name is encoded, and the folder may be anywhere" {
    mkdir here && cd here
    # The name of the host is in the text of the trace's info section: one of the same length. The checksum of that text is wrong then.
    name=$(uname -n)
    strange=$(printf '%*s' ${#name} '' | sed 's/^ /./; s/ /\//g')
    LC_ALL=C sed "s|host=$name|host=$strange|" "$(trace)" >strange.nrm2
    run -3 post --fleet ../fleet strange.nrm2
    [[ $output == *"have changed since they were written"* ]]
    [ "$(ls ../fleet/records/*)" = "host=$(sed 's/\//%2F/g' <<<"$strange")" ]
    [ "$(ls)" = strange.nrm2 ]
}

@test "links, folders of other users and files in place of folders are refused" {
    mkdir -p elsewhere linked/records file
    day=$(basename "$(post --fleet first "$(trace)" && echo first/records/*)")
    ln -s "$PWD/elsewhere" "linked/records/$day"
    run -1 post --fleet linked "$(trace)"
    [[ $output == *"$day"* && -z $(ls elsewhere) ]]
    : >file/stacks
    run -1 post --fleet file "$(trace)"
    [[ $output == *"file/stacks"*"Not a directory"* ]]
    if [ "$(id -u)" -eq 0 ]; then
        mkdir theirs && chown nobody theirs
        run -1 post --fleet theirs "$(trace)"
        [[ $output == *"theirs"*"another user"* && -z $(ls theirs/stacks 2>/dev/null) ]]
    fi
}

# Everything in the files of a folder, decompressed; beside it the names of folders and files.
decoded() {
    find "$1"
    python3 - "$1" <<'END'
import glob, re, subprocess, sys
for name in glob.glob(sys.argv[1] + '/**/*.parquet', recursive=True):
    data = open(name, 'rb').read()
    sys.stdout.buffer.write(data)
    for frame in re.finditer(re.escape(bytes([0x28, 0xb5, 0x2f, 0xfd])), data):
        sys.stdout.buffer.write(subprocess.run(['zstd', '-dcq'], input=data[frame.start():], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout)
END
}

hashes() { grep -aoE 'h-[0-9a-f]{24}' | sort -u; }

@test "names that are left out or hashed are in no file" {
    head -c 32 /dev/urandom >key && chmod 600 key
    host=$(uname -n)
    post --fleet clear "$(trace)"
    decoded clear >text
    # A short name of a host can be part of another text; in the column trace it precedes a time.
    for name in secretly /secretly "\<$host [0-9]{19}" "host=$host" '\<alpha\>'; do grep -aqE -e "$name" text; done
    post --fleet hashed --hash command,path,cgroup,host,function --hash-key key "$(trace)" 2>messages
    decoded hashed >text
    run ! grep -aE 'secretly|\<alpha\>|/usr/|/lib/|[a-z0-9]\.(service|slice)'"|host=$host|\<$host [0-9]{19}" text
    hashes <text >hashed.names
    [ "$(wc -l <hashed.names)" -ge 10 ]
    # Nor is the key, in any form.
    hex=$(od -An -v -tx1 key | tr -d ' \n')
    run ! grep -aiF -e "$hex" -e "$(base64 -w 0 key)" text messages
    # The same key gives the same names, another one others. Without the host's name, too.
    cp -p key copy
    post --fleet again --hash host,function,cgroup,path,command --hash-key copy "$(trace)"
    [ "$(basename again/records/*/host=*)" = "$(basename hashed/records/*/host=*)" ]
    comm -12 hashed.names <(decoded again | hashes) >common
    [ "$(wc -l <common)" -ge 10 ]
    head -c 32 /dev/urandom >key
    post --fleet other --hash host --hash-key key "$(trace)"
    [ "$(basename other/records/*/host=*)" != "$(basename hashed/records/*/host=*)" ]
    [ -z "$(comm -12 hashed.names <(decoded other | hashes))" ]
    post --fleet left --omit command,path,cgroup,function "$(trace)"
    decoded left >text
    run ! grep -aE 'secretly|\<alpha\>|/usr/|/lib/|h-[0-9a-f]{24}' text
    grep -aqF "host=$host" text
    # Users are replaced within other names.
    post --fleet users --omit user "$(trace)"
    decoded users >text
    run ! grep -aE '/home/[a-z0-9]|user-[0-9]|user@[0-9]' text
    grep -aq /secretly text
}

@test "a key that others may read, and wrong kinds of names, are refused" {
    : >key
    for setting in 'mode 644' 'size 8'; do
        head -c 32 /dev/urandom >key && chmod 600 key
        if [[ $setting == mode* ]]; then chmod "${setting#* }" key; else truncate -s "${setting#* }" key; fi
        run -1 post --fleet fleet --hash path --hash-key key "$(trace)"
        [[ $output == *"key of --hash"* ]]
    done
    run -1 post --fleet fleet --hash path --hash-key nosuch "$(trace)"
    for wrong in '--omit host' '--omit nosuch' '--omit path --hash path --hash-key key' '--hash path' '--hash-key key'; do
        read -ra words <<<"$wrong"
        run -255 post --fleet fleet "${words[@]}" "$(trace)"
    done
    run -255 post --omit path "$(trace)"
    [ ! -e fleet ]
}

@test "calls with few ticks are [rare] in the call paths, not in the sums by function" {
    post --fleet all "$(trace)"
    post --fleet few --rare 1000000000 "$(trace)"
    decoded few/frames >text
    grep -aF '[rare]' text
    run ! grep -aE 'alpha|beta' text
    run ! grep -aF '[rare]' <(decoded all/frames)
    # Names of files differ between runs only if files vanish.
    cmp all/records/*/*/*.parquet few/records/*/*/*.parquet
    for wrong in 0 -1 x 1x ''; do run -255 post --fleet few --rare "$wrong" "$(trace)"; done
    run -255 post --rare 2 "$(trace)"
    [[ $output == *"--rare goes with --fleet"* ]]
}

@test "options that contradict --fleet are refused" {
    for other in '--export parquet' '--archive' '-showx'; do
        read -ra words <<<"$other"
        run -255 post --fleet fleet "${words[@]}" "$(trace)"
        [[ $output == *--fleet* ]]
    done
    run -255 post --fleet= "$(trace)"
    run -255 post --bucket 5 "$(trace)"
    [[ $output == *--fleet* ]]
    [ ! -e fleet ]
}

@test "pitrace-fleet reports wrong words, and how to get DuckDB" {
    export PITRACE_DUCKDB=$PWD/nosuch.so
    run -255 pitrace-fleet
    run -255 pitrace-fleet report
    run -255 pitrace-fleet nosuch fleet
    [[ $output == *"'nosuch' is no question"* ]]
    run -255 pitrace-fleet diff fleet
    [[ $output == *--at* ]]
    run -255 pitrace-fleet top --at 3d fleet
    run -255 pitrace-fleet report --where nosuch=1 fleet
    [[ $output == *"is no condition"*service* ]]
    run -255 pitrace-fleet report --since yesterday fleet
    [[ $output == *"'yesterday' is no time"* ]]
    run -255 pitrace-fleet report --since 1h --until 2h fleet
    run -255 pitrace-fleet top --by nosuch fleet
    run -255 pitrace-fleet flame --json fleet
    run -255 pitrace-fleet resolve --since 1d fleet
    run -255 pitrace-fleet top --debug-path . fleet
    run -255 pitrace-fleet compact --since 1d fleet
    run -1 pitrace-fleet report fleet
    [[ $output == *"DuckDB cannot be loaded"*"duckdb.org"*PITRACE_DUCKDB* ]]
    # A library, but not DuckDB's.
    run -1 pitrace-fleet report --engine libm.so.6 fleet
    [[ $output == *"libm.so.6 is not DuckDB's library"* ]]
}
