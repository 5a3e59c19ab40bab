#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Fifty hosts, which are namespaces of processes, networks, mounts and names, each recorded by its own run.fleet: some are killed or lose
# power, one has a full disk, one a clock an hour off, one is slow. The fleet's sums are those of each host's own reports, what was
# planted in a build is found, and nothing where nothing was planted; on DuckDB and on Dask, of which one worker is killed.

bats_require_minimum_version 1.5.0

hosts=50
share_of_beta=20 # percent, in the builds of the first half
planted=$(awk 'BEGIN { print 100 * 40 / 120 - 20 }') # points: 40 of 120 parts instead of 20 of 100

# Runs in a host of its own: host NUMBER. Its folder is host$1; the programs of pitrace are those of the folder programs.
host() {
    set -euo pipefail
    hostname "node$1"
    ip link set lo up 2>/dev/null || true
    cd "host$1"
    disk=$PWD/disk program=$PWD/../build$((1 + ($1 > hosts / 2)))/shop
    mkdir -p disk own
    if (($1 == 6)); then mount -t tmpfs -o size=64m none disk; fi
    printf '%s\n' "folder=$disk/fleet" "spool=$disk/spool" source=perf cpu_percent=1000 seconds=6 rate=499 >settings
    clock=()
    # Not the program faketime, which would get the signals in place of run.fleet.
    if (($1 == 7)); then clock=(env LD_PRELOAD="$(echo /usr/lib/*/faketime/libfaketime.so.1)" FAKETIME=+1h FAKETIME_DONT_FAKE_MONOTONIC=1); fi
    start() {
        fleet=''
        for ((i = 0; i < 3000; i++)); do
            # While a trace is being added, the one that was killed before still has the lock.
            if [[ -z $fleet ]] || ! kill -0 "$fleet" 2>/dev/null; then
                "${clock[@]}" ../programs/run.fleet --config settings >>log 2>&1 &
                fleet=$!
            fi
            if grep -qs '^state=recording' "$disk/spool/status"; then return; fi
            sleep 0.2
        done
        return 1
    }
    until_says() { # until_says REGEX: run.fleet's status has such a line
        for ((i = 0; i < 3000; i++)); do
            if grep -qsEx "$1" "$disk/spool/status"; then return; fi
            sleep 0.2
        done
        return 1
    }
    # The program is at the same path on all hosts.
    mount --bind "$program" /usr/local/bin/pitrace-shop
    work() { "${slow[@]}" /usr/local/bin/pitrace-shop "$1"; }
    slow=()
    if (($1 == 8)); then slow=(nice -n 19); fi
    start
    case $1 in
        1 | 2 | 3) # run.fleet is killed, and started again
            work 1
            kill -KILL "$fleet"
            wait "$fleet" || true
            # What it had started may still write.
            sleep 5
            rm -f "$disk/spool/status"
            start
            work 1
            ;;
        4 | 5) # everything ends at once
            work 2
            if [[ ! -e before ]]; then
                touch before
                # The first process of the namespace ends last.
                kill -KILL -1
                exit
            fi
            ;;
        6) # the disk is full for a while
            work 0.5
            until_says 'added=[1-9][0-9]*'
            cat /dev/zero >"$disk/filler" 2>/dev/null || true
            work 1
            sleep 7
            rm "$disk/filler"
            rm -f "$disk/spool/status"
            until_says state=recording
            work 1
            ;;
        8) work 0.5 ;;
        *) work 3 ;;
    esac
    kill -TERM "$fleet"
    wait "$fleet" || true
    cp "$disk/spool/status" .
    if (($1 == 6)); then cp -r disk/fleet fleet; else mv disk/fleet fleet; fi
}

boot() { # boot NUMBER: what a power failure leaves is there
    unshare --uts --pid --net --mount --fork --mount-proc bash -c "hosts=$hosts; $(declare -f host); host $1" 3>&- || true
}

setup_file() {
    command -v npm >/dev/null || skip "needs npm (scripts/install-deps long)"
    [ "$(id -u)" -eq 0 ] || skip "needs root to trace the system, and for namespaces"
    command -v faketime >/dev/null || skip "needs faketime (scripts/install-deps long)"
    export PATH="$BUILD_DIR/bin:$PATH"
    cd "$BATS_FILE_TMPDIR" || return
    if [[ -z ${PITRACE_DUCKDB-} ]]; then
        cp -r "$SOURCE_DIR/tests/long/export" readers
        (cd readers && npm ci --ignore-scripts --no-audit --no-fund)
        export PITRACE_DUCKDB=$BATS_FILE_TMPDIR/readers/node_modules/@duckdb/node-bindings-linux-x64/libduckdb.so
    fi
    mkdir build1 build2 programs
    gcc -O1 -g -fno-omit-frame-pointer -Wl,--build-id -o build1/shop "$SOURCE_DIR/tests/progs/calls.c"
    sed 's/BURN(20 \* UNIT)/BURN(40 * UNIT)/' "$SOURCE_DIR/tests/progs/calls.c" >changed.c
    gcc -O1 -g -fno-omit-frame-pointer -I "$SOURCE_DIR/tests/progs" -Wl,--build-id -o build2/shop changed.c
    # run.fleet with a post that also writes the host's own report of each trace that was added, before that: the end of everything
    # can come in between.
    cp "$SOURCE_DIR"/scripts/{run.fleet,lib.sh,trace.sh} programs/
    for name in swtrace pitrace-push; do ln -s "$BUILD_DIR/bin/$name" "programs/$name"; done
    cat >programs/post <<END
#!/bin/bash
# The arguments end with -r TRACE.
status=0
trace=\${*: -1}
"$BUILD_DIR/bin/post" --clip 0 -pnm -o own --json="\$(basename "\$trace").new" -r "\$trace" >/dev/null || true
"$BUILD_DIR/bin/post" "\$@" || status=\$?
if ((status == 0 || status == 3)); then mv "own/\$(basename "\$trace").new" "own/\$(basename "\$trace").json"; fi
exit \$status
END
    chmod 755 programs/post
    # What the hosts mount their programs on.
    touch /usr/local/bin/pitrace-shop
    for ((i = 1; i <= hosts; i++)); do mkdir -p "host$i"; done
    for ((i = 1; i <= hosts; i++)); do
        boot $i &
        # Ten at once.
        if ((i >= 10)); then wait -n; fi
    done
    wait
    # After the power failure.
    boot 5
    mkdir fleet
    # Of the host that did not come back, what was on its disk.
    mv host4/disk/fleet host4/fleet 2>/dev/null || true
    for ((i = 1; i <= hosts; i++)); do if [[ -d host$i/fleet ]]; then cp -r "host$i/fleet/." fleet; fi; done
}

teardown_file() { rm -f /usr/local/bin/pitrace-shop; }

setup() { cd "$BATS_FILE_TMPDIR" || return; }

value() { sed -n "s/^$2=//p" "host$1/status"; }

@test "totals over the fleet are the sums of each host's own reports" {
    pitrace-fleet report --json fleet >report.json
    [ "$(jq .hosts report.json)" -ge $((hosts - 1)) ]
    jq -r '.by.host[] | "\(.name) \(.ticks)"' report.json | sort >by_host
    for ((i = 1; i <= hosts; i++)); do
        if compgen -G "host$i/own/*.json" >/dev/null; then echo "node$i $(jq -s 'map(.ticks) | add' host"$i"/own/*.json)"; fi
    done | grep -v ' 0$' | sort | diff by_host -
    # Each symbol of the program.
    jq -r '.reports[] | select(.title == "Module_Symbol") | .rows[] | select(.name == "/usr/local/bin/pitrace-shop") | .children[] | [.name, .ticks] | @tsv' host*/own/*.json |
        awk -F '\t' '$1 !~ /^<</ && $1 != "NoSymbols" { sum[$1] += $2 } END { for (name in sum) print name, sum[name] }' | sort >own
    pitrace-fleet top --json --where module=pitrace-shop fleet | jq -r '.by.function[] | select(.name != "") | "\(.name) \(.ticks)"' | sort | diff own -
    [ "$(awk '$1 == "beta"' own | wc -l)" -eq 1 ]
}

@test "hosts that were killed, lost power, or had a full disk lose the open trace at most, and say so" {
    for i in 1 2 3 5; do
        [ "$(value $i state)" = ended ]
        (($(value $i added) >= 1))
    done
    grep -q '^state=ended' host6/status
    # What it recorded after the disk was full is there.
    (($(value 6 added) >= 2))
    # The program ran before that and afterwards, with as many ticks as the other hosts left it.
    [ "$(jq -s '[.[] | select([.. | .name? // "" | strings | startswith("pitrace-shop")] | any)] | length' host6/own/*.json)" -ge 2 ]
    pitrace-fleet top --json --by process --where host=node6 fleet | jq -e '.by.process[] | select(.name == "pitrace-shop").ticks > 0'
    # No other host lost a trace, and each has added some.
    for ((i = 9; i <= hosts; i++)); do [ "$(value $i failed) $(value $i partial)" = "0 0" ] && (($(value $i added) >= 1)); done
}

@test "the clock of a host that is an hour off is that of its rows" {
    end=$(date -u -d '+30 min' '+%F %T')
    [ "$(pitrace-fleet top --json --by host --since "$end" fleet | jq -r '.by.host | map(.name) | join(" ")')" = node7 ]
    [ "$(pitrace-fleet top --json --until "$end" fleet | jq .hosts)" -ge $((hosts - 2)) ]
}

@test "what was planted in a build is found, with its share within a point" {
    for i in 1 2; do readelf -n build$i/shop | sed -n 's/.*Build ID: //p' >id$i; done
    pitrace-fleet diff --json --where module=pitrace-shop --a "build=$(cat id1)" --b "build=$(cat id2)" fleet >diff.json
    jq -c '[.a, .b, (.function[] | select(.name == "beta"))]' diff.json
    jq -e --argjson planted "$planted" '.function[] | select(.name == "beta") | .verdict == "more" and (.change - $planted | -1 < . and . < 1)' diff.json
    jq -e --argjson share $share_of_beta '(.a.ticks) as $all | .function[] | select(.name == "beta") | 100 * .a / $all - $share | -1 < . and . < 1' diff.json
    jq -e --arg one "$(cat id1)" --arg two "$(cat id2)" '.builds | map(.version) | contains([$one, $two])' diff.json
}

@test "where nothing was planted, at most 5 % of 100 comparisons find something" {
    # Twelve hosts of one build against twelve others, chosen by chance; 12 of 100 are more than 5 % give by chance once in 300 times.
    found=0
    for ((run = 0; run < 100; run++)); do
        mapfile -t names < <(seq 9 $((hosts / 2)) | shuf --random-source=<(yes $run) | sed 's/^/host=node/')
        half=$((${#names[@]} / 2))
        a=$(IFS=, && echo "${names[*]:0:half}") b=$(IFS=, && echo "${names[*]:half}")
        pitrace-fleet diff --json --where process=pitrace-shop --a "$a" --b "$b" fleet >same.json
        if jq -e 'any(.process[], .module[], .function[]; .verdict != "noise")' same.json >/dev/null; then found=$((found + 1)); fi
    done
    echo "found in $found of 100 runs"
    ((found < 12))
}

# Debian's unstable release has Dask and pyarrow. Prints the command that runs Python with them.
dask_python() {
    if python3 -c 'import dask.distributed, dask.dataframe, pyarrow' 2>/dev/null; then
        echo python3
        return
    fi
    # shellcheck source=tests/support/debian_root.bash
    source "$SOURCE_DIR/tests/support/debian_root.bash"
    local root=${PITRACE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/pitrace}/debian/sid-dask
    if [[ ! -e $root ]]; then
        command -v debootstrap >/dev/null || return 1
        rm -rf --one-file-system "$root.new"
        # debootstrap does not find virtual packages, on which some of these depend.
        make_debian_root sid "$root.new" >&2 || return
        # The index of a mirror that is no longer updated has expired.
        "$SOURCE_DIR/scripts/lab.d/in-root" "$root.new" /sys -- /bin/sh -c 'apt-get -q -y -o Acquire::Check-Valid-Until=false update &&
            DEBIAN_FRONTEND=noninteractive apt-get -q -y install --no-install-recommends python3-dask python3-distributed python3-pyarrow python3-pandas' >&2 || return
        mv "$root.new" "$root"
    fi
    echo "$SOURCE_DIR/scripts/lab.d/in-root $root /sys $SOURCE_DIR $BATS_FILE_TMPDIR -- /usr/bin/env -i PATH=/usr/bin:/bin HOME=/tmp /usr/bin/python3"
}

@test "Dask on several workers gives the answers of DuckDB" {
    python=$(dask_python) || skip "needs python3-dask, python3-distributed and python3-pyarrow, or debootstrap"
    questions=$SOURCE_DIR/tools/fleet/dask/fleet_dask.py
    answers() { (cd / && $python "$questions" "$@" --workers 3 --files 3 "$BATS_FILE_TMPDIR/fleet"); }
    answers report >dask.json
    pitrace-fleet report --json fleet >duckdb.json
    for filter in '.ticks, .lost, .hosts, .kernels' '.by | map_values(map([.name, .module, .ticks, .hosts]) | sort)'; do
        diff <(jq -c "$filter" dask.json) <(jq -c "$filter" duckdb.json)
    done
    for words in "top --where service=" "top --where nosuch=1" "top --by nosuch" "diff --at never"; do
        # shellcheck disable=SC2086 # words
        run -2 answers $words
    done
    conditions=(--by thread --where 'host=node1*' --where module=pitrace-shop)
    diff <(answers top "${conditions[@]}" | jq -c '.ticks, .by') <(pitrace-fleet top --json "${conditions[@]}" fleet | jq -c '.ticks, .by')
    conditions=(--where process=pitrace-shop --a "build=$(cat id1)" --b "build=$(cat id2)")
    filter='.a, .b, (.function | map([.name, .module, .a, .b, (.change * 1e6 | round)]) | sort)'
    answers diff "${conditions[@]}" | jq -c "$filter" >dask
    pitrace-fleet diff --json --clip 0 "${conditions[@]}" fleet | jq -c "$filter" | diff dask -
    answers flame | jq -r '.[] | "\(.process | gsub(";"; "\\x3b"));\(.path) \(.ticks)"' | sort >dask
    pitrace-fleet flame fleet | sort | diff dask -
    # A build is that of a process, also on paths that end in other files.
    answers flame --where "build=$(cat id1)" | jq -r '.[] | "\(.process | gsub(";"; "\\x3b"));\(.path) \(.ticks)"' | sort >dask
    [ -s dask ]
    pitrace-fleet flame --where "build=$(cat id1)" fleet | sort | diff dask -
}

@test "Dask computes again what a worker that was killed had done" {
    python=$(dask_python) || skip "needs python3-dask, python3-distributed and python3-pyarrow, or debootstrap"
    (cd / && exec $python "$SOURCE_DIR/tests/long/export/killed_worker.py" "$SOURCE_DIR/tools/fleet/dask" "$BATS_FILE_TMPDIR/fleet") >dask.json
    jq -e '.killed == true' dask.json
    jq -c '.answer.by.function | map([.name, .module, .ticks, .hosts]) | sort' dask.json |
        diff - <(pitrace-fleet top --json fleet | jq -c '.by.function | map([.name, .module, .ticks, .hosts]) | sort')
}
