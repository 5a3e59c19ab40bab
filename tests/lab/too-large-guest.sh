#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Guest part of cpus.bats: requests more memory than there is, and then the size that the message names.
# Usage: too-large-guest.sh BUILD-DIR; prints "ok NAME" for each promise that holds, and the messages.

set -uo pipefail

PATH=$1/bin:$PATH
cd "$(mktemp -d)" || exit 1

promise() { # promise NAME COMMAND...
    local name=$1
    shift
    if "$@"; then echo "ok $name"; else echo "not ok $name"; fi
}

# refused OPTION...: prints the message and stores the size that it names in largest.
refused() {
    local status=0
    said=$(swtrace init --source driver "$@" 2>&1) || status=$?
    printf '# swtrace init %s: exit status %s: %s\n' "$*" "$status" "$said"
    ((status == 1)) && [[ $said =~ At\ most\ ([0-9]+)\ MB\ for\ each\ CPU ]] && largest=${BASH_REMATCH[1]}
}

fits() { # fits MB: trace buffers of that size, with an MTE buffer of 1 MB
    swtrace init --source driver -s "$1" -sm 1 && swtrace free
}

free_kb() { awk '$1 == "MemFree:" { print $2 }' /proc/meminfo; }

largest=0
before=$(free_kb)
promise too-large-buffers-are-refused-with-the-largest-size refused -s 4000
echo "# $largest MB"
promise the-largest-size-is-plausible test "$largest" -gt 16
promise a-refused-request-frees-its-memory test "$(free_kb)" -gt $((before - 64 * 1024))
promise slightly-smaller-buffers-fit fits $((largest - 16))
promise larger-buffers-are-refused refused -s $((largest * 2)) -sm 1
promise small-buffers-fit fits 1
