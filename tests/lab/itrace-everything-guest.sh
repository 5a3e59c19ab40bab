#!/bin/bash
# SPDX-License-Identifier: MIT
# Guest part of long/itrace-everything.bats: follows all processes without loss under load, also in kernel code, while a
# shell at a terminal must answer. Prints "ok NAME" or "not ok NAME" for each promise.
# Usage: itrace-everything-guest.sh BUILD-FOLDER SECONDS LONGEST-ANSWER
set -u

here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "$1" && pwd)
seconds=$2
longest=$3
PATH=$build/bin:$PATH
module=/run/lab/ctl/pitrace.ko
work=$LAB_OUT/everything
mkdir -p "$work"
cd "$work" || exit

# shellcheck source=tests/lab/promises.bash
source "$here/promises.bash"

load() { # system calls, computation, and short processes
    dd if=/dev/zero of=/dev/null bs=64k 2>/dev/null &
    loads+=($!)
    bash -c 'while :; do :; done' &
    loads+=($!)
    bash -c 'while :; do /bin/true; done' &
    loads+=($!)
}
answers_soon() { # answers_soon NAME
    sed 's/^/# /' "$work/$1"
    awk -v max="$longest" '$1 == "terminal" && $2 == "answers" && $3 > 0 { good = $9 <= max } END { exit !good }' "$work/$1"
}

loads=()
swtrace init --source driver -t cont -s 8 >/dev/null || exit
for what in -user ''; do
    name=${what:+user}
    name=${name:-all}
    # shellcheck disable=SC2086 # one option or none
    swtrace it_install -cont $what -p all >/dev/null
    swtrace on >/dev/null
    load
    swtrace it_on
    "$build/tests/terminal" "$seconds" >"$work/$name" 2>&1
    # While it is on, the programs of the checks would be followed, too.
    promise "following-$name-code-can-be-turned-off" timeout 300 swtrace it_off
    swtrace it_info --json >"$work/$name.info"
    promise "a-terminal-answers-with-$name-code-followed" answers_soon "$name"
    promise "branches-are-recorded-of-$name-code" test "$(jq .branches "$work/$name.info")" -gt 100000
    kill "${loads[@]}"
    wait "${loads[@]}" 2>/dev/null
    loads=()
    timeout 300 swtrace it_remove
    timeout 300 swtrace off >"$work/$name.off"
    sed 's/^/# /' "$work/$name.off"
    rm -f "$work"/swtrace.nrm2*
done
promise the-trace-is-freed timeout 300 swtrace free
for ((i = 0; i < 100; i++)); do
    rmmod pitrace 2>/dev/null && break
    sleep 0.1
done
promise the-module-unloads test ! -e /dev/pitrace
promise the-module-loads-again insmod $module
echo "ok finished"
