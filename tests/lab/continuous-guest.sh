#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Guest part of continuous.bats: traces while 50 processes a second are started, and measures the recorder's memory.
# Usage: continuous-guest.sh BUILD-DIR SECONDS; writes to $LAB_OUT the trace, and
#   memory   "SECONDS-SINCE-ON KB": the recorder's resident memory
#   started  the number of processes started
#   took     the seconds that the run took

set -euo pipefail

build=$1 seconds=$2
per_second=50
interval=$((seconds < 60 ? 1 : seconds / 60))
PATH=$build/bin:$PATH
cd "$LAB_OUT"

swtrace init --source driver -t cont
swtrace enable tprof
swtrace setrate 1000
swtrace on
recorder=$(swtrace info --json | jq -r .trace.recorder)
SECONDS=0
"$build/tests/churn" $((seconds * per_second)) 20000 $per_second >started &
churn=$!
# Waits with a built-in: starting a process takes seconds while so many others start.
mkfifo /run/never
exec {never}<>/run/never
while ! read -r -t "$interval" -u "$never" && kill -0 $churn 2>/dev/null; do
    while read -r name value _; do
        if [[ $name == VmRSS: ]]; then echo "$SECONDS $value" >>memory; fi
    done <"/proc/$recorder/status"
done
wait $churn
echo $SECONDS >took
swtrace off
swtrace free

# Two control groups: what runs in each is known by its program's name.
program() { # program NAME SECONDS: in the control group NAME.service
    mkdir -p "/sys/fs/cgroup/$1.service"
    cp "$build/tests/calls" "/tmp/in-$1"
    # shellcheck disable=SC2016 # expanded by the other shell
    sh -c 'echo $$ >"/sys/fs/cgroup/$1.service/cgroup.procs" && exec "/tmp/in-$1" "$2"' sh "$1" "$2"
}
sh -c 'mkdir -p /sys/fs/cgroup/before.service && echo $$ >/sys/fs/cgroup/before.service/cgroup.procs && exec sleep 1000' &
sleeper=$!
swtrace init --source driver -t cont -f cgroups.nrm2
swtrace enable tprof
swtrace setrate 1000
swtrace on
# In turn, so that a time in which the machine of the guest has other work is that of both.
for _ in 1 2 3 4 5; do
    program one 0.2 >>one.out
    program three 0.6 >>three.out
done
swtrace off
swtrace free
kill $sleeper
for name in one three; do awk '$1 == "usage_usec" { print $2 }' "/sys/fs/cgroup/$name.service/cpu.stat" >"$name.usec"; done
