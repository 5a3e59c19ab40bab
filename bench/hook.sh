#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The cost of a user hook with perf as the source, and of an LTTng-UST tracepoint in the same run if LTTng is installed
# (Debian: liblttng-ust-dev lttng-tools). Usage: bench/hook.sh [BUILD-DIR [BENCHMARK-OPTION...]]
set -euo pipefail

build=${1:-build/bench}
shift || true
work=$(mktemp -d)
export PITRACE_SOCKET=$work/socket LTTNG_HOME=$work
lttng=0
clean_up() {
  "$build/bin/swtrace" free >/dev/null 2>&1 || true
  if ((lttng)); then
    lttng destroy pitrace-bench >/dev/null 2>&1 || true
    kill "$(cat "$work/sessiond.pid")" 2>/dev/null || true
  fi
  rm -rf "$work"
}
trap clean_up EXIT

"$build/bin/swtrace" init --source perf -s 256 >/dev/null
"$build/bin/swtrace" enable 0x30
"$build/bin/swtrace" on
if command -v lttng-sessiond >/dev/null; then
  lttng=1
  lttng-sessiond --daemonize --no-kernel --pidfile "$work/sessiond.pid"
  lttng create pitrace-bench --output="$work/lttng" >/dev/null
  lttng enable-channel --userspace --subbuf-size=1M --num-subbuf=8 bench >/dev/null
  lttng enable-event --userspace --channel=bench 'pitrace_bench:ints,pitrace_bench:text' >/dev/null
  lttng start >/dev/null
else
  echo 'hook.sh: without LTTng: liblttng-ust-dev and lttng-tools are not installed' >&2
fi
"$build/bench/hook_bench" "$@"
"$build/bin/swtrace" info | grep 'Trace records'
if ((lttng)); then
  lttng stop 2>&1 | tail -n 3
fi
