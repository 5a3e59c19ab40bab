#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The cost of following each instruction, compared with gdb's "record full", for the same program in the same boot. In the lab:
#   scripts/lab --single-thread --timeout 1800 -- bench/gdb_record.sh STAGE BUILD [SIZE]
# STAGE: the folder of the installed pitrace; BUILD: the build folder of the tests. Prints instructions a second of each.
set -euo pipefail

export PATH=$1/bin:$PATH LC_ALL=C
program=$2/tests/algorithms size=${3:-1000}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

seconds() { # seconds COMMAND...: prints its elapsed time
  local begin=${EPOCHREALTIME/[.,]/}
  "$@" >"$work/said" 2>&1
  awk -v begin="$begin" -v end="${EPOCHREALTIME/[.,]/}" 'BEGIN { print (end - begin) / 1e6 }'
}

gdb_with() { # gdb_with RECORD-COMMAND...
  gdb -nx -batch -ex 'set confirm off' -ex 'break quick_sort' -ex run -ex delete "$@" --args "$program" sort "$size"
}

# All user code of the program, from its first instruction.
swtrace init -s 64 >/dev/null
swtrace it_install -i -user
swtrace on
ours=$(seconds swtrace it_run -- "$program" sort $((size * 10)))
steps=$(swtrace it_info --json | sed -n 's/.*"steps": \([0-9]*\).*/\1/p')
swtrace free

# The instructions between a call of quick_sort and its end; the time that gdb needs to get there is subtracted.
nothing=$(seconds gdb_with -ex finish)
theirs=$(seconds gdb_with -ex 'set record full insn-number-max unlimited' -ex 'record full' -ex finish)
instructions=$(gdb_with -ex 'set record full insn-number-max unlimited' -ex 'record full' -ex finish -ex 'info record' 2>/dev/null |
  sed -n 's/^Log contains \([0-9]*\) instructions.*/\1/p')
awk -v steps="$steps" -v ours="$ours" -v recorded="$instructions" -v theirs="$theirs" -v nothing="$nothing" 'BEGIN {
  printf "ITrace: %d instructions in %.2f s, %.0f a second\n", steps, ours, steps / ours
  printf "gdb record full: %d instructions in %.2f s, %.0f a second\n", recorded, theirs - nothing, recorded / (theirs - nothing)
}'
