# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# For the scripts that try ITrace in the lab's guest: itracer's output, kept and looked at. The caller sets tool and work.
# shellcheck disable=SC2154

# run NAME ARG...: itracer, its output kept, and shown where it does not say that all is well.
run() {
    local name=$1
    shift
    "$tool" "$@" >"$work/$name" 2>&1 && return
    sed "s|^|# $name: |" "$work/$name"
    return 1
}
# number NAME WORD: what stands behind that word at the beginning of a line of that output.
number() { awk -v word="$2" '$1 == word { print $2; exit }' "$work/$1"; }
