#!/bin/bash
# SPDX-License-Identifier: MIT
# Traces programs whose stacks are hard to get whole, on this machine or in a guest, and stores the reports of each in a folder
# of OUT. Usage: record.sh SOURCE FOLDER-OF-PITRACE FOLDER-OF-PROGRAMS OUT
set -eu

source=$1 programs=$3 out=$4
work=$(mktemp -d)
export PATH=$2/bin:$PATH LC_ALL=C PITRACE_SOCKET=$work/socket
trap 'swtrace free >/dev/null 2>&1 || true; rm -rf "$work"' EXIT
cd "$work"

# begin MAJOR...: a recorder that has no table of any file yet.
begin() {
  swtrace init --source "$source" -s 64 >/dev/null
  swtrace enable "$@" >/dev/null
  swtrace stacks both -depth 1023
}
# trace COMMAND...
trace() {
  swtrace on
  "$@"
  swtrace off
}
# finish NAME POST-OPTION...: the reports of the last trace.
finish() {
  local name=$1
  shift
  swtrace get trace.nrm2 >/dev/null
  swtrace free
  mkdir -p "$out/$name"
  post -r trace.nrm2 -o "$out/$name" -clip 0 --json "$@"
  echo "$name: traced"
}

# The first ticks come before the tables of the interpreter and its libraries.
cat >work.py <<'END'
import time
def fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)
end = time.process_time() + 3
while time.process_time() < end: fib(12)
END
begin tprof
swtrace setrate 500 >/dev/null
trace python3 -S work.py
finish late -folded

# For what follows, the tables of the C library are there.
begin tprof
swtrace setrate 1000 >/dev/null
trace "$programs/die_young" 1
trace "$programs/die_young" 5
finish dying -folded

begin tprof
swtrace setrate 2000 >/dev/null
for kind in itself static; do
  swtrace on
  setarch -R env -i "$programs/exec_$kind" 5
  swtrace off
  swtrace get "exec_$kind.nrm2" >/dev/null
  mkdir -p "$out/exec_$kind"
  post -r "exec_$kind.nrm2" -o "$out/exec_$kind" -clip 0 --json -folded
done
swtrace free
echo 'exec: traced'

begin tprof dispatch
swtrace setrate 1000 >/dev/null
trace "$programs/wait_and_fault" 20 1
trace "$programs/wait_and_fault" 200 1
finish waits -offcpu

begin tprof
swtrace event page-faults -c 10 >/dev/null
trace "$programs/wait_and_fault" 1 100
trace "$programs/wait_and_fault" 20 500
finish faults -folded
echo finished
