# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# For guest scripts that test ITrace: runs itracer, stores and checks its output. The caller sets tool and work.
# shellcheck disable=SC2154

# run NAME ARG...: runs itracer and stores its output; prints it if itracer fails.
run() {
    local name=$1
    shift
    "$tool" "$@" >"$work/$name" 2>&1 && return
    sed "s|^|# $name: |" "$work/$name"
    return 1
}
# number NAME WORD: the number after WORD at the beginning of a line of that output.
number() { awk -v word="$2" '$1 == word { print $2; exit }' "$work/$1"; }

# meet_a_debugger: a debugger can attach to a traced thread and step it.
meet_a_debugger() {
    local looper holder i
    "$tool" loop-for-ever &
    looper=$!
    "$tool" hold $looper >"$work/hold" 2>&1 &
    holder=$!
    for ((i = 0; i < 100; i++)); do grep -q ready "$work/hold" && break; sleep 0.1; done
    promise a-debugger-steps-a-traced-program run debug step $looper 100
    kill -KILL $holder
    wait $holder 2>/dev/null
    sleep 0.2
    promise a-program-continues-after-the-tool-was-killed kill -0 $looper
    kill -KILL $looper
    wait $looper 2>/dev/null
}
