#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# hookit with functions that are patched: the same calls as with -finstrument-functions, and a program that stays correct.
# shellcheck disable=SC2016 # programs of the inner shell

bats_require_minimum_version 1.5.0

setup() {
    hooked="$BUILD_DIR/tests/hooked" patched="$BUILD_DIR/tests/patched" cases="$BUILD_DIR/tests/patched_cases"
    ! readelf -d "$BUILD_DIR/lib/libhookit.so" | grep -qE 'NEEDED.*lib(a|t|ub)san' || skip "needs a build without sanitizers"
    cd "$BATS_TEST_TMPDIR" || return
    export HOOKIT_PROFILING=on JPROFOPTS=nopidx
}

# rows FILE: prints level, calls and name of each row of a log-rt without metrics, except for threads.
rows() {
    awk '/^  LV / { rows = 1; next } /^$/ { rows = 0 } rows { $3 = ""; print }' "${1:-log-rt.1}" | tr -s ' ' | grep -v '^0 '
}

# as_before WHAT N: the cases print the same with hooks of each kind as without; the log is that without metrics.
as_before() {
    HOOKIT_PROFILING=off "$cases" "$@" >expected
    JPROFOPTS=nopidx,logprefix=clock,ptt_cycles "$cases" "$@" 2>/dev/null | diff expected -
    JPROFOPTS=nopidx,logprefix=cycles,raw_cycles "$cases" "$@" | diff expected -
    "$cases" "$@" | diff expected -
    [ -s expected ]
    [ -s clock-rt.1 ]
    [ -s cycles-rt.1 ]
}

@test "patched functions give the trees of instrumented ones" {
    local what
    for what in 'tree 1000' 'recursive 100' 'mutual 5' 'jumps 100' callback 'control 1' '_exit 5' 'exec 5'; do
        rm -f log-rt* i-rt*
        read -ra words <<<"$what"
        JPROFOPTS=nopidx,logprefix=i "$hooked" "${words[@]}" >first 2>&1 || echo $? >>first
        "$patched" "${words[@]}" >second 2>&1 || echo $? >>second
        diff first second
        for log in i-rt.[0-9]; do diff <(rows "$log") <(rows "log-rt.${log#i-rt.}"); done
    done
    # Only those that call other functions have frames when longjmp() ends them: that of dive() at the depth 0 has one, too.
    "$patched" jumps 1000 || true
    [ "$(rows | grep -c 'F:dive$')" -eq 21 ]
    [ "$(rows | grep 'F:leaf')" = "2 1000 F:leaf" ]
}

@test "arguments and results of every class are the same byte for byte" {
    as_before arguments 1000
    [ "$(rows | awk '$3 == "F:many_arguments" { print $2 }')" -eq 1000 ]
    # A thread's first event prepares its tree.
    as_before first
}

@test "exceptions pass through patched functions, and later calls have the right callers" {
    as_before catches 100
    [ "$(rows)" = "1 1 F:catches
2 100 F:cleans_up
3 100 F:throws
4 100 F:throws
5 100 F:throws
6 100 F:throws
7 100 F:throws
8 100 F:throws
3 100 F:leaf
2 100 F:leaf" ]
    # A program that has its own unwinder.
    "${CXX:-c++}" -std=c++20 -O2 -fpatchable-function-entry=5 -static-libgcc -static-libstdc++ -o static \
        "$SOURCE_DIR/tests/progs/patched_cases.cpp" -I "$SOURCE_DIR/hookit/include" \
        -L "$BUILD_DIR/lib" -lhookit -Wl,-rpath,"$BUILD_DIR/lib"
    JPROFOPTS=nopidx,logprefix=static run -0 ./static catches 100
    [ "$output" = 100 ]
    diff <(rows) <(rows static-rt.1)
}

@test "a function that ends with a jump is the caller of the next one, and both return" {
    as_before jumps 1000
    [ "$(rows)" = "1 1 F:calls_jumper
2 1000 F:ends_with_jump
3 1000 F:leaf
3 1000 F:jumped_to
4 1000 F:leaf" ]
    # What the next one does is its own.
    awk '$NF == "F:calls_jumper" { good = $2 == 1 } $NF == "F:jumped_to" { good = good && $3 == 1000 } END { exit !good }' cycles-rt.1
}

@test "backtrace() sees through patched functions, and a thread may end below them" {
    as_before backtrace
    grep -qx all expected
    as_before exit
    [ "$(rows | grep -c F:leaf)" -eq 11 ]
}

@test "each of eight threads has its tree" {
    "$cases" threads 100
    [ "$(rows | awk '$3 == "F:calls_jumper" { sum += $2 } END { print sum }')" -eq 800 ]
    [ "$(rows | awk '$3 == "F:leaf" { sum += $2 } END { print sum }')" -eq 4800 ]
    rm log-rt*
    "$patched" threads 100 || true
    [ "$(rows | awk '$3 == "F:middle" { sum += $2 } END { print sum }')" -eq 1000 ]
}

@test "signals that interrupt events leave a consistent tree" {
    run -3 "$patched" storm 500
    local signals=${output#signals } counted lost
    counted=$(rows | awk '$3 == "F:on_signal" { sum += $2 } END { print sum + 0 }')
    lost=$(awk '/Lost ::.*interrupted an event/ { print $3 }' log-rt.1)
    echo "$signals signals, $counted counted, ${lost:-0} events lost"
    ((counted <= signals && counted + ${lost:-0} / 2 >= signals))
    [ "$(rows | awk '$1 == 1 && $3 != "F:on_signal"')" = "1 1 F:storm" ]
}

@test "a child of fork() has hooks, and not its parent's counts" {
    JPROFOPTS='' "$patched" forks || true
    logs=(log-rt.1_*)
    [ "${#logs[@]}" -eq 2 ]
    [ "$(rows "$(grep -L 'F:middle' log-rt.1_*)" | head -n 1)" = "1 1 F:leaf" ]
}

@test "hooks are switched while threads run, a hundred times" {
    # Started and stopped in the middle of everything, it has rows of the functions all the same: not each time, as on a busy machine the
    # threads may not run while the hooks are on.
    for ((tries = 0; tries < 20; tries++)); do
        JPROFOPTS=nopidx,nostart,logprefix=t run -0 "$cases" toggles 100
        [ "$output" = "wrong 0 failed 0" ]
        ! grep -q 'F:fibonacci$' t-rt.* || return 0
    done
    false
}

# bats test_tags=long
@test "hooks are switched while threads run, a thousand times" {
    JPROFOPTS=nopidx,nostart,logprefix=t run -0 "$cases" toggles 1000
    [ "$output" = "wrong 0 failed 0" ]
}

@test "functions of a library that was loaded later get hooks with the next start" {
    echo 'volatile long sink; long inner(long n) { return sink + n; } long loaded(long n) { return inner(n) + 1; }' >loaded.c
    "${CC:-cc}" -O2 -fno-inline -fpatchable-function-entry=5 -shared -fPIC -o loaded.so loaded.c
    JPROFOPTS=nopidx,nostart run -0 "$cases" loads ./loaded.so
    [ "$output" = 3 ]
    [ "$(awk '/^  LV / { rows = 1; next } /^$/ { rows = 0 } rows && $1 > 0 { print $1, $2 }' log-rt.1)" = "1 1
2 1" ]
}

@test "programs of each kind are patched: position-independent or not, stripped, with other numbers of NOPs, preloaded" {
    local options
    cp "$SOURCE_DIR/tests/progs/hooked.c" .
    for options in '5 -no-pie' '5 -pie -fPIE -s' '8,3' 16 '7 -fcf-protection' '21,5 -fcf-protection -no-pie'; do
        read -ra words <<<"$options"
        "${CC:-cc}" -O2 -DPATCHED -fpatchable-function-entry="${words[0]}" "${words[@]:1}" -o program hooked.c -I "$SOURCE_DIR/hookit/include" \
            -Wl,--no-as-needed -L "$BUILD_DIR/lib" -lhookit -pthread -Wl,-rpath,"$BUILD_DIR/lib"
        rm -f log-rt*
        run -3 ./program tree 10
        [ -z "$output" ]
        [ "$(rows | awk '{ print $1, $2 }' | paste -sd ' ')" = "1 1 2 10 3 20 2 1" ] || {
            echo "$options"
            rows
            return 1
        }
    done
    echo 'void twice(void) {} int main(void) { twice(); twice(); }' >plain.c
    "${CC:-cc}" -O2 -fno-inline -fno-ipa-pure-const -fpatchable-function-entry=5 -o plain plain.c
    rm -f log-rt*
    LD_PRELOAD="$BUILD_DIR/lib/libhookit.so" ./plain
    rows | grep -qx '1 1 F:main'
    # Four bytes are too few for a call.
    "${CC:-cc}" -O2 -fno-inline -fpatchable-function-entry=4 -o short plain.c
    LD_PRELOAD="$BUILD_DIR/lib/libhookit.so" JPROFOPTS=nopidx,verbose,logprefix=s run -0 ./short
    [ ! -s s-rt.1 ] || [ -z "$(rows s-rt.1)" ]
}

@test "while a thread blocks SIGTRAP the functions are not patched, and a message says so" {
    cat >blocks.c <<'END'
#include <hookit.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>
__attribute__((patchable_function_entry(0))) static void *sleeps(void *set) { sigfillset(set); pthread_sigmask(SIG_SETMASK, set, 0); pause(); return 0; }
__attribute__((patchable_function_entry(0))) int main(void) {
    sigset_t set; pthread_t thread; pthread_create(&thread, 0, sleeps, &set); usleep(100000); printf("%d\n", hookit_start()); }
__attribute__((noinline)) void patchable(void) { pause(); }
END
    "${CC:-cc}" -O2 -fpatchable-function-entry=5 -o blocks blocks.c -I "$SOURCE_DIR/hookit/include" -L "$BUILD_DIR/lib" -lhookit -pthread -Wl,-rpath,"$BUILD_DIR/lib"
    JPROFOPTS=nopidx,nostart run -0 ./blocks
    [[ $output == *"hookit: Functions cannot be patched while thread "*" blocks SIGTRAP"*"-1" ]]
}

@test "without HOOKIT_PROFILING=on no instruction is changed" {
    HOOKIT_PROFILING=off run -3 "$patched" tree 10
    [ -z "$output" ]
    [ -z "$(ls)" ]
    cat >looks.c <<'END'
#include <stdio.h>
__attribute__((noinline)) void function(void) { __asm__ volatile(""); }
int main(void) { const unsigned char *code = (const unsigned char *)function; printf("%02x%02x\n", code[0], code[4]); function(); }
END
    "${CC:-cc}" -O2 -fpatchable-function-entry=5 -o looks looks.c
    export LD_PRELOAD="$BUILD_DIR/lib/libhookit.so"
    [ "$(HOOKIT_PROFILING=off ./looks)" = "$(env -u LD_PRELOAD ./looks)" ]
    [[ $(./looks) == e9* ]]
}

@test "what an event executes leaves vector registers alone" {
    # With meters that call other libraries they are saved; else nothing but system calls is called.
    local object
    for object in "$BUILD_DIR"/jprof/engine/CMakeFiles/callflow_engine.dir/{differences,probes,recording}.cpp.o \
        "$BUILD_DIR"/hookit/CMakeFiles/hookit_core.dir/{hooks,patch/events}.cpp.o; do
        objdump -d "$object" >code
        nm -u "$object" >called
        grep -q '>:$' code
        run ! grep -E -m 3 '%[xyz]mm|%st|%k[0-7]' code
        run ! grep -E 'mem(cpy|set|move)' called
    done
}

@test "HOOKIT_PROFILER gets the events of patched functions" {
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
    "${CC:-cc}" -shared -fPIC -I "$SOURCE_DIR/hookit/include" -o count.so count.c
    HOOKIT_PROFILER=./count.so run -3 "$patched" tree 10
    [ "$output" = "32 32" ]
}
