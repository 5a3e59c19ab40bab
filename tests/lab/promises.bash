# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# For the scripts that exercise the module in the lab's guest: what they promise, and what drivertool said.
# The caller has set tool (the program) and work (a folder for its output).
# shellcheck disable=SC2154

# promise NAME COMMAND...: runs it and says whether it succeeded.
promise() {
    local name=$1
    shift
    if "$@"; then echo "ok $name"; else echo "not ok $name"; fi
}
# trace NAME ARG...: drivertool run, its output kept.
trace() {
    local name=$1
    shift
    "$tool" run "$@" >"$work/$name" 2>&1
}
# In conditions f("word") is what stands behind word in drivertool's line.
f='function f(word, i) { for (i = 2; i < NF; i++) if ($i == word) return $(i + 1) }'
# has NAME AWK-CONDITION: a line of that output satisfies it.
has() { awk "$f $2 { found = 1 } END { exit !found }" "$work/$1"; }
lacks() { ! has "$@"; }
# word_of NAME FIRST-WORD NUMBER: the word of that number in the first such line.
word_of() { awk -v key="$2" '$1 == key { print $'"$3"'; exit }' "$work/$1"; }
