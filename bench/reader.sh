#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The CPU time of the process that reads 100,000 records a second from the buffers and writes them to a file: pitrace's
# recorder in continuous mode, LTTng's consumer daemon, perf record. They run one after the other.
# Usage: bench/reader.sh BUILD-DIR [perf|driver [SECONDS]]. In the lab: scripts/lab -- bench/reader.sh ... driver
set -euo pipefail

build=$(readlink -f "${1:?Usage: reader.sh BUILD-DIR [perf|driver [SECONDS]]}")
source=${2:-perf}
seconds=${3:-20}
work=$(mktemp -d)
export PITRACE_SOCKET=$work/socket LTTNG_HOME=$work
clean_up() {
  "$build/bin/swtrace" free >/dev/null 2>&1 || true
  [[ ! -e $work/sessiond.pid ]] || kill "$(cat "$work/sessiond.pid")" 2>/dev/null || true
  rm -rf "$work"
}
trap clean_up EXIT
cd "$work"

hertz=$(getconf CLK_TCK)
# spent PID: the CPU time of the process so far, user and system, in milliseconds.
spent() { awk -v hertz="$hertz" '{ sub(/.*\) /, ""); print ($12 + $13) * 1000 / hertz }' "/proc/$1/stat"; }

# measure NAME PID FILE: measures until reader_load has written its rate to FILE, and two seconds more for the records that
# are still in the buffers.
measure() {
  local before
  before=$(spent "$2")
  until [[ -s $3 ]]; do sleep 0.5; done
  sleep 2
  awk -v name="$1" -v ms="$(($(spent "$2") - before))" -v seconds="$seconds" -v said="$(<"$3")" \
    'BEGIN { printf "%-8s %6d ms CPU time in %d s (%.2f %% of a processor), %s\n", name, ms, seconds, ms / seconds / 10, said }'
}
load() { "$build/bench/reader_load" "$1" "$seconds" >"$1.said"; }

swtrace() { "$build/bin/swtrace" "$@" >>"$work/log"; }
swtrace init --source "$source" -t cont -s 8 -f pitrace.nrm2
swtrace enable 0x30
swtrace on
sleep 3 # the kernel's symbols are written first
load hook &
measure pitrace "$("$build/bin/swtrace" info --json | jq .trace.recorder)" hook.said
wait $!
swtrace off
"$build/bin/swtrace" info | grep -i 'trace records' || true
swtrace free

if command -v lttng-sessiond >/dev/null; then
  {
    lttng-sessiond --daemonize --no-kernel --pidfile "$work/sessiond.pid"
    lttng create pitrace-bench --output="$work/lttng"
    lttng enable-channel --userspace --subbuf-size=1M --num-subbuf=8 bench
    lttng enable-event --userspace --channel=bench 'pitrace_bench:ints'
    lttng start
  } >>log 2>&1
  # LTTng starts the consumer when the first program with tracepoints runs.
  "$build/bench/reader_load" lttng 1 >/dev/null
  load lttng &
  measure lttng "$(pgrep -n lttng-consumerd)" lttng.said
  wait $!
  lttng destroy pitrace-bench >>log 2>&1
  kill "$(cat "$work/sessiond.pid")"
else
  echo 'reader.sh: without LTTng: liblttng-ust-dev and lttng-tools are not installed' >&2
fi

if command -v perf >/dev/null; then
  # A record of every page fault of reader_load alone: with -a perf would count its own. -m: 8 MB of buffers, as above.
  # shellcheck disable=SC2016 # sh expands it
  perf record -q -e page-faults -c 1 -m 2048 -o perf.data -- \
    sh -c 'sleep 1; "$0" fault "$1" >fault.said; sleep 4' "$build/bench/reader_load" "$seconds" >>log 2>&1 &
  recorder=$!
  sleep 0.5
  measure perf "$recorder" fault.said
  wait "$recorder"
fi
