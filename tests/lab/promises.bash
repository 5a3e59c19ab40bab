# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# For guest scripts that test the module: promises, and checks of drivertool's output.
# The caller has set tool (the program) and work (a folder for its output).
# shellcheck disable=SC2154

# promise NAME COMMAND...: runs COMMAND and prints whether it succeeded.
promise() {
    local name=$1
    shift
    if "$@"; then echo "ok $name"; else echo "not ok $name"; fi
}
# trace NAME ARG...: runs "drivertool run" and stores its output.
trace() {
    local name=$1
    shift
    "$tool" run "$@" >"$work/$name" 2>&1
}
# In conditions f("word") is the field after that word in drivertool's line.
f='function f(word, i) { for (i = 2; i < NF; i++) if ($i == word) return $(i + 1) }'
# has NAME AWK-CONDITION: a line of that output satisfies it.
has() { awk "$f $2 { found = 1 } END { exit !found }" "$work/$1"; }
lacks() { ! has "$@"; }
# word_of NAME FIRST-WORD NUMBER: field NUMBER of the first line that begins with FIRST-WORD.
word_of() { awk -v key="$2" '$1 == key { print $'"$3"'; exit }' "$work/$1"; }
