#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The guest's part of cpus.bats: traces all processors for a moment; the trace is $LAB_OUT/swtrace.nrm2.
# Usage: cpus-guest.sh BUILD-DIR SECONDS RATE INIT-OPTION...

set -euo pipefail

build=$1 seconds=$2 rate=$3
shift 3
PATH=$build/bin:$PATH
cd "$LAB_OUT"

nproc >processors
swtrace init --source driver "$@"
swtrace enable tprof
swtrace setrate "$rate"
swtrace on
sleep "$seconds"
if [[ " $* " == *" wrap "* ]]; then swtrace get snapshot.nrm2; fi
swtrace off
swtrace get
swtrace free
swtrace info >after
# Once more, since everything was given back.
swtrace init --source driver "$@"
swtrace free
