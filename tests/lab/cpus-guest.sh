#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Guest part of cpus.bats: traces all processors for some seconds; the trace is $LAB_OUT/swtrace.nrm2.
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
# The second init shows that the first trace freed everything.
swtrace init --source driver "$@"
swtrace free
