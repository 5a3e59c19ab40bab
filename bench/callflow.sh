#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The cost of a pair of hookit's hooks, entry and exit, of both kinds, and of gprof's and uftrace's in the same run, if uftrace is installed.
# Usage: bench/callflow.sh [BUILD-DIR]
set -euo pipefail

build=$(readlink -f "${1:-build}")
source=$(readlink -f "$(dirname "$0")")/callflow.c
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

cc=${CC:-cc}
"$cc" -O2 -o bare "$source"
"$cc" -O2 -finstrument-functions -o hooked "$source" -L "$build/lib" -lhookit -Wl,-rpath,"$build/lib"
"$cc" -O2 -DPATCHED -fpatchable-function-entry=5 -o patched "$source" -Wl,--no-as-needed -L "$build/lib" -lhookit -Wl,-rpath,"$build/lib"
"$cc" -O2 -pg -o profiled "$source"

./bare 'no hooks'
./hooked 'hookit, off'
./patched 'hookit patched, off'
export HOOKIT_PROFILING=on
for metrics in nometrics raw_cycles ptt_cycles; do JPROFOPTS=$metrics ./hooked "hookit, $metrics"; done
for metrics in nometrics raw_cycles; do JPROFOPTS=$metrics ./patched "hookit patched, $metrics"; done
./profiled 'gprof'
if command -v uftrace >/dev/null; then uftrace record --no-libcall ./profiled 'uftrace'; fi
