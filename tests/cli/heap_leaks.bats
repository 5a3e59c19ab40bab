#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# The search for leaked blocks by libheapit: a program that loses blocks in known numbers and keeps others in known places.

bats_require_minimum_version 1.5.0

setup() {
    [[ -e $BUILD_DIR/lib/libheapit.so ]] || skip "needs a build without sanitizers"
    program="$BUILD_DIR/tests/leaking"
    cd "$BATS_TEST_TMPDIR" || return
    PATH=$BUILD_DIR/bin:$PATH
    unset LD_PRELOAD HEAPIT_LEAKS
}

# record COMMAND...: runs it with the library; the log is $log, that of the last process.
record() {
    rm -rf logs && mkdir logs
    HEAPIT_DIR=$PWD/logs LD_PRELOAD=$BUILD_DIR/lib/libheapit.so "$@" || return
    log=$(printf '%s\n' logs/heap.* | tail -n 1)
}

# state: why it is not known which blocks are leaked, or "searched".
state() { heapstats --json "$log" | jq -r .search.state; }

# leaks: leaked blocks and bytes, those that are reached by their middle only, and the function, of the paths that have any.
leaks() {
    heapstats --json "$log" | jq -r '.paths[] | select(.leaked_blocks + .inside_blocks > 0) |
        "\(.leaked_blocks) \(.leaked_bytes) \(.inside_blocks) \(.inside_bytes) \(.functions[0].name)<\(.functions[1].name)"' |
        grep -v allocate_dtv | sort -k 5
}

planted="0 0 2 100 kept_in_the_middle<keeps
5 240 0 0 lost_cycle<loses
1000 48000 0 0 lost_list<loses
3 300 0 0 lost_pointer<lose_in_thread
3 300 0 0 lost_pointer<loses
1 60 0 0 lost_with_its_holder<loses"

@test "leaked blocks are exact, by call path, whichever thread ends the process and how" {
    local way
    # What statics, stacks, registers, thread-local and mapped memory, and libraries refer to is not leaked.
    for way in return thread _exit quick_exit; do
        record "$program" "$way"
        [ "$(state)" = searched ]
        [ "$(leaks)" = "$planted" ]
    done
    # The heap directly behind the program's data.
    record setarch -R "$program" return
    [ "$(leaks)" = "$planted" ]
}

@test "the reports have what is leaked" {
    record "$program"
    run -0 heapstats "$log"
    [[ $output == *"Leaked: 1012 blocks of 48900 bytes: nothing refers to them any more."* ]]
    [[ $output == *"Perhaps leaked: "*" bytes: only pointers into their middle refer to them."* ]]
    [ "$(heapstats --sort=leaked --lines=1 "$log" | awk '/LEAKED BYTES/ { getline; print $6, $7; getline; print $1 }')" = "48000 1000
lost_list:leaking" ]
    [ "$(heapstats --folded=leaked "$log" | awk '{ n += $NF } END { print n }')" = 48900 ]
    heapstats --folded=leaked "$log" | grep -q 'main;loses;lost_cycle 240$'
    [ "$(heapstats "$log" "$log" | awk 'NR == 2 { print $6 }')" = 48900 ]
    run -0 run.heap --sort=leaked -o out -- "$program"
    [[ $output == *"Leaked, by call path"*"lost_list:leaking"* ]]
    run -0 run.heap --leaks=0 -o none -- "$program"
    [[ $output == *"Leaked: not known, since it was not searched for, or the process has not ended by exit()."* ]]
    # Nor is it known what has changed.
    run -3 heapstats --diff --sort=leaked none/heap.* "$log"
    [[ $output == *"warning: none/heap."*": which blocks are leaked: it was not searched for"* ]]
    run -3 heapstats --folded=leaked none/heap.*
    run -255 run.heap --leaks=x -- "$program"
}

@test "they are those that valgrind finds definitely or indirectly lost" {
    command -v valgrind >/dev/null || skip "valgrind is not installed"
    valgrind --leak-check=full "$program" 2>report
    cat report
    [ "$(awk '/definitely lost:|indirectly lost:/ { gsub(",", ""); bytes += $4; blocks += $7 } END { print blocks, bytes }' report)" = "1012 48900" ]
}

@test "without a whole search nothing is called leaked" {
    local way
    (ulimit -c 0 && record "$program" abort) || true
    log=$(echo logs/heap.*)
    [ "$(state)" = not_searched ]
    [ -z "$(leaks)" ]
    HEAPIT_LEAKS=0 record "$program"
    [ "$(state)" = not_searched ]
    # A program that another one traces.
    strace -o /dev/null true || skip "strace does not work here"
    record strace -f -o /dev/null "$program"
    [ "$(state)" = not_traced ]
    run -3 heapstats "$log"
    [[ $output == *"Missing: which blocks are leaked: its threads could not be stopped by ptrace: another program traces it"* ]]
    [[ $output != *"LEAKED BYTES"* ]]
    # One without other threads need not be traced.
    record strace -f -o /dev/null "$BUILD_DIR/tests/allocates" simple
    [ "$(state)" = searched ]
}

@test "children of fork() and vfork(), and the next program of a process" {
    record "$BUILD_DIR/tests/allocates" fork
    for log in logs/heap.*; do [ "$(state)" = searched ]; done
    # All of the first program's blocks are known; the child of vfork() has none of its own.
    record "$BUILD_DIR/tests/allocates" vfork
    [ "$(for log in logs/heap.*; do state; done | sort)" = "searched
searched" ]
    record "$BUILD_DIR/tests/allocates" exec
    [ "$(for log in logs/heap.*; do state; done | sort)" = "not_searched
searched" ]
}

@test "the program does not see the search: no signal, no child, its own status" {
    cat >sees.c <<'END'
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
static void on_signal(int number) { char text[] = "signal\n"; (void)number; if (write(1, text, 7) < 0) abort(); }
static void* waits(void* unused) { for (;;) pause(); return unused; }
static void at_end(void) { if (wait(NULL) != -1 || errno != ECHILD) printf("a child\n"); else printf("no child\n"); }
int main(void) {
  pthread_t thread;
  for (int i = 1; i < 32; ++i) if (i != SIGKILL && i != SIGSTOP) signal(i, on_signal);
  for (int i = 0; i < 20; ++i) pthread_create(&thread, NULL, waits, NULL);
  atexit(at_end);
  char* volatile text = strdup("kept until here");
  return text[0] == 'k' ? 7 : 8;
}
END
    cc -O1 -o sees sees.c -pthread
    run -7 record ./sees
    [ "$output" = "no child" ]
    log=$(echo logs/heap.*)
    [ "$(state)" = searched ]
}

@test "programs that end in the midst of anything end as they would" {
    cat >ends.c <<'END'
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
static void* volatile kept;
static void* in_realloc(void* block) { for (size_t i = 1;; ++i) block = realloc(block, i % 3000 + 1); }
static void* in_fork(void* unused) { for (;;) if (fork() == 0) { free(malloc(10)); _exit(0); } else wait(NULL); return unused; }
static void* in_vfork(void* unused) { if (vfork() == 0) { usleep(200000); _exit(0); } return unused; }
static void* in_thread(void* status) { exit((int)(long)status); }
static void descriptors(void) { struct rlimit none = {0, 0}; for (int i = 0; i < 1024; ++i) close(i); setrlimit(RLIMIT_NOFILE, &none); }
static void unmapped(void) {
  char* block = malloc(8 << 20);
  munmap(block - 16, 8 << 20);
  void** both = malloc(2 * sizeof *both);
  both[0] = block;
  both[1] = aligned_alloc(4096, 4096);
  mprotect(both[1], 4096, PROT_NONE);
  kept = both;
}
int main(int count, char** words) {
  pthread_t thread;
  pthread_attr_t small;
  pthread_attr_init(&small);
  pthread_attr_setstacksize(&small, 16384);
  if (count != 2) return 8;
  if (!strcmp(words[1], "realloc")) for (int i = 0; i < 4; ++i) pthread_create(&thread, NULL, in_realloc, NULL);
  if (!strcmp(words[1], "fork")) pthread_create(&thread, NULL, in_fork, NULL);
  if (!strcmp(words[1], "vfork")) pthread_create(&thread, NULL, in_vfork, NULL);
  if (!strcmp(words[1], "descriptors")) descriptors();
  if (!strcmp(words[1], "unmapped")) unmapped();
  if (!strcmp(words[1], "small")) { pthread_create(&thread, &small, in_thread, (void*)3); pause(); }
  if (!strcmp(words[1], "last")) { pthread_create(&thread, NULL, in_thread, (void*)3); pthread_exit(NULL); }
  usleep(50000);
  return 3;
}
END
    cc -O1 -o ends ends.c -pthread
    local way
    for way in realloc fork vfork descriptors unmapped small last; do
        echo "$way"
        run -3 record timeout 60 ./ends "$way"
        [ -z "$output" ]
        for log in logs/heap.*; do
            # Each of them is searched, or the reason is known.
            case "$way $(state)" in
                *" searched" | "realloc not_stopped" | "descriptors not_readable" | "fork not_searched") ;;
                *) state && false ;;
            esac
            [ -z "$(leaks)" ]
        done
    done
}
