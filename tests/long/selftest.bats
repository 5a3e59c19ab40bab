#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Tests of the lab itself (scripts/lab): input and output of the guest, exit statuses, and cleanup.

# shellcheck disable=SC2016,SC1003 # expanded by the guest's shell

bats_require_minimum_version 1.5.0

setup_file() {
    cd "$BATS_TEST_DIRNAME/../.." || return
    export LAB=$PWD/scripts/lab
    # Here, since the first use downloads a kernel: not part of a test's time.
    "$LAB" --fetch
}

setup() {
    cd "$BATS_TEST_DIRNAME/../.." || return
    export TMPDIR=$BATS_TEST_TMPDIR/tmp
    mkdir -p "$TMPDIR"
}

# Prints the ids of the QEMUs whose command line names this test's temporary folder.
qemus() { pgrep -f "^qemu-system-x86_64 .*$TMPDIR/pitrace-lab" || true; }

teardown() {
    local qemu
    for qemu in $(qemus); do
        kill -KILL "$qemu"
    done
}

# eventually SECONDS COMMAND...: repeats COMMAND until it succeeds, for at most SECONDS.
eventually() {
    local tries=$(($1 * 10))
    shift
    while ! "$@"; do
        [ $((tries -= 1)) -gt 0 ] || return 1
        sleep 0.1
    done
}
some_qemu() { [ -n "$(qemus)" ]; }
no_qemu() { [ -z "$(qemus)" ]; }

@test "help goes to standard output, and wrong usage exits 2" {
    run --separate-stderr "$LAB" --help
    [ "$status" -eq 0 ]
    [[ $output == Usage:* && -z $stderr ]]
    local words
    for words in "" "uname" "--smp 0 -- true" "--icount --smp 2 -- true" "--nonsense -- true" "--timeout x -- true" \
        "--kernel" "--kernel 6.1 --headers /tmp -- true" "--fetch -- true"; do
        # shellcheck disable=SC2086 # these are several words
        run "$LAB" $words
        [ "$status" -eq 2 ]
    done
}

@test "an unknown kernel exits 98" {
    run "$LAB" --no-module --kernel 6.1.0-1-nonsense-amd64 -- true
    [ "$status" -eq 98 ]
    run "$LAB" --no-module --kernel /etc/hostname -- true
    [ "$status" -eq 98 ]
    [[ $output == *"not a bzImage"* ]]
}

@test "a kernel that crashes before the lab's commands run is booted at most twice more" {
    run "$LAB" --no-module --append rdinit=/nothing -- true
    [ "$status" -eq 99 ]
    [ "$(grep -c 'booted once more' <<<"$output")" -eq 2 ]
}

@test "a kernel that crashes after the lab's commands began is not booted again" {
    run "$LAB" --no-module -- sh -c 'echo "<0>Oops: int3: 0000 [#1]" >/dev/kmsg
        echo "<0>RSP: 0018:ff6590ef4052ba00 EFLAGS: 00010293" >/dev/kmsg; echo c >/proc/sysrq-trigger; sleep 100'
    [ "$status" -eq 99 ]
    [[ $output != *"booted once more"* ]]
}

@test "a kernel that crashes with impossible EFLAGS is booted again, with an empty \$LAB_OUT" {
    run "$LAB" --no-module --out "$BATS_TEST_TMPDIR/out" -- \
        sh -c '[ -e $LAB_OUT/left ] && exit 7; echo >$LAB_OUT/left
            echo "<0>Oops: double fault: 0000 [#1]" >/dev/kmsg
            echo "<0>RSP: 0018:ff6590ef4052ba00 EFLAGS: 8152c293" >/dev/kmsg; echo c >/proc/sysrq-trigger; sleep 100'
    [ "$status" -eq 99 ]
    [ "$(grep -c 'flags that no processor can have' <<<"$output")" -eq 2 ]
}

@test "arguments, streams, files, environment, exit status and \$LAB_OUT pass correctly between guest and host" {
    cat >"$BATS_TEST_TMPDIR/inside" <<'END'
        printf '[%s]\n' "$@"
        echo complaint >&2
        pwd
        id -u
        printf 'a\r\nb\n\000\377' >$LAB_OUT/raw
        printf 'a\r\nb\n\000\377'
        echo changed >"${0%/*}/host-file"
        [ "$LAB" = 1 ] && [ "$LAB_KERNEL" = "$(uname -r)" ] && [ "$HOME" = /root ] && [ -z "$SECRET" ] || exit 41
        [ "$(hostname)" = lab ] && [ -z "$(cat)" ] || exit 42
        [ -e /sys/kernel/tracing/events ] && [ -d /sys/kernel/debug/tracing ] && [ -w /dev/shm ] || exit 43
        modprobe msr && [ -e /dev/cpu/1/msr ] || exit 44
        exec 5<>/dev/ptmx || exit 45
        seq 200000 | tee $LAB_OUT/many | md5sum >$LAB_OUT/sum
        exit 37
END
    echo host >"$BATS_TEST_TMPDIR/host-file"
    SECRET=1 run --separate-stderr "$LAB" --no-module --out "$BATS_TEST_TMPDIR/out" -- \
        sh "$BATS_TEST_TMPDIR/inside" "two  words" "it's" '$HOME"\' ''
    [ "$status" -eq 37 ]
    [ "${lines[0]}" = "[two  words]" ]
    [ "${lines[1]}" = "[it's]" ]
    [ "${lines[2]}" = '[$HOME"\]' ]
    [ "${lines[3]}" = "[]" ]
    [ "${lines[4]}" = "$PWD" ]
    [ "${lines[5]}" = 0 ]
    [ "${lines[6]}" = $'a\r' ]
    [ "$stderr" = complaint ]
    [ "$(cat "$BATS_TEST_TMPDIR/host-file")" = host ]
    [ "$(od -An -c "$BATS_TEST_TMPDIR/out/raw")" = "$(printf 'a\r\nb\n\000\377' | od -An -c)" ]
    [ "$(cat "$BATS_TEST_TMPDIR/out/lab-status")" = 37 ]
    [ "$(md5sum <"$BATS_TEST_TMPDIR/out/many")" = "$(cat "$BATS_TEST_TMPDIR/out/sum")" ]
    grep -q 'Linux version' "$BATS_TEST_TMPDIR/out/lab-console.log"
    [ -z "$(ls -A "$TMPDIR")" ]
}

@test "output appears while the command runs, and none of it is lost" {
    "$LAB" --no-module -- sh -c 'echo early; sleep 4; seq 1000000; kill -9 $$' >"$BATS_TEST_TMPDIR/output" &
    local lab=$!
    eventually 60 grep -q early "$BATS_TEST_TMPDIR/output"
    [ "$(wc -l <"$BATS_TEST_TMPDIR/output")" -eq 1 ]
    local code=0
    wait "$lab" || code=$?
    [ "$code" -eq 137 ]
    [ "$(tail -n +2 "$BATS_TEST_TMPDIR/output" | md5sum)" = "$(seq 1000000 | md5sum)" ]
}

@test "a kernel warning exits 99 and is shown" {
    run "$LAB" --no-module -- sh -c 'echo "WARNING: CPU: 0 made up" >/dev/kmsg; exit 3'
    [ "$status" -eq 99 ]
    [[ $output == *"WARNING: CPU: 0 made up"* && $output == *"exit status was 3"* ]]
}

@test "a panic exits 99, also after a user program crashed" {
    run "$LAB" --no-module -- sh -c 'sh -c "kill -SEGV \$\$"; echo c >/proc/sysrq-trigger; sleep 100'
    [ "$status" -eq 99 ]
    [[ $output == *"Kernel panic"* && $output == *"not reported"* ]]
}

@test "a timeout exits 97 and leaves no process or file" {
    run "$LAB" --no-module --timeout 5 -- sleep 100
    [ "$status" -eq 97 ]
    no_qemu
    [ -z "$(ls -A "$TMPDIR")" ]
}

@test "SIGINT, SIGTERM and SIGKILL leave no QEMU behind" {
    local signal code
    for signal in INT TERM KILL; do
        # A background job of a script ignores SIGINT; a lab started at a terminal does not.
        env --default-signal=INT "$LAB" --no-module -- sleep 100 >/dev/null 2>&1 &
        local lab=$!
        eventually 20 some_qemu
        kill "-$signal" "$lab"
        code=0
        wait "$lab" || code=$?
        [ "$code" -eq $((128 + $(kill -l "$signal"))) ]
        eventually 5 no_qemu
        [ "$signal" = KILL ] || [ -z "$(ls -A "$TMPDIR")" ]
    done
}

@test "two guests run at the same time, one with its output closed early, one without ACPI" {
    "$LAB" --no-module -- seq 300000 | head -n 1 >"$BATS_TEST_TMPDIR/first" &
    local lab=$!
    run "$LAB" --no-module --append acpi=off -- sh -c 'echo second; exit 5'
    [ "$status" -eq 5 ]
    [ "$output" = second ]
    wait "$lab"
    [ "$(cat "$BATS_TEST_TMPDIR/first")" = 1 ]
    [ -z "$(ls -A "$TMPDIR")" ]
}

@test "in the instruction-count lab the time-stamp counter advances by one per instruction" {
    cat >"$BATS_TEST_TMPDIR/count.c" <<'END'
#include <stdio.h>
#include <x86intrin.h>
int main(void)
{
    for (int round = 0; round < 3; round++)
        for (long n = 1000; n <= 100000; n *= 10) {
            long left = n;
            unsigned long long start = __rdtsc();
            __asm__ volatile("1: dec %0; jnz 1b" : "+r"(left));
            printf("%lld\n", (long long)(__rdtsc() - start) - 2 * n);
        }
}
END
    gcc -O2 -o "$BATS_TEST_TMPDIR/count" "$BATS_TEST_TMPDIR/count.c"
    run "$LAB" --icount --no-module -- "$BATS_TEST_TMPDIR/count"
    [ "$status" -eq 0 ]
    [ "${#lines[@]}" -eq 9 ]
    # The same small constant nine times: only the loop was counted.
    [ "$(printf '%s\n' "${lines[@]}" | sort -u | wc -l)" -eq 1 ]
    [ "${lines[0]}" -ge 0 ]
    [ "${lines[0]}" -le 20 ]
}
