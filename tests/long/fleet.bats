#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# post --fleet and pitrace-fleet, with DuckDB's library from npm: ten hosts, which are UTS namespaces, with known programs.

bats_require_minimum_version 1.5.0

hosts=10

# host NUMBER: records a program in a host of its own. From the sixth host on it is another build, which spends more time in beta().
host() {
    mkdir -p "host$1" && cd "host$1" || return
    # The build of this host, at the same place on all hosts.
    rm -f ../bin/*
    cp "../build$((1 + ($1 > 5)))/$program" ../bin/
    export PITRACE_SOCKET=$BATS_FILE_TMPDIR/recorder$1
    swtrace init -s 16 --source perf
    swtrace enable tprof
    swtrace setrate 1000
    swtrace stacks both
    swtrace on
    # In a control group of its own, where there are any.
    ../in-group "shop$(($1 % 2)).service" "../bin/$program" 1 >/dev/null
    swtrace off
    swtrace get
    swtrace free
    # All reports have the same names, even if files vanish.
    post --archive
    rm swtrace.nrm2
    post --clip 0 --json -folded -pnm --demangle swtrace.tar.zst
    post --fleet ../fleet swtrace.tar.zst
}

setup_file() {
    command -v npm >/dev/null || skip "needs npm (scripts/install-deps long)"
    [ "$(id -u)" -eq 0 ] || skip "needs root to trace the system"
    export PATH="$BUILD_DIR/bin:$BUILD_DIR/tests:$PATH" program=shop-$$
    cd "$BATS_FILE_TMPDIR" || return
    if [[ -z ${PITRACE_DUCKDB-} ]]; then
        cp -r "$SOURCE_DIR/tests/long/export" readers
        (cd readers && npm ci --ignore-scripts --no-audit --no-fund)
        export PITRACE_DUCKDB=$BATS_FILE_TMPDIR/readers/node_modules/@duckdb/node-bindings-linux-x64/libduckdb.so
    fi
    mkdir bin build1 build2
    gcc -O1 -g -fno-omit-frame-pointer -Wl,--build-id -o "build1/$program" "$SOURCE_DIR/tests/progs/calls.c"
    # beta() itself takes twice as long.
    sed 's/BURN(20 \* UNIT)/BURN(40 * UNIT)/' "$SOURCE_DIR/tests/progs/calls.c" >changed.c
    run ! diff -q "$SOURCE_DIR/tests/progs/calls.c" changed.c
    gcc -O1 -g -fno-omit-frame-pointer -I "$SOURCE_DIR/tests/progs" -Wl,--build-id -o "build2/$program" changed.c
    cat >in-group <<'END'
#!/bin/sh
# in-group NAME COMMAND...: runs the command in a new control group, or in this one if there can be none.
group=/sys/fs/cgroup/$1
shift
mkdir -p "$group" 2>/dev/null && echo $$ 2>/dev/null >"$group/cgroup.procs"
exec "$@"
END
    chmod 755 in-group
    for ((i = 1; i <= hosts; i++)); do
        # shellcheck disable=SC2016 # expanded by the host
        program=$program BATS_FILE_TMPDIR=$BATS_FILE_TMPDIR unshare --uts bash -ec "$(declare -f host)"'; hostname "node$1"; host "$1"' host "$i" 3>&-
    done
    rmdir /sys/fs/cgroup/shop[01].service 2>/dev/null || true
}

setup() { cd "$BATS_FILE_TMPDIR" || return; }

fleet() { pitrace-fleet "$@" fleet; }

# Symbols of all hosts' own reports: "module TAB symbol TAB ticks", summed up. Code that is in a section without symbols has no function
# in tables.
own_symbols() {
    jq -r '.reports[] | select(.title == "Module_Symbol") | .rows[] | .name as $file | .children[] | [$file, .name, .ticks] | @tsv' host*/tprof.json |
        awk -F '\t' '$2 ~ /^<</ { $2 = "NoSymbols" } { sum[$1 FS $2] += $3 } END { for (key in sum) print key FS sum[key] }' | sort
}

@test "totals over the fleet are the sums of the hosts' own reports" {
    fleet report --json >report.json
    [ "$(jq .hosts report.json)" -eq "$hosts" ]
    [ "$(jq .ticks report.json)" -eq "$(jq -s 'map(.ticks) | add' host*/tprof.json)" ]
    # Each host.
    jq -r '.by.host[] | "\(.name) \(.ticks)"' report.json | sort >by_host
    for ((i = 1; i <= hosts; i++)); do echo "node$i $(jq .ticks "host$i/tprof.json")"; done | sort | diff by_host -
    # Each symbol of each module.
    jq -r '.by.function[] | [(if .module == "" then "NoModule" else .module end), (if .name == "" then "NoSymbols" else .name end), .ticks] | @tsv' report.json |
        grep -v '^NoModule' | sort >by_symbol
    own_symbols | grep -v '^NoModule' | diff by_symbol -
    [ "$(grep -c "/$program" by_symbol)" -ge 4 ]
}

@test "the folded stacks are the sums of the hosts' own ones" {
    fleet flame | sort >folded
    cat host*/tprof.folded | awk '{ ticks = $NF; sub(/ [0-9]+$/, ""); sum[$0] += ticks } END { for (stack in sum) print stack, sum[stack] }' | sort | diff folded -
}

@test "conditions select hosts, times, builds, modules and functions" {
    all=$(jq .ticks host2/tprof.json)
    [ "$(fleet top --json --where 'host=node2' | jq .ticks)" -eq "$all" ]
    [ "$(fleet top --json --where 'host=node1,host=node2' | jq .hosts)" -eq 2 ]
    [ "$(fleet top --json --where 'host=node*' | jq .hosts)" -eq "$hosts" ]
    beta=$(own_symbols | awk -F '\t' -v end="/$program" '$2 == "beta" && substr($1, length($1) - length(end) + 1) == end { sum += $3 } END { print sum }')
    [ "$(fleet top --json --where "module=$program" --where function=beta | jq .ticks)" -eq "$beta" ]
    # The build of the last five hosts: their whole program runs it, also in other modules.
    id=$(readelf -n "build2/$program" | sed -n 's/.*Build ID: //p')
    fleet top --by process --json --where "build=${id:0:12}" >selected
    [ "$(jq .hosts selected)" -eq 5 ]
    [ "$(jq -r '.by.process | map(.name) | join(" ")' selected)" = "$program" ]
    sum=$(for i in 6 7 8 9 10; do
        jq '[.reports[] | select(.title == "Process_Module") | .rows[] | select(.name | startswith($ENV.program)) | .ticks] | add' "host$i/tprof.json"
    done | jq -s add)
    [ "$(jq .ticks selected)" -eq "$sum" ]
    # Losses are of hosts, whichever processes are selected.
    lost=$(jq -s '[.[].losses.lost] | add' host*/tprof.json)
    [ "$(fleet top --json | jq .lost)" -eq "$lost" ]
    [ "$(fleet top --json --where "process=$program" | jq .lost)" -eq "$lost" ]
    # Nothing is before the year 2000, everything after it.
    run -1 fleet top --until 2000-01-01
    [[ $output == *"no tick is selected"* ]]
    [ "$(fleet top --json --since 2000-01-01 | jq .hosts)" -eq "$hosts" ]
    [ "$(fleet top --json --since 3d | jq .hosts)" -eq "$hosts" ]
    # Hosts between two times: the rows are minutes.
    run -1 fleet top --where "host=no such'; DROP TABLE x; --"
    [[ $output == *"no tick is selected"* ]]
}

@test "control groups are services" {
    [ -w /sys/fs/cgroup/cgroup.procs ] || skip "needs control groups of version 2"
    fleet top --by service --json --where "process=$program" >services
    [ "$(jq -r '.by.service | map(select(.ticks > 100).name) | sort | join(" ")' services)" = "shop0 shop1" ]
    [ "$(jq '.by.service[] | select(.name == "shop1").hosts' services)" -eq 5 ]
    [ "$(fleet top --json --by process --where service=shop1 | jq -r '.by.process | map(.name) | join(" ")')" = "$program" ]
}

@test "diff finds the change that was planted in a build, its share, and the builds" {
    one=$(readelf -n "build1/$program" | sed -n 's/.*Build ID: //p')
    two=$(readelf -n "build2/$program" | sed -n 's/.*Build ID: //p')
    fleet diff --json --a "build=$one" --b "build=$two" >diff.json
    jq -e '.a.hosts == 5 and .b.hosts == 5' diff.json
    # As the hosts' own reports have it.
    share() {
        for i in "$@"; do
            jq -r '.reports[] | select(.title == "Process_Module_Symbol") | .rows[] | select(.name | startswith($ENV.program)) | .children[] | .name as $file
                | .children[] | [$file, .name, .ticks] | @tsv' "host$i/tprof.json"
        done | awk -F '\t' -v end="/$program" '{ all += $3 } $2 == "beta" && substr($1, length($1) - length(end) + 1) == end { beta += $3 } END { print 100 * beta / all }'
    }
    jq -e --argjson a "$(share 1 2 3 4 5)" --argjson b "$(share 6 7 8 9 10)" '.function[] | select(.name == "beta") | .verdict == "more" and
        (.change - ($b - $a) | -0.001 < . and . < 0.001) and .change > 5' diff.json
    jq -e --arg one "$one" --arg two "$two" '.builds | map(.version) | contains([$one, $two])' diff.json
    # Without a change nothing is beyond chance.
    fleet diff --json --a host=node1,host=node3,host=node5 --b host=node2,host=node4 --where "process=$program" | jq -e '[.function[] | select(.verdict != "noise" and .name == "beta")] == []'
    fleet diff --a "build=$one" --b "build=$two" | grep -E '^ *\+[0-9.]+ .* more  beta  '
}

@test "diff with one side compares it with the rest, and ticks on both sides are counted" {
    [ "$(fleet diff --a host=node1 --json | jq -c '[.a, .b]')" = \
        "$(jq -s -c '[{ticks: .[0].ticks, hosts: 1}, {ticks: (map(.ticks) | add - first), hosts: (length - 1)}]' host1/tprof.json host[2-9]/tprof.json host10/tprof.json)" ]
    [ "$(fleet diff --a host=node1 --json | jq -c '[.a, .b]')" = "$(fleet diff --b host=node1 --json | jq -c '[.b, .a]')" ]
    run ! grep 'in A and in B' <(fleet diff --a host=node1 2>&1 >/dev/null)
    ticks=$(fleet top --json --where "host=node1,process=$program" | jq .ticks)
    fleet diff --a "process=$program" --b host=node1 2>&1 >/dev/null | grep -F "$ticks ticks are in A and in B"
}

@test "the page has the ticks of the report by process, host and function, and of both sides of diff" {
    fleet report --json >report.json
    run -0 fleet report --html page.html
    [ -z "$output" ]
    node "$SOURCE_DIR/tests/long/page_fleet.mjs" page.html >page.json
    [ "$(jq -c '[.ticks, .total]' page.json)" = "$(jq -c '[.ticks, .ticks]' report.json)" ]
    # A page has no name for the idle task but its own.
    jq -c '.process | del(.idle)' page.json | jq -S . >page_by
    jq -c '.by.process | map({key: .name, value: .ticks}) | from_entries | del(.SystemProcess)' report.json | jq -S . | diff page_by -
    jq -r '.host | to_entries[] | "\(.key | sub("^idle: "; "") | split(":")[0]) \(.value)"' page.json | awk '{ sum[$1] += $2 } END { for (name in sum) print name, sum[name] }' | sort >page_by
    jq -r '.by.host[] | "\(.name) \(.ticks)"' report.json | sort | diff page_by -
    for symbol in alpha beta shared recurse; do
        [ "$(jq ".symbol.$symbol" page.json)" -eq "$(jq --arg name $symbol '[.by.function[] | select(.name == $name).ticks] | add' report.json)" ]
    done
    jq -e '.tables | map(.[0]) == ["Ticks by host", "Ticks by kernel", "Ticks by service"]' page.json
    one=$(readelf -n "build1/$program" | sed -n 's/.*Build ID: //p') two=$(readelf -n "build2/$program" | sed -n 's/.*Build ID: //p')
    fleet diff --json --a "build=$one" --b "build=$two" >diff.json
    fleet diff --html diff.html --a "build=$one" --b "build=$two"
    node "$SOURCE_DIR/tests/long/page_fleet.mjs" diff.html >page.json
    [ "$(jq -c '[.total, .base.ticks, .base.sum]' page.json)" = "$(jq -c '[.b.ticks, .a.ticks, .a.ticks]' diff.json)" ]
    if command -v chromium >/dev/null; then for file in page diff; do node "$SOURCE_DIR/tests/long/page_fleet.mjs" "$PWD/$file.html" chromium; done; fi
    for words in "top --html x" "report --json --html x" "report --html="; do
        # shellcheck disable=SC2086 # words
        run -255 fleet $words
    done
}

@test "functions without names on their hosts get them from debug files, once for all hosts" {
    # Two hosts with a stripped program, each in another folder; one server and one folder have its debug file.
    mkdir -p stripped && cd stripped
    gcc -O1 -g -Wl,--build-id -o whole "$SOURCE_DIR/tests/progs/calls.c"
    id=$(readelf -n whole | sed -n 's/.*Build ID: //p')
    mkdir -p "debug/.build-id/${id:0:2}" "server/buildid/$id"
    objcopy --only-keep-debug whole "debug/.build-id/${id:0:2}/${id:2}.debug"
    cp "debug/.build-id/${id:0:2}/${id:2}.debug" "server/buildid/$id/debuginfo"
    export name=bare-$$
    for host in 1 2; do
        mkdir -p "at$host"
        strip -o "at$host/$name" whole
        # shellcheck disable=SC2016 # expanded by the host
        unshare --uts bash -ec 'hostname "bare$1"; export PITRACE_SOCKET=$PWD/recorder$1; cd "at$1"
            swtrace init -s 16 --source perf; swtrace enable tprof; swtrace setrate 1000; swtrace stacks both; swtrace on
            "./$2" 1 >/dev/null; swtrace off; swtrace get; swtrace free
            post --archive; post --fleet ../fleet swtrace.tar.zst' host "$host" "$name" 3>&-
    done
    # What post says with the debug file: by symbol, and the folded stacks.
    for host in 1 2; do
        (cd "at$host" && post --clip 0 --json -folded -pnm --demangle -sympath "$PWD/../debug" swtrace.nrm2)
        jq -r '.reports[] | select(.title == "Module_Symbol") | .rows[] | select(.name | endswith($ENV.name)) | .children[] | [.name, .ticks] | @tsv' "at$host/tprof.json"
    done | awk -F '\t' '{ sum[$1] += $2 } END { for (key in sum) print key FS sum[key] }' | sort >expected
    [ "$(awk '$1 == "alpha" || $1 == "beta" || $1 == "recurse" || $1 == "shared"' expected | wc -l)" -eq 4 ]
    # The program has another path on each host.
    by_function() {
        pitrace-fleet top --json --where "module=$name" "$1" | jq -r '.by.function[] | [(if .name == "" then "NoSymbols" else .name end), .ticks] | @tsv' |
            awk -F '\t' '{ sum[$1] += $2 } END { for (key in sum) print key FS sum[key] }' | sort
    }
    run ! grep -E 'alpha|beta' <(by_function fleet)
    cp -r fleet served
    pitrace-fleet resolve --debug-path debug fleet >resolved
    grep -E '^ Named +: [1-9][0-9]* of [0-9]+ functions$' resolved
    by_function fleet | grep -vE '^(NoSymbols|<<|\[)' | diff - <(grep -vE '^(NoSymbols|<<|\[)' expected)
    pitrace-fleet flame --where "process=$name" fleet | sort >folded
    cat at*/tprof.folded | grep "^$name;" | awk '{ ticks = $NF; sub(/ [0-9]+$/, ""); sum[$0] += ticks } END { for (stack in sum) print stack, sum[stack] }' | sort | diff folded -
    # A second time nothing is asked for, and the names stay without the folder.
    pitrace-fleet resolve fleet | grep -E '^ Named +: 0 of '
    by_function fleet | grep -q '^alpha'
    # From a server.
    port=$((20000 + RANDOM % 10000))
    (cd server && exec python3 -m http.server "$port" --bind 127.0.0.1) >server.log 2>&1 3>&- &
    server=$!
    for ((i = 0; i < 100; i++)); do curl -s "http://127.0.0.1:$port/" >/dev/null && break || sleep 0.1; done
    DEBUGINFOD_URLS=http://127.0.0.1:$port DEBUGINFOD_CACHE_PATH=$PWD/cache pitrace-fleet resolve served >resolved
    kill "$server"
    diff <(by_function fleet) <(by_function served)
    # A debug file of another build-id names nothing.
    rm served/names.parquet
    mkdir -p "wrong/.build-id/${id:0:2}"
    gcc -O1 -g -Wl,--build-id=0x0123456789abcdef0123456789abcdef01234567 -o other "$SOURCE_DIR/tests/progs/calls.c"
    cp other "wrong/.build-id/${id:0:2}/${id:2}.debug"
    DEBUGINFOD_URLS='' pitrace-fleet resolve --debug-path wrong served >resolved
    grep -F "$id" resolved
    run ! grep -E 'alpha|beta' <(by_function served)
}

@test "hashed names of hosts and programs still add up over hosts" {
    head -c 32 /dev/urandom >key && chmod 600 key
    for i in 1 2 6; do post --fleet hashed --hash command,path,cgroup,host,function --hash-key key "host$i/swtrace.tar.zst"; done
    fleet top --json --by process --where host=node1,host=node2,host=node6 | jq '[.by.process[].ticks] | sort' >clear
    pitrace-fleet top --json --by process hashed | jq '[.by.process[].ticks] | sort' | diff - clear
    # What ran on all hosts still is one row of three hosts.
    pitrace-fleet top --json --by process hashed | jq -e '.by.process[0].name | test("^h-[0-9a-f]{24}$")'
    pitrace-fleet top --json --by process hashed | jq -e '.hosts == 3 and ([.by.process[].hosts] | max) == 3'
}

@test "calls with few ticks are [rare], in which all ticks of these calls are" {
    # Of a program whose functions all have names: other call paths can be equal only by name.
    fleet flame --where "host=node1,process=$program" >whole
    # The least number with which several callers have callees with fewer ticks.
    few=$(python3 - whole <<'END'
import collections, sys
all = collections.Counter()
for line in open(sys.argv[1]):
    path, _, ticks = line.rstrip('\n').rpartition(' ')
    names = path.split(';')
    for end in range(1, len(names) + 1):
        all[tuple(names[:end])] += int(ticks)
print(next(few for few in sorted({ticks + 1 for ticks in all.values()})
           if len({path[:-1] for path, ticks in all.items() if ticks < few <= all[path[:-1]]}) >= 3))
END
    )
    post --fleet rare --rare "$few" host1/swtrace.tar.zst
    pitrace-fleet flame --where "process=$program" rare >folded
    python3 - whole folded "$few" <<'END'
import collections, sys
def read(name):
    rows = (line.rstrip('\n').rpartition(' ') for line in open(name))
    return {tuple(path.split(';')): int(ticks) for path, _, ticks in rows}
whole, few = (read(name) for name in sys.argv[1:3])
limit = int(sys.argv[3])
def sums(rows):
    all = collections.Counter()
    for path, ticks in rows.items():
        for end in range(1, len(path) + 1):
            all[path[:end]] += ticks
    return all
all_of, few_of = sums(whole), sums(few)
rare = {path: ticks for path, ticks in few.items() if path[-1] == '[rare]'}
assert len(rare) >= 2 and 0 < sum(rare.values()) < sum(whole.values())
# Each call path that is kept has all its ticks, and ends there as often.
wrong = {path: (ticks, all_of[path]) for path, ticks in few_of.items() if path[-1] != '[rare]' and ticks != all_of[path]}
assert not wrong, wrong
wrong = {path: (ticks, whole.get(path)) for path, ticks in few.items() if path[-1] != '[rare]' and ticks != whole.get(path)}
assert not wrong, wrong
assert sum(few.values()) == sum(whole.values())
# What was left out has few ticks, also in all processes together.
left = [path for path in all_of if path not in few_of and path[:-1] in few_of]
assert left and max(all_of[path] for path in left) < limit
# Only this process has a main() that it calls.
kept = [path for path in few_of if 'main' in path[:-1] and path[-1] != '[rare]']
assert kept and min(all_of[path] for path in kept) >= limit
END
    # The sums by function are the same.
    diff <(pitrace-fleet top --json rare) <(fleet top --json --where host=node1)
}

@test "sums by day give the same answers, also when traces come later or are removed" {
    # A day that is over.
    cp -r fleet old
    for table in records paths stacks frames; do mv "old/$table/date="* "old/$table/date=2026-01-02"; done
    late=$(find old/records -path '*host=node3/*.parquet') && mv "$late" late
    run -0 pitrace-fleet compact old
    [[ $output == *"Written  : $((hosts - 1)) days of hosts"*"Kept     : 0,"*"Not over : 0"* ]]
    [ -z "$(find old/days -type f ! -name day.parquet)" ]
    mv late "$late"
    run -0 pitrace-fleet compact old
    [[ $output == *"Written  : 1 days"*"Kept     : $((hosts - 1)),"* ]]
    run -0 pitrace-fleet compact fleet
    [[ $output == *"Written  : 0 days"*"Not over : $hosts"* ]]
    one=$(readelf -n "build1/$program" | sed -n 's/.*Build ID: //p')
    ask() { # each question, of folder $1
        for words in report "top --by build" "top --by service" "top --where process=$program" "top --by process --where kernel=*,process=$program" \
            "diff --a host=node1,host=node2,host=node3 --b host=node7,host=node8,host=node9" "top --since 2000-01-01" "top --by module --where function=beta"; do
            # shellcheck disable=SC2086 # words
            pitrace-fleet $words --json "$1"
        done
    }
    ask fleet >answers
    ask old | diff answers -
    for words in "top --by thread" "top --where build=$one" "top --since 2000-01-01T01:00"; do
        # shellcheck disable=SC2086 # words
        diff <(pitrace-fleet $words --json old) <(fleet $words --json)
    done
    # A trace that comes later, and one that was added again.
    cp "$late" "${late%/*}/1.parquet"
    pitrace-fleet top --json old >answer 2>messages
    grep 'traces of 1 days of hosts have changed.*compact' messages
    jq -e --argjson more "$(jq .ticks host3/tprof.json)" --argjson all "$(fleet top --json | jq .ticks)" '.ticks == $all + $more' answer
    rm "${late%/*}/1.parquet"
    # Some of the tables are gone, then all: the sums stay.
    rm "$late"
    ask old | diff answers -
    run -0 pitrace-fleet compact old
    [[ $output == *"Written  : 0 days"* ]]
    pitrace-fleet top --by thread --json old >answer 2>messages
    grep '1 days of hosts are left out' messages
    [ "$(jq .hosts answer)" -eq $((hosts - 1)) ]
    rm -r old/records old/paths old/stacks
    ask old | diff answers -
    for words in "top --by thread" flame "report --html x.html"; do
        # shellcheck disable=SC2086 # words
        run -1 pitrace-fleet $words old
        [[ $output == *"no table is of that time, or has what the question needs"* ]]
    done
    # A file that is none, and one that ends too early.
    file=old/days/date=2026-01-02/host=node4/day.parquet
    truncate -s -10 $file
    run -1 pitrace-fleet top old
    [[ $output == *"$file"* ]]
    rm $file
    [ "$(pitrace-fleet top --json old | jq .hosts)" -eq $((hosts - 1)) ]
}

@test "a day's sums have the rows of that day, whichever folder they are in" {
    # A trace that began at half past eleven, and one of the next morning; half of the rows of each are an hour later.
    shift_to() { # shift_to DAY TIME NAME
        mkdir -p "midnight/records/date=$1/host=node1"
        (cd readers && node query.mjs "COPY (SELECT * REPLACE (TIMESTAMPTZ '$1 $2:00+00' + INTERVAL (hash(function) % 2) HOUR AS time) FROM '../fleet/records/*/host=node1/*.parquet')
            TO '../midnight/records/date=$1/host=node1/$3.parquet' (FORMAT parquet, KV_METADATA {'pitrace.schema': 'records 3.0'})")
    }
    [ -d readers/node_modules ] || skip "needs npm (scripts/install-deps long)"
    shift_to 2026-01-02 23:30 1
    shift_to 2026-01-03 09:30 2
    ask() {
        for words in "" "--since 2026-01-03" "--until 2026-01-03" "--since 2026-01-03 --until 2026-01-04" "--since 2026-01-02 --until 2026-01-03"; do
            # shellcheck disable=SC2086 # words
            pitrace-fleet report --json $words midnight
        done
        pitrace-fleet diff --json --at 2026-01-03 midnight
    }
    ask >answers 2>/dev/null
    [ "$(jq -s 'map(.ticks) | unique | length' answers)" -ge 4 ]
    pitrace-fleet compact midnight
    ask 2>/dev/null | diff answers -
    rm -r midnight/records
    ask 2>/dev/null | diff answers -
}

@test "compact may be killed at any moment, has a full disk, and runs once at a time" {
    mkdir -p ended
    cp -r fleet/records ended/
    mv ended/records/date=* ended/records/date=2026-01-02
    for ((i = 0; i < 12; i++)); do
        timeout -s KILL "0.$((10 + 3 * i))" pitrace-fleet compact ended >/dev/null 2>&1 || true
        diff <(fleet top --json) <(pitrace-fleet top --json ended 2>/dev/null)
    done
    pitrace-fleet compact ended
    [ "$(find ended/days -type f | wc -l)" -eq "$hosts" ]
    exec {lock}<ended/records
    flock -n "$lock"
    run -1 pitrace-fleet compact ended
    [[ $output == *"another pitrace-fleet compact"* ]]
    exec {lock}<&-
    rm -r ended/days
    mkdir ended/days
    mount -t tmpfs -o size=64k none ended/days
    run -1 pitrace-fleet compact ended
    diff <(fleet top --json) <(pitrace-fleet top --json ended 2>/dev/null)
    [ -z "$(find ended/days -name '*.unfinished')" ]
    umount ended/days
    # Never through a link.
    mkdir elsewhere && ln -s ../../elsewhere ended/days/date=2026-01-02
    run -1 pitrace-fleet compact ended
    [[ $output == *"Not a directory"* && -z $(ls elsewhere) ]]
}

@test "tables of another version are refused" {
    cp -r fleet older
    file=$(find older/records -name '*.parquet' | sort | head -n 1)
    LC_ALL=C sed -i 's/records 3\.0/records 2.0/' "$file"
    run -1 pitrace-fleet top older
    [[ $output == *"$file has the schema 'records 2.0', not 'records 3.x'"* ]]
    cp -r fleet named
    cp "$file" named/names.parquet
    run -1 pitrace-fleet top named
    [[ $output == *"named/names.parquet has the schema 'records 2.0', not 'names 2.x'"* ]]
}

@test "a file that ends too early, one that is none, and folders with wildcards are reported" {
    mkdir -p damaged
    cp -r fleet/records fleet/stacks damaged/
    file=$(find damaged/records -name '*.parquet' | head -n 1)
    truncate -s -100 "$file"
    run -1 pitrace-fleet top damaged
    [[ $output == *"${file##*/}"* ]]
    [[ $output == *"1 file is not complete"*"$file"*"Copy it again"* ]]
    # What a file sync has not finished is not read.
    mv "$file" "$file.partial"
    [ "$(pitrace-fleet top --json damaged | jq .hosts)" -eq $((hosts - 1)) ]
    mkdir 'w[1]' && cp -r fleet/records 'w[1]/'
    run -1 pitrace-fleet top 'w[1]'
    [[ $output == *wildcard* ]]
    run -1 pitrace-fleet top nosuch
    [[ $output == *"there is no folder nosuch"* ]]
    cp -r fleet "it's; a folder"
    [ "$(pitrace-fleet top --json "it's; a folder" | jq .hosts)" -eq "$hosts" ]
}

@test "the commands of the manual answer" {
    one=$(readelf -n "build1/$program" | sed -n 's/.*Build ID: //p')
    two=$(readelf -n "build2/$program" | sed -n 's/.*Build ID: //p')
    # With the names of this fleet.
    sed -n 's/^\.Dl \$ //p' "$SOURCE_DIR/docs/man/pitrace-fleet.1" | sed -e "s|/srv/fleet|$PWD/fleet|" -e "s/91ab/${one:0:12}/; s/c0de/${two:0:12}/" \
        -e "s/host=web1,host=web2/'host=node1,host=node2'/; s/kernel=6.12\*/kernel=*/; s/ --where service=shop//" \
        -e "s|swtrace.nrm2|host1/swtrace.tar.zst|" >commands
    [ "$(wc -l <commands)" -ge 6 ]
    while read -r command; do
        # Before the 24th of November no host recorded anything.
        if [[ $command == *" --at "* ]]; then
            run -1 bash -c "$command"
            [[ $output == *"no tick of A is selected"* ]]
        else
            run -0 bash -c "$command"
        fi
    done <commands
    [ "$(fleet top --json | jq .ticks)" -eq "$(jq -s 'map(.ticks) | add' host*/tprof.json)" ]
}

@test "ClickHouse's engine answers the same by the views of docs/fleet.md and the same SQL" {
    if [[ -z ${PITRACE_CHDB-} ]]; then
        cp -r "$SOURCE_DIR/tests/long/clickhouse" chdb
        # Not npm ci, which wants the libraries for all systems in the lock file.
        (cd chdb && npm install --ignore-scripts --no-audit --no-fund)
        PITRACE_CHDB=$PWD/chdb
    fi
    cp "$SOURCE_DIR/tests/long/clickhouse/ask.mjs" "$PITRACE_CHDB/"
    node "$PITRACE_CHDB/ask.mjs" "$SOURCE_DIR/docs/fleet.md" "$SOURCE_DIR/tools/fleet/sql" "$PWD/fleet" >clickhouse.json
    for by in host kernel service process module; do
        fleet top --json --by $by | jq -Sc ".by.${by}[] | {name, ticks, hosts}" | sort >duckdb
        jq -Sc ".${by}[] | {name, ticks, hosts}" clickhouse.json | sort | diff duckdb -
    done
    ticks=$(fleet top --json | jq .ticks)
    jq -e --argjson ticks "$ticks" '.summary.ticks == $ticks and .hosts.a == $ticks and ([.diff[].a] | add) == $ticks and
        ([.page[].ticks] | add) == ([.paths[].ticks] | add) and (.page_stacks | length) == (.stacks | length)' clickhouse.json
    # The ticks of all call paths are those of post's folded stacks.
    fleet flame | awk '{ sum += $NF } END { print sum }' >paths
    [ "$(jq '[.paths[].ticks] | add' clickhouse.json)" -eq "$(<paths)" ]
}
