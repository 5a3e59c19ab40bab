#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Writing log-rt and log-rt.json of a million nodes: processor time, and bytes a node.
# Usage: bench/log_rt.sh [DIRECTORY], where the files are written and removed
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d "${1:-/var/tmp}/log_rt.XXXXXX")
trap 'rm -rf "$work"' EXIT
build=$root/build/bench
cmake -G Ninja -S "$root" -B "$build" -DCMAKE_BUILD_TYPE=Release -DPITRACE_TESTS=OFF -DPITRACE_BENCH=ON >/dev/null
cmake --build "$build" --target log_rt_bench >/dev/null
"$build/bench/log_rt_bench" "$work"
