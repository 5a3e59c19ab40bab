#!/bin/bash
# SPDX-License-Identifier: MIT
# Guest part of languages.bats: traces each program with the module, and stores PROGRAM.folded in $LAB_OUT.
# Usage: languages-guest.sh FOLDER-OF-PITRACE PROGRAM...
set -eu

export PATH=$1/bin:$PATH LC_ALL=C PITRACE_SOCKET=/tmp/languages
shift
mkdir -p /tmp/languages-work && cd /tmp/languages-work

# trace PROGRAM RATE SECONDS
trace() {
  swtrace setrate "$2"
  swtrace on
  "$1" "$3"
  swtrace off
}

for program; do
  name=${program##*/}
  swtrace init --source driver -s 64
  swtrace enable tprof
  swtrace stacks both -depth 1023
  # An emulated processor makes a table in seconds, for which stacks wait in limited memory: a first trace has them made.
  trace "$program" 100 1
  # A busy host leaves few ticks of a second.
  for seconds in 10 60; do
    trace "$program" 1000 "$seconds"
    swtrace get
    post -folded -demangle -clip 0
    ticks=$(awk '/work/ { ticks += $NF } END { print ticks + 0 }' tprof.folded)
    echo "$name: $ticks ticks in $seconds seconds"
    ((ticks < 1500)) || break
  done
  swtrace free
  mv tprof.folded "$LAB_OUT/$name.folded"
done
echo finished
