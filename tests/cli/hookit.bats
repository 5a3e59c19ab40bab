#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# hookit: programs with known numbers of calls, every way of ending, and its environment.
# shellcheck disable=SC2016 # programs of the inner shell

bats_require_minimum_version 1.5.0

setup() {
    hooked="$BUILD_DIR/tests/hooked"
    # Its programs are compiled for the library's hooks only.
    ! readelf -d "$BUILD_DIR/lib/libhookit.so" | grep -qE 'NEEDED.*lib(a|t|ub)san' || skip "needs a build without sanitizers"
    cd "$BATS_TEST_TMPDIR" || return
    export HOOKIT_PROFILING=on JPROFOPTS=nopidx
}

# tree FILE: prints level, calls and name of each row of a log-rt without metrics.
tree() {
    awk '/^  LV / { rows = 1; next } /^$/ { rows = 0 } rows { $3 = ""; print }' "${1:-log-rt.1}" | tr -s ' '
}

# rows FILE: the same without the thread's row.
rows() {
    tree "$@" | grep -v '^0 '
}

@test "without HOOKIT_PROFILING=on a program runs as before and nothing is written" {
    for value in off 0 ''; do
        HOOKIT_PROFILING=$value run -3 "$hooked" tree 10
        [ -z "$output" ]
    done
    env -u HOOKIT_PROFILING "$hooked" tree 10 || [ $? -eq 3 ]
    HOOKIT_PROFILING=perhaps run -3 "$hooked" tree 10
    [[ $output == "hookit: HOOKIT_PROFILING=perhaps is neither 'on' nor 'off'; nothing is recorded." ]]
    [ -z "$(ls)" ]
}

@test "calls are exact, by caller" {
    run -3 "$hooked" tree 1000
    [ -z "$output" ]
    [ "$(rows)" = "1 1 F:tree
2 1000 F:middle
3 2000 F:leaf
2 1 F:leaf" ]
}

@test "each level of a recursion is a row" {
    "$hooked" recursive 100 || true
    [ "$(rows | wc -l)" -eq 100 ]
    [ "$(rows | awk '$2 == 1 && $3 == "F:recursive"' | wc -l)" -eq 100 ]
    "$hooked" mutual 5 || true
    [ "$(rows)" = "1 1 F:even
2 1 F:odd
3 1 F:even
4 1 F:odd
5 1 F:even
6 1 F:odd" ]
}

@test "frames that longjmp() removes are not callers of what follows" {
    "$hooked" jumps 1000 || true
    rows >found
    [ "$(head -n 1 found)" = "1 1 F:jumps" ]
    [ "$(grep -c 'F:dive$' found)" -eq 21 ]
    [ "$(awk '$3 == "F:dive" && $2 != 1000' found)" = "" ]
    [ "$(grep 'F:leaf' found)" = "2 1000 F:leaf" ]
}

@test "exceptions end frames, and inlined functions are callees of the functions that contain them" {
    "$BUILD_DIR/tests/hooked_cpp" 1000
    [ "$(rows)" = "1 1 F:hooked::catcher(long)
2 1000 F:hooked::thrower(long)
3 1000 F:hooked::thrower(long)
4 1000 F:hooked::thrower(long)
5 1000 F:hooked::thrower(long)
6 1000 F:hooked::thrower(long)
7 1000 F:hooked::thrower(long)
1 1000 F:hooked::outer(long)
2 3000 F:long hooked::inlined<long>(long)" ]
}

@test "each thread has a tree with its name" {
    "$hooked" threads 100 || true
    [ "$(tree | grep -c '^0 0 .*_worker$')" -eq 4 ]
    [ "$(tree | awk '/F:middle/ { sum += $2 } END { print sum }')" -eq 1000 ]
    rm log-rt*
    JPROFOPTS="nopidx,threads=work*" "$hooked" threads 100 || true
    [ "$(tree | grep -c '^0')" -eq 4 ]
    rm log-rt*
    JPROFOPTS="nopidx,threads=-work*" "$hooked" threads 100 || true
    [ "$(rows)" = "1 1 F:threads" ]
}

@test "callbacks of code that is not instrumented are counted" {
    run -3 "$hooked" callback
    [ "$(rows | awk '$3 == "F:compare" { print $2 }')" = "${output#comparisons }" ]
}

@test "a storm of signals that interrupt events leaves a consistent tree" {
    run -3 "$hooked" storm 2000
    [[ $output == "signals "* ]]
    local signals=${output#signals } counted lost
    counted=$(rows | awk '$3 == "F:on_signal" { sum += $2 } END { print sum + 0 }')
    lost=$(awk '/Lost ::.*interrupted an event/ { print $3 }' log-rt.1)
    # A handler that interrupts an event makes four: its own entry and exit, and those of leaf().
    ((counted + ${lost:-0} / 4 == signals))
    # Whatever the signals interrupted, storm() is the only function that nothing called.
    [ "$(rows | awk '$1 == 1 && $3 != "F:on_signal"')" = "1 1 F:storm" ]
    [ "$(rows | awk '$3 == "F:middle" { sum += $2; at[$1]++ } END { print at[2] }')" = 1 ]
}

@test "each way of ending writes the log" {
    local way
    for way in _exit quick_exit abort segv execveat raise:{HUP,USR1,TERM,XFSZ,IO}; do
        set -- "${way%:*}" 5
        [[ $way != *:* ]] || set -- "$@" "$(kill -l "${way#*:}")"
        bash -c 'ulimit -c 0; "$0" "$@"' "$hooked" "$@" || true
        [ "$(rows | head -n 2)" = "1 1 F:tree
2 5 F:middle" ]
        grep -qE '^ +0 .* [0-9A-F]{8}_hooked$' log-rt*
        rm log-rt*
    done
    # After an exec that fails the program continues; each writes a log.
    run -0 "$hooked" exec 5
    [ "$output" = hello ]
    [ "$(rows log-rt.1)" = "$(rows log-rt.2)" ]
    [ -s log-rt.2 ]
}

@test "a program's exit status is as before" {
    run -7 "$hooked" _exit
    run -134 bash -c 'ulimit -c 0; exec "$0" abort' "$hooked"
    run -139 bash -c 'ulimit -c 0; exec "$0" segv' "$hooked"
    run -143 "$hooked" raise 1 15
    run -138 "$hooked" raise 1 10
    run -7 "$hooked" quick_exit
}

@test "daemon() writes the log of the parent, and the child has its own; names are found after the end of the main thread" {
    JPROFOPTS='' run -0 "$hooked" daemon 5
    [ -z "$output" ]
    for ((tries = 0; tries < 100; tries++)); do
        logs=(log-rt.*)
        [ "${#logs[@]}" -lt 2 ] || [ ! -s "${logs[0]}" ] || [ ! -s "${logs[1]}" ] || break
        sleep 0.1
    done
    [ "${#logs[@]}" -eq 2 ]
    [ "$(rows "${logs[0]}" | sed -n 2p; rows "${logs[1]}" | sed -n 2p)" = "2 5 F:middle
2 10 F:middle" ] || [ "$(rows "${logs[1]}" | sed -n 2p; rows "${logs[0]}" | sed -n 2p)" = "2 5 F:middle
2 10 F:middle" ]
    rm log-*
    for program in hooked patched; do
        run -3 "$BUILD_DIR/tests/$program" end_of_main
        [ -z "$output" ]
        [ "$(rows | grep -E 'tree|middle|leaf')" = "1 1 F:tree
2 5 F:middle
3 10 F:leaf
2 1 F:leaf" ]
        grep -q "Command :: $BUILD_DIR/tests/$program end_of_main" log-rt.1
        rm log-rt.1
    done
}

@test "a child of fork() begins without its parent's counts" {
    JPROFOPTS='' "$hooked" forks || true
    logs=(log-rt.1_*)
    [ "${#logs[@]}" -eq 2 ]
    grep -l 'F:middle' log-rt.1_* >parent
    grep -L 'F:middle' log-rt.1_* >child
    [ "$(rows "$(cat child)")" = "1 1 F:leaf" ]
}

@test "a program starts, resets, flushes and stops the recording itself" {
    JPROFOPTS=nopidx,nostart "$hooked" control || true
    [ "$(rows log-rt.1 | head -n 2 | tail -n 1)" = "2 3 F:middle" ]
    [ "$(rows log-rt.2 | head -n 2 | tail -n 1)" = "2 7 F:middle" ]
    [ ! -e log-rt.3 ]
}

@test "one metric has the paper's columns and is calibrated" {
    JPROFOPTS=nopidx,metrics=raw_cycles "$hooked" tree 100000 || true
    grep -qE '^  LV +CALLS +CEE +BASE +DELTA +DS +IN  NAME$' log-rt.1
    # Where the cycle counter counts in steps, the smallest difference can be 0.
    awk '$NF == "F:leaf" && $2 == 200000 { good = $5 >= 0 && $4 > 0 } END { exit !good }' log-rt.1
    grep -qE '^ Calibration :: RAW_CYCLES: error bound [0-9.]+ cycles a call or return; 0\.[0-9]+ % of them' log-rt.1
    grep -qE '^  RAW_CYCLES +F En F Ex F +200' log-rt.1
}

@test "several metrics have a column each; CPI and LAT_CYCLES are computed" {
    JPROFOPTS=nopidx,metrics=PTT_CYCLES+raw_cycles+lat_cycles:3+page-faults "$hooked" tree 1000 2>err || true
    grep -qE '^  LV +CALLS +CEE +PTT_CYCLES +RAW_CYCLES +LAT_CYCLES +page-faults  NAME$' log-rt.1 || grep -q 'cannot be measured' err
}

@test "minima are stored and loaded" {
    JPROFOPTS=nopidx,raw_cycles,saveminima=minima "$hooked" tree 1000 || true
    head -n 1 minima | grep -qx '# pitrace call-flow minima 1'
    # hookit trains before the program's first call.
    JPROFOPTS=nopidx,raw_cycles,saveminima=trained "$hooked" tree 1 || true
    awk '$1 == "RAW_CYCLES" && $2 $3 $4 $5 $6 == "FEnFExF" { good = $8 > 500 } END { exit !good }' trained
    grep -qE '^RAW_CYCLES F En F Ex F [0-9]+ [0-9]+$' minima
    sed -i -E 's/^(RAW_CYCLES F En F Ex F) .*/\1 1 1000/' minima
    JPROFOPTS=nopidx,raw_cycles,minima=minima "$hooked" tree 1000 || true
    # A minimum of 1 leaves nothing to subtract.
    awk '$1 == "RAW_CYCLES" && $2 $3 $4 $5 $6 == "FEnFExF" { good = $8 == 1 && $11 == 0 } END { exit !good }' log-rt.1
    # Of another processor.
    sed -i 's/^key .*/key another processor/' minima
    JPROFOPTS=nopidx,raw_cycles,minima=minima "$hooked" tree 1000 2>errors || true
    grep -q "^hookit: 'minima' is not used: its minima are of 'another processor', and this is '" errors
    echo damaged >minima
    JPROFOPTS=nopidx,raw_cycles,minima=minima run -3 "$hooked" tree 1
    [[ $output == "hookit: 'minima' is no file of minima: the first line is not"* ]]
}

@test "JSON and folded stacks have the same calls" {
    JPROFOPTS=nopidx,json,folded "$hooked" tree 1000 || true
    [ "$(jq -r '.threads[0].nodes[] | select(.name == "leaf") | .calls' log-rt.1.json | paste -sd ' ')" = "2000 1" ]
    grep -qE '^[0-9A-F]{8}_hooked;tree;middle;leaf 2000$' log-rt.1.folded
}

@test "a program whose standard descriptors are closed cannot write into the log of events" {
    JPROFOPTS=nopidx,calltrace,nometrics run -4 --separate-stderr bash -c 'exec "$0" writes 10 <&- >&-' "$hooked"
    [ -z "$stderr" ]
    # tree(10): itself, ten of middle, 21 of leaf; an entry and an exit of each.
    [ "$(grep -c '^ [<>] F:' log-gen.1)" -eq 64 ]
}

@test "a child that is made while another thread holds the list of libraries runs, and is recorded" {
    for program in "$hooked" "$BUILD_DIR/tests/patched"; do
        unset JPROFOPTS
        run -3 timeout 20 "$program" held
        [ "$output" = 'child 7' ]
        # tree(5) in the child only: itself, five of middle, 11 of leaf.
        [ "$(grep -h 'F:leaf$' log-rt.1_* | awk '{ n += $2 } END { print n }')" -eq 11 ]
        rm log-rt.*
    done
}

# The second one is where the first one was, unless the kernel chooses another address.
@test "functions of libraries that the program has unloaded keep their names, also where two had the same address" {
    for name in alpha beta; do
        echo "void $name(void) {}" >$name.c
        cc -O1 -finstrument-functions -shared -fPIC -o lib$name.so $name.c
    done
    cat >loads.c <<'END'
#include <dlfcn.h>
#include <stddef.h>
__attribute__((noinline)) void use(const char *library, const char *name, int calls) {
    void *handle = dlopen(library, RTLD_NOW);
    void (*function)(void) = (void (*)(void))dlsym(handle, name);
    while (calls-- > 0) function();
    dlclose(handle);
}
int main(void) {
    use("./libalpha.so", "alpha", 3);
    use("./libbeta.so", "beta", 4);
    return dlclose(dlopen(NULL, RTLD_NOW));
}
END
    cc -O1 -finstrument-functions -o loads loads.c -L "$BUILD_DIR/lib" -lhookit -Wl,-rpath,"$BUILD_DIR/lib"
    ./loads
    [ "$(rows | grep '^3 ')" = '3 7 F:alpha or beta' ] || [ "$(rows | grep '^3 ')" = '3 3 F:alpha
3 4 F:beta' ]
    rm log-rt.1
    JPROFOPTS=nopidx,calltrace,nometrics ./loads
    [ "$(grep -c '[<>] F:.*alpha' log-gen.1)" -ge 6 ]
}

@test "CALLTRACE writes a line for each event" {
    JPROFOPTS=nopidx,calltrace,raw_cycles,json "$hooked" tree 10 || true
    [ ! -e log-rt.1 ]
    grep -q '^ Units :: RAW_CYCLES$' log-gen.1
    [ "$(grep -cE '^ +[0-9]+ > F:leaf ' log-gen.1)" -eq 21 ]
    [ "$(grep -cE '^ +[0-9]+ < F:leaf ' log-gen.1)" -eq 21 ]
    jq -e '[.events[] | select(.name == "leaf")] | length == 42' log-gen.1.json
    [ "$(ls | tr '\n' ' ')" = "log-gen.1 log-gen.1.json " ]
}

@test "options without a meaning for a C program are refused, and nothing is recorded" {
    for option in tprof scs jlm nonsense logprefix=a/b metrics=a:b metrics; do
        JPROFOPTS=$option run -3 "$hooked" tree 1
        [[ $output == "hookit: JPROFOPTS: "* ]]
        [[ $output == *"Nothing is recorded; hookit(7) lists the options." ]]
    done
    # What hookit does not have is off.
    JPROFOPTS=nopidx,noscs,notprof run -3 "$hooked" tree 1
    [ -z "$output" ]
    [ -e log-rt.1 ]
}

@test "a program without hooks, and a recording that cannot start, are reported" {
    echo 'int main(void) { return 3; }' >plain.c
    cc -O1 -o plain plain.c -L"$BUILD_DIR/lib" -Wl,--no-as-needed -lhookit -Wl,-rpath,"$BUILD_DIR/lib"
    run -3 ./plain
    [ -z "$output" ]
    grep -q '^ Calls :: none: no function that was compiled with hooks was called' log-rt.1
    run -3 "$hooked" tree 1
    run -1 grep -q 'Calls ::' log-rt.1
    rm log-rt.1*
    JPROFOPTS=nopidx,minima=/nonexistent run -3 "$hooked" tree 1
    [ "$output" = "hookit: '/nonexistent' cannot be read: No such file or directory.
hookit: Nothing is recorded." ]
    [ ! -e log-rt.1 ]
}

@test "logs have their names from the options; an old one is kept" {
    mkdir logs
    JPROFOPTS=logpath=logs,logprefix=my,logsuffix=.txt,nopidx "$hooked" tree 1 || true
    JPROFOPTS=logpath=logs,logprefix=my,logsuffix=.txt,nopidx "$hooked" tree 2 || true
    grep -q F:tree logs/my-rt.1.txt logs/my-rt.1.txt.old
    JPROFOPTS=logpath=/nonexistent run -3 "$hooked" tree 1
    [[ $output == "hookit: '/nonexistent/log-rt.1_"*"cannot be written: No such file or directory. Create the directory"* ]]
}

@test "on a full disk a message says so, and no part of a log remains" {
    unshare -m true 2>/dev/null || skip "needs root to mount a small file system"
    mkdir disk
    cat >script <<'END'
mount -t tmpfs -o size=16k none disk || exit 1
for options in raw_cycles raw_cycles,calltrace; do
    JPROFOPTS=nopidx,logpath=disk,$options "$1" recursive 500
    echo "status $?"
    ls disk
done
END
    run unshare -m bash script "$hooked"
    echo "$output"
    [ "$(grep -c '^status 3$' <<<"$output")" -eq 2 ]
    [ "$(grep -cE "^hookit: 'disk/log-(rt|gen).1'.* cannot be written: No space left on device" <<<"$output")" -eq 2 ]
    [ "$(grep -c '^log-' <<<"$output")" -eq 0 ]
}

@test "a limit of the size of files costs logs, and does not end the program" {
    limited() { bash -c 'ulimit -f 8; exec "$1" recursive 20000 2>err' bash "$hooked"; }
    JPROFOPTS=nopidx,raw_cycles run -3 limited
    grep -q "^hookit: './log-rt.1' cannot be written: File too large" err
    [ ! -e log-rt.1 ]
    # What is missing is named.
    JPROFOPTS=nopidx,json,folded run -3 limited
    grep -q "log-rt.1' cannot.*; './log-rt.1.json' cannot.*; './log-rt.1.folded' cannot" err
    mkdir log-rt.1.folded
    JPROFOPTS=nopidx,raw_cycles,folded,saveminima=minima run -3 "$hooked" tree 1
    [[ $output == "hookit: './log-rt.1.folded' is not a regular file."* ]]
    [ -s minima ]
    rmdir log-rt.1.folded
    JPROFOPTS=nopidx,raw_cycles,calltrace run -3 limited
    grep -q ' Lost :: 40000 events that could not be written' log-gen.1
}

@test "a program that runs with another user's rights ignores the environment" {
    [ "$(id -u)" -eq 0 ] || skip "needs root"
    mkdir logs
    chmod 777 logs . # nobody could write logs there
    install -m 4755 -o nobody "$hooked" setuid
    install "$hooked" usual
    export JPROFOPTS=nopidx,logpath=logs
    HOOKIT_PROFILER=/nonexistent run -3 ./setuid tree 1
    [ -z "$output" ]
    [ -z "$(ls logs)" ]
    run -3 setpriv --reuid=nobody --clear-groups ./usual tree 1
    [ "$(ls logs)" = log-rt.1 ]
}

@test "HOOKIT_PROFILER names a library that gets the events instead" {
    cat >count.c <<'END'
#include <hookit.h>
#include <stdio.h>
static int entered, left;
static void enter(void *function, void *stack, void *pc) { entered += function && stack && pc; }
static void leave(void *function, void *stack, void *pc) { left += function && stack && pc; }
static const struct hookit_profiler profiler = {sizeof profiler, enter, leave};
const struct hookit_profiler *hookit_get_profiler(void) { return &profiler; }
__attribute__((destructor)) static void show(void) { fprintf(stderr, "%d %d\n", entered, left); }
END
    "${CC:-cc}" -shared -fPIC -Wall -Wextra -Werror -I "$SOURCE_DIR/hookit/include" -o count.so count.c
    HOOKIT_PROFILER=./count.so run -3 "$hooked" tree 10
    [ "$output" = "32 32" ]
    HOOKIT_PROFILER=libc.so.6 run -3 "$hooked" tree 10
    [[ $output == *"this library is no profiler"* ]]
    HOOKIT_PROFILER=./none.so run -3 "$hooked" tree 10
    [[ $output == "hookit: HOOKIT_PROFILER=./none.so: "*"nothing is recorded." ]]
}

@test "the static library does the same" {
    "${CC:-cc}" -O2 -finstrument-functions -o static "$SOURCE_DIR/tests/progs/hooked.c" -I "$SOURCE_DIR/hookit/include" \
        "$BUILD_DIR/lib/libhookit.a" -L "$BUILD_DIR/lib" -la2n -lperfutil -lstdc++ -pthread -Wl,-rpath,"$BUILD_DIR/lib"
    ./static tree 1000 || true
    [ "$(rows)" = "1 1 F:tree
2 1000 F:middle
3 2000 F:leaf
2 1 F:leaf" ]
}

@test "hookit exports the hooks, its functions, the ways of ending and dlclose(), and no others" {
    nm -D --defined-only "$BUILD_DIR/lib/libhookit.so" | awk '$2 == "T" { print $3 }' | LC_ALL=C sort | paste -sd ' ' >exported
    [ "$(cat exported)" = "_Exit __cyg_profile_func_enter __cyg_profile_func_exit _exit daemon dlclose execl execle execlp execv execve execveat execvp execvpe fexecve hookit_flush hookit_join_1 hookit_reset hookit_start hookit_stop" ]
    echo '#include <hookit.h>' | tee alone.c >alone.cpp
    "${CC:-cc}" -std=c11 -Wall -Wextra -Wpedantic -Werror -I "$SOURCE_DIR/hookit/include" -fsyntax-only alone.c
    "${CXX:-c++}" -std=c++20 -Wall -Wextra -Wpedantic -Werror -I "$SOURCE_DIR/hookit/include" -fsyntax-only alone.cpp
}

@test "the examples of the manual work" {
    unset HOOKIT_PROFILING JPROFOPTS
    export LIBRARY_PATH=$BUILD_DIR/lib LD_LIBRARY_PATH=$BUILD_DIR/lib
    echo 'void twice(void) {} int main(void) { twice(); twice(); }' >app.c
    cc -O2 -fno-inline -finstrument-functions -o app app.c -lhookit
    HOOKIT_PROFILING=on ./app
    [ "$(rows log-rt.1_*)" = "1 1 F:main
2 2 F:twice" ]
    HOOKIT_PROFILING=on JPROFOPTS=raw_cycles,folded ./app
    grep -qE '^[0-9A-F]{8}_app;main;twice [0-9]+$' log-rt.1_*.folded
    rm log-rt*
    echo '__attribute__((noipa)) void twice(void) {} int main(void) { twice(); twice(); }' >fast.c
    cc -O2 -fpatchable-function-entry=5 -o fast fast.c -Wl,--no-as-needed -lhookit
    HOOKIT_PROFILING=on ./fast
    [ "$(rows log-rt.1_*)" = "1 1 F:main
2 2 F:twice" ]
}
