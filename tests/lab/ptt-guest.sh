#!/bin/bash
# SPDX-License-Identifier: MIT
# Guest part of ptt.bats: PTT of many threads and processes, their ends, wrong calls; prints "ok NAME" or "not ok NAME"
# for each promise.
# Usage: ptt-guest.sh BUILD-FOLDER FAKE-PMU-MODULE THREADS-OF-A-PROCESS
# shellcheck disable=SC2016 # awk programs have dollars
set -u

build=$1
fake_pmu=$2
threads=$3
tool=$build/tests/ptttool
PATH=$build/bin:$PATH
cpu1=/sys/devices/system/cpu/cpu1/online
module=/run/lab/ctl/pitrace.ko
work=$LAB_OUT/ptt
mkdir -p "$work"

# shellcheck source=tests/lab/promises.bash
source "$(dirname "$0")/promises.bash"
# run NAME ARG...: runs ptttool and stores its output.
run() {
    local name=$1
    shift
    "$tool" "$@" >"$work/$name" 2>&1
}
adds_up() { run "sums-$1" sums || { sed 's/^/# /' "$work/sums-$1"; return 1; }; }

# ---- wrong calls, before an instance exists ----

run misuse misuse
promise wrong-calls-are-refused lacks misuse '/^check/ && $3 != "ok"'
grep -v ' ok$' "$work/misuse" | sed 's/^/# /'
"$tool" term >"$work/ended" 2>&1
promise closing-the-handle-ends-ptt has ended '/already/'

# ---- one instance ----

sysctl -q kernel.threads-max=50000
"$tool" init keep
promise unloading-while-active-is-refused bash -c '! rmmod pitrace 2>/dev/null'
promise many-threads-of-4-processes-agree run many many 4 "$threads"
sed 's/^/# /' "$work/many"
promise all-accounts-add-up adds_up active
promise threads-end-while-they-read run exits exits 500
promise exec-of-the-leader run exec-leader exec 0
promise exec-of-another-thread run exec-thread exec 1
promise forced-migration-tears-nothing run reads reads 100000000 slot
sed 's/^/# /' "$work/reads"
run kernel kernel 4
promise dispatches-equal-the-kernels-context-switches awk "$f"'
    $1 == "kernel" { n++; if (f("switches") != $NF) bad++ } END { exit !(n == 6 && !bad) }' "$work/kernel"
"$tool" wait >"$work/wait" &
reader=$!
sleep 0.5
kill -KILL $reader
wait $reader 2>/dev/null
promise a-killed-reader-leaves-nothing-behind adds_up killed
"$tool" wait >"$work/wait" &
reader=$!
sleep 0.5
"$tool" term
wait $reader
promise readers-see-the-end grep -qx ended "$work/wait"
promise counts-remain-after-the-end adds_up last

# ---- CPU hotplug ----

"$tool" init keep
echo 0 >$cpu1
sleep 0.3
promise accounts-add-up-with-an-offline-cpu adds_up offline
echo 1 >$cpu1
run migrating reads 300000 slot
promise a-cpu-counts-after-it-is-online-again adds_up online
"$tool" term

# ---- more threads than accounts ----

"$tool" init keep threads=1024
run churn exits 1000
promise discarded-accounts-of-ended-threads-add-up adds_up forgotten
promise accounts-of-ended-threads-were-discarded awk "$f"'$1 == "counts" && f("forgotten") > 1000 { good = 1 } END { exit !good }' "$work/sums-forgotten"
run crowd many 1 2000
promise threads-without-an-account-are-reported run without-account sums
"$tool" term

# No thread has an account: there is nothing to copy.
"$tool" init keep pids=1
promise a-dump-without-accounts-finishes run none sums
promise an-instance-without-accounts-ends run none-term term

# ---- unprivileged users ----

"$tool" init keep
nobody() { setpriv --reuid 65534 --regid 65534 --clear-groups "$@"; }
cp "$tool" /tmp/ptttool
chmod 755 /tmp/ptttool
nobody /tmp/ptttool unprivileged >"$work/unprivileged" 2>&1
sed 's/^/# /' "$work/unprivileged"
promise an-unprivileged-user-reads-only-his-own-threads lacks unprivileged '/^check/ && $3 != "ok"'
echo 20 >/sys/module/pitrace/parameters/ptt_pages
nobody /tmp/ptttool exhaust >"$work/exhaust" 2>&1
sed 's/^/# /' "$work/exhaust"
promise a-user-gets-only-the-permitted-number-of-pages grep -qx 'pages 20 error Disk quota exceeded' "$work/exhaust"
echo 4096 >/sys/module/pitrace/parameters/ptt_pages
run slot-ends slot-ends
sed 's/^/# /' "$work/slot-ends"
promise slots-end-at-exec-and-with-credentials awk '
    /^check/ { n++; if ($3 != "ok") bad++ } END { exit !(n == 7 && !bad) }' "$work/slot-ends"
"$tool" term

# ---- counts of a setuid program that the thread executes between two programs of its user; page faults ----

# counts NAME WORD: what that program printed after WORD.
counts() { awk "$f"'$1 == "counts" && $2 == "'"$1"'" { print f("'"$2"'"); exit }' "$work/setuid"; }
# Each of the first two programs causes 5000 faults, and the second sleeps 2000 times.
"$tool" init keep 1:2
level=$(cat /proc/sys/kernel/perf_event_paranoid)
echo 1 >/proc/sys/kernel/perf_event_paranoid
cp /tmp/ptttool /tmp/ptttool-setuid
chmod 4755 /tmp/ptttool-setuid
nobody /tmp/ptttool before-setuid /tmp/ptttool /tmp/ptttool-setuid >"$work/setuid" 2>&1
sed 's/^/# /' "$work/setuid"
promise a-setuid-program-reads-its-own-counts has setuid '$2 == "setuid" && f("euid") == 0 && f("faults") >= 5000 &&
    f("faults") < 10000 && f("dispatches") >= 1000 && f("slot-dispatches") >= 1000'
promise the-next-program-reads-none-of-them has setuid '$2 == "after" && f("euid") == 65534 && f("faults") < 5000 &&
    f("dispatches") < 1000 && f("slot-dispatches") < 1000'
run thread-setuid thread "$(counts after tid)"
sed 's/^/# /' "$work/thread-setuid"
# tid, pid, name, ended, dispatches, interrupts, then the values: cycles, faults
promise a-dump-has-the-counts-of-all-three awk "$f"'
    $1 == "thread" { rows++; good = f("dispatches") >= 1000 && $15 >= 10000 } END { exit !(rows == 1 && good) }' "$work/thread-setuid"
promise accounts-add-up-after-exec adds_up after-exec
echo "$level" >/proc/sys/kernel/perf_event_paranoid
"$tool" term

# ---- counters that perf would not show to a user; page faults, with kernel mode and without ----

shown() { # shown NAME LEVEL CONDITION
    echo "$2" >/proc/sys/kernel/perf_event_paranoid
    nobody /tmp/ptttool shown >"$work/shown-$1" 2>&1
    sed "s/^/# level $2: /" "$work/shown-$1"
    promise "counters-shown-at-$1" has "shown-$1" "\$1 == \"shown\" && f(\"cycles\") == 1 && $3"
}
level=$(cat /proc/sys/kernel/perf_event_paranoid)
"$tool" init keep 1:2
shown level-3 3 'f("withheld") == 2 && f("read") == 0 && f("slot") == 0 && f("vector") == 0'
shown level-2 2 'f("withheld") == 2 && f("read") == 0 && f("slot") == 0 && f("vector") == 0'
shown level-1 1 'f("withheld") == 0 && f("read") >= 100 && f("slot") != 0 && f("vector") > 0'
promise withheld-counters-are-counted adds_up withheld
"$tool" term
"$tool" init keep 1:2 user
shown level-3-user-only 3 'f("withheld") == 2 && f("read") == 0'
shown level-2-user-only 2 'f("withheld") == 0 && f("read") >= 100 && f("vector") == 0'
"$tool" term
echo "$level" >/proc/sys/kernel/perf_event_paranoid

# ---- counters ----

insmod "$fake_pmu"
type=$(cat /sys/bus/event_source/devices/pitrace_fake/type)
# Three events a cycle, in a counter of 34 bits, which wraps often.
"$tool" init keep "$type:0:3:34"
run fake-loop loop 30000000 1
sleep 2
promise counters-of-a-pmu-add-up adds_up fake
promise counters-that-wrap-are-exact awk "$f"'
    $1 == "sums" { elapsed[$2] = f("elapsed") }
    END { off = elapsed[1] / elapsed[0] / 3 - 1; print "# off by " off; exit !(elapsed[1] > 2 ^ 34 && off < 0.001 && off > -0.001) }' "$work/sums-fake"
"$tool" term
promise counters-are-released bash -c "'$tool' init keep '$type:0:3:34' && '$tool' term"
promise a-single-counter-is-refused-for-two-metrics bash -c "! '$tool' init '$type:0:3:34' '$type:0:5:34' 2>/dev/null"
rmmod pitrace_fake_pmu

# ---- the tools ----

ptt init CYCLES page-faults
ptt info >"$work/info"
ptt dump >"$work/dump"
ptt dump --json >"$work/dump.json"
pttstats >"$work/stats"
pttstats --json >"$work/stats.json"
ptt term
pttstats >"$work/stats-after"
promise ptt-info-reports-the-active-instance grep -qx 'PTT:         active' "$work/info"
promise ptt-dump-shows-itself grep -qE '^ PID [0-9]+ is ptt$' "$work/dump"
promise pttstats-adds-up awk '
    /^Total Thread Time:/ { thread = $NF } /^Total IRQ Time:/ { irq = $NF } /^Total Idle Time:/ { idle = $NF }
    /^Total tool time:/ { tool = $NF } /^Total Measurement:/ { all = $NF } /^Total Period:/ { period = $NF }
    /^Total Process Time:/ { process = $NF }
    END { exit !(thread > 0 && thread + irq + idle == all && all + tool == period && process == thread + idle) }' "$work/stats"
promise pttstats-after-the-end grep -q '^Total Process Time: [1-9]' "$work/stats-after"

run fuzz fuzz 1500 $RANDOM
"$tool" term 2>/dev/null
promise fuzzing-leaves-a-working-module run after-fuzz init
promise unloading-leaves-nothing rmmod pitrace
promise loading-again insmod "$module"
rmmod pitrace
echo "ok finished"
