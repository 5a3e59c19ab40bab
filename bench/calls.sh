#!/bin/bash
# SPDX-License-Identifier: MIT
# What calls of Java methods cost without JProf, with its probes and with the events of the JVM: nanoseconds of processor time for a call
# of an empty method, and for a word that a program with HashMap and String counts, whose methods all have probes.
# Usage: bench/calls.sh BUILD-DIR
set -eu
agent=$(realpath "$1/lib/libjprof.so")
source=$(realpath "$(dirname "$0")")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
javac -d . "$source/CallCost.java"
# measure WHAT OPTIONS ARGUMENT...
measure() {
  printf '%-34s ' "$1"
  java ${2:+"-agentpath:$agent=calltree,start,noserver,$2"} -cp . CallCost "${@:3}"
}
measure 'without JProf' '' 5000000 1000000 15
measure 'probes, calls only' nometrics 2000000 200000 15
measure 'probes, RAW_CYCLES' metrics=raw_cycles 2000000 200000 15
measure "probes, the thread's clock" metrics=ptt_cycles 100000 10000 15 2>/dev/null
measure 'events of the JVM, calls only' events=jvmti,nometrics 200000 10000 5
