#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The guest's part of cpus.bats: asks for more than there is, and then for what was said to fit.
# Usage: too-large-guest.sh BUILD-DIR; "ok NAME" for each promise that holds, and what was said.

set -uo pipefail

PATH=$1/bin:$PATH
cd "$(mktemp -d)" || exit 1

promise() { # promise NAME COMMAND...
    local name=$1
    shift
    if "$@"; then echo "ok $name"; else echo "not ok $name"; fi
}

# refused OPTION...: prints what was said. Nothing may be left of it.
refused() {
    local status=0
    said=$(swtrace init --source driver "$@" 2>&1) || status=$?
    printf '# swtrace init %s: exit status %s: %s\n' "$*" "$status" "$said"
    ((status == 1)) && [[ $said =~ At\ most\ ([0-9]+)\ MB\ for\ each\ CPU ]] && largest=${BASH_REMATCH[1]}
}

fits() { # fits MB: of trace buffer, with an MTE buffer of 1 MB
    swtrace init --source driver -s "$1" -sm 1 && swtrace free
}

free_kb() { awk '$1 == "MemFree:" { print $2 }' /proc/meminfo; }

largest=0
before=$(free_kb)
promise refused-with-the-largest-that-fits refused -s 4000
echo "# $largest MB"
promise the-largest-makes-sense test "$largest" -gt 16
promise what-was-refused-is-given-back test "$(free_kb)" -gt $((before - 64 * 1024))
promise a-little-less-fits fits $((largest - 16))
promise more-does-not refused -s $((largest * 2)) -sm 1
promise a-small-one-fits fits 1
