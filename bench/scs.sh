#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The cost of call-stack sampling for the sampled thread: rtdriver starts and stops it in one JVM, three seconds each, and the processor
# time of the repetitions of one piece of work is compared. With "nothing" nothing is started: what the comparison itself shows.
# Usage: bench/scs.sh [ROUNDS [RATE]]   (default 10 100)
set -euo pipefail
rounds=${1:-10} rate=${2:-100}
root=$(cd "$(dirname "$0")/.." && pwd)
build=${BUILD_DIR:-$root/build}
export PATH=$build/bin:$PATH
agent=$(realpath "$build/lib/libjprof.so")
dir=$(mktemp -d)
trap 'kill $pid 2>/dev/null || true; rm -rf "$dir"' EXIT
javac -d "$dir" "$root/bench/ScsCost.java"
cd "$dir"
for options in "" ,scs_a2n nothing; do
  words=scs,scs_rate=$rate,nopidx,logpath=$dir
  [[ $options == nothing ]] || words+=$options
  java -XX:+UseSerialGC -agentpath:"$agent=$words" -cp . ScsCost $((rounds * 6 + 12)) >ended 2>/dev/null &
  pid=$!
  sleep 6
  : >switched
  for ((i = 0; i < rounds; i++)); do
    [[ $options == nothing ]] || rtdriver --pid "$pid" -c start >/dev/null
    echo "$(date +%s%3N) with" >>switched
    sleep 3
    echo "$(date +%s%3N) neither" >>switched
    [[ $options == nothing ]] || rtdriver --pid "$pid" -c reset -c stop >/dev/null
    echo "$(date +%s%3N) without" >>switched
    sleep 3
    echo "$(date +%s%3N) neither" >>switched
  done
  wait "$pid"
  # The repetition during which sampling is switched counts for neither.
  sort -n switched ended | awk '$2 ~ /[a-z]/ { state = $2; first = 1; next } first { first = 0; next } { print state, $2 / 1000 }' |
    sort -k1,1 -k2,2n | awk -v kind="scs${options/nothing/ (never started)}" '
      { values[$1, ++n[$1]] = $2; sum[$1] += $2 }
      END {
        for (state in n) if (state ~ /with/) printf "%s, %s: %d repetitions, median %.1f us, mean %.1f us\n", kind, state, n[state],
            values[state, int((n[state] + 1) / 2)], sum[state] / n[state] }'
done
