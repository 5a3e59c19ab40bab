#!/bin/bash
# SPDX-License-Identifier: MIT
# Guest part of records.bats: compares the module's records of dispatches, interrupts, system calls and exceptions with
# values known from other sources. Prints "ok NAME" or "not ok NAME" for each promise.
# Usage: records-guest.sh DRIVERTOOL [PROGRAM-OF-32-BITS]
# shellcheck disable=SC2016 # awk programs have dollars
set -u

tool=$1
program32=${2-}
cpu1=/sys/devices/system/cpu/cpu1/online
tracing=/sys/kernel/tracing
[[ -d $tracing/instances ]] || tracing=/sys/kernel/debug/tracing
work=$LAB_OUT/records
mkdir -p "$work"
# shellcheck source=tests/lab/promises.bash
source "$(dirname "$0")/promises.bash"
# exact NAME: the buffers of that trace contain every record that was not counted as lost.
exact() { has "$1" '/^check/' && lacks "$1" '/^check/ && $3 != "ok"'; }
# whole NAME: exact, and no record was lost.
whole() { exact "$1" && lacks "$1" '/^stream/ && f("produced") != f("written")'; }

"$tool" probes >"$work/probes"
promise every-probe-can-be-attached awk "$f"'/^probe/ { hooks++; if (!f("attached")) { print "# " $0; bad = 1 } }
    END { exit bad || hooks < 40 }' "$work/probes"

# ---- dispatches ----

# The kernel's own trace of a period that includes the module's, with the same clock.
kernel_trace=$tracing/instances/pitrace
mkdir $kernel_trace
echo mono >$kernel_trace/trace_clock
echo 8192 >$kernel_trace/buffer_size_kb
echo 1 >$kernel_trace/events/sched/sched_switch/enable
trace switches -d -t 16384 -M 0x12 -- sh -c "$tool pingpong 300; $tool pingpong 300 apart; sleep 0.2; $tool spawn 5"
echo 0 >$kernel_trace/events/sched/sched_switch/enable
grep sched_switch: $kernel_trace/trace >"$work/kernel-switches"
rmdir $kernel_trace

# The module's dispatches of each CPU are a contiguous part of the kernel's, and the states agree. (The kernel's trace
# shows a thread as zombie before its last switch-out.)
same_switches() {
    awk '
    BEGIN { state["R"] = 0; state["R+"] = 256; state["S"] = 1; state["D"] = 2; state["T"] = 3
            state["t"] = 3; state["P"] = 5; state["I"] = 6 }
    FNR == NR {
        match($0, /\[[0-9]+\]/); cpu = substr($0, RSTART + 1, RLENGTH - 2) + 0; at = n[cpu]++
        match($0, /[0-9]+\.[0-9]+: sched_switch/); when[cpu, at] = substr($0, RSTART) + 0
        match($0, /next_pid=[0-9]+/); next_tid[cpu, at] = substr($0, RSTART + 9) + 0
        match($0, /prev_state=[^ ]+/); previous[cpu, at] = substr($0, RSTART + 11, RLENGTH - 11)
        next }
    $1 != "record" || $4 !~ /^12\// || $4 ~ /\/8000000/ { next }
    { cpu = $3; at = m[cpu]++; line[cpu, at] = $0; time[cpu, at] = $2 / 1e9; tid[cpu, at] = $5; given[cpu, at] = $6 }
    # Match the nearest position in time at which twenty agree: the host can delay a processor between the clock readings.
    function begins(cpu, i, j, apart, best, found) {
        found = -1
        for (i = 0; i < n[cpu]; i++) {
            apart = when[cpu, i] - time[cpu, 0]; if (apart < 0) apart = -apart
            if (apart > 1 || (found >= 0 && apart >= best)) continue
            for (j = 0; j < 20 && j < m[cpu] && next_tid[cpu, i + j] == tid[cpu, j]; j++) continue
            if (j == 20 || j == m[cpu]) { found = i; best = apart } }
        return found }
    END {
        for (cpu = 0; cpu < 2; cpu++) {
            first = begins(cpu)
            if (first < 0) { print "# none of the kernel trace: " line[cpu, 0]; exit 1 }
            for (j = 0; j < m[cpu]; j++) {
                if (next_tid[cpu, first + j] != tid[cpu, j]) { print "# not in the kernel trace: " line[cpu, j]; exit 1 }
                letter = previous[cpu, first + j]
                if (letter in state && state[letter] != given[cpu, j]) { print "# state " letter ": " line[cpu, j]; exit 1 } } }
        print "# dispatches: " m[0] + 0 " and " m[1] + 0
        exit m[0] < 600 || m[1] < 300 }' "$work/kernel-switches" "$work/switches"
}
promise dispatches-equal-those-of-the-kernels-trace same_switches
promise dispatches-lose-no-record whole switches

# A blocked thread is woken before it runs again.
woken_first() { # woken_first NAME: in that trace
    awk '
    $4 == "12/80000001" { woken[$5] = 1; next }
    $1 != "record" || $4 !~ /^12\// || $4 ~ /\/8000000/ { next }
    {   if ($3 in runs) blocked[runs[$3]] = $6 != 0 && $6 != 256
        if ($5 != 0 && blocked[$5]) { good++; if (!woken[$5]) { print "# not woken: " $0; bad++ } }
        woken[$5] = 0; blocked[$5] = 0; runs[$3] = $5 }
    END { print "# " good " dispatches of threads that had blocked"; exit bad || good < 600 }' "$work/$1"
}
promise wake-ups-precede-their-dispatches woken_first switches
promise wake-ups-by-interrupts-are-marked awk '
    $4 == "12/80000001" { if ($7 ~ /^8000000/) by_interrupt++; else by_thread++ }
    END { exit !(by_interrupt && by_thread) }' "$work/switches"
# Of two threads on one CPU each runs after the other has woken it, and then blocks. A preempted thread that
# resumes has no new turn.
alternates() { # alternates NAME: for the first such pair of that trace
    awk '
    FNR == NR { if ($1 == "pingpong" && !first) { first = $2; second = $3; rounds = $5 }; next }
    $4 == "12/80000001" && ($5 == first && $6 == second || $5 == second && $6 == first) { woken = $5 }
    $1 != "record" || $4 !~ /^12\// || $4 ~ /\/8000000/ { next }
    {   if ($3 in runs) preempted[runs[$3]] = $6 == 0 || $6 == 256
        runs[$3] = $5
        if (($5 != first && $5 != second) || preempted[$5]) next
        if (woken != $5) next
        if (last == $5) { print "# twice: " $0; exit bad = 1 }
        last = $5; turns++; woken = 0 }
    END { print "# " turns " turns of " 2 * rounds; exit bad || rounds != 300 || turns < 2 * rounds - 2 }' \
    <(grep '^pingpong' "$work/$1") "$work/$1"
}
promise ping-pong-alternates alternates switches

# The same with other clocksources than the time-stamp counter, and with a change of clocksource during the
# trace.
sources=/sys/devices/system/clocksource/clocksource0
kept_by() { [[ $(cat $sources/current_clocksource) == "$1" ]]; }
for source in hpet acpi_pm; do
    echo $source >$sources/current_clocksource
    promise the-clocksource-is-$source kept_by $source
    trace by-$source -d -t 16384 -M 0x12 -- sh -c "$tool pingpong 300; $tool pingpong 300 apart; sleep 0.1"
    promise wake-ups-precede-dispatches-with-$source woken_first by-$source
    promise ping-pong-alternates-by-$source alternates by-$source
    promise times-are-in-order-by-$source exact by-$source
done
trace clock-changes -d -t 16384 -M 0x12 -- \
    sh -c "$tool pingpong 300; echo hpet >$sources/current_clocksource; $tool pingpong 300 apart"
promise wake-ups-precede-dispatches-when-the-clocksource-changes woken_first clock-changes
promise times-are-in-order-when-the-clocksource-changes exact clock-changes

trace forks -d -t 8192 -M 0x12 -M 0x19 -- "$tool" spawn 50
promise fork-is-recorded-before-the-first-dispatch awk '
    FNR == NR { children[$2] = 1; next }
    $4 == "19/63" && $7 == 0 { forked[$5] = 1 }
    $4 ~ /^12\// && $5 in children { ran[$5] = 1; if (!forked[$5]) { print "# " $0; bad = 1 } }
    END { for (child in ran) good++; exit bad || good != 50 }' <(grep '^spawned' "$work/forks") "$work/forks"

# ---- task switches ----

trace stacks -d -t 8192 -M 0x13 -- "$tool" pingpong 200
# The thread switched in is the next one switched out; the last six numbers are printed in hex.
promise switches-are-a-chain awk '
    $4 == "13/01" { from = sprintf("%x %x", $5, $6)
        if ($3 in in_now && in_now[$3] != from) { print "# " $0; bad = 1 }
        in_now[$3] = $9 " " $10; n++ }
    END { exit bad || n < 400 }' "$work/stacks"
promise switches-have-the-stacks-of-user-threads awk '
    FNR == NR { ours[$2] = ours[$3] = 1; next }
    $4 == "13/01" && $6 in ours { n++; if ($7 !~ /^7f/) bad = 1 }
    $4 == "13/01" && $5 == 0 { idle++; if ($7 $8 != "00") bad = 1 }
    END { exit bad || n < 200 || !idle }' <(grep '^pingpong' "$work/stacks") "$work/stacks"

# ---- interrupts ----

cat /proc/interrupts >"$work/outside-1"
trace interrupts -d -t 16384 -M 0x04 -- sh -c "cat /proc/interrupts >$work/inside-1
    $tool pingpong 200 apart; find /usr/share/doc >/dev/null; sleep 0.3
    cat /proc/interrupts >$work/inside-2"
cat /proc/interrupts >"$work/outside-2"

# For each line and CPU the trace has at most as many as the kernel counted between the outer readings, and at least as
# many as between the inner ones. Lines that devices share have a comma; the local APIC vectors are 0xec, 0xfd, 0xfc and 0xfb.
counts_agree() {
    awk '
    FNR == 1 && FILENAME != ARGV[6] { file++; cpus = NF; next }
    FILENAME != ARGV[6] {
        line = $1; sub(":", "", line)
        if (line !~ /^([0-9]+|LOC|RES|CAL)$/ || $0 ~ /,/) next
        for (cpu = 0; cpu < cpus; cpu++) reading[file, line, cpu] = $(2 + cpu)
        lines[line] = 1
        next }
    $4 == "04/01" {
        line = $5
        if (line == 65536 + 236) line = "LOC"
        if (line == 65536 + 253) line = "RES"
        if (line == 65536 + 252 || line == 65536 + 251) line = "CAL"
        counted[line, $3]++; total[line ~ /^[0-9]/ ? "device" : line]++ }
    END {
        for (line in lines)
            for (cpu = 0; cpu < cpus; cpu++) {
                seen = counted[line, cpu] + 0
                min = reading[2, line, cpu] - reading[1, line, cpu]
                max = reading[3, line, cpu] - reading[0, line, cpu]
                if (seen < min || seen > max) {
                    print "# line " line " cpu " cpu ": " seen " is not between " min " and " max; bad = 1 } }
        print "# LOC " total["LOC"] + 0 " RES " total["RES"] + 0 " CAL " total["CAL"] + 0 " devices " total["device"] + 0
        exit bad || total["LOC"] < 10 || total["RES"] + total["CAL"] < 10 || total["device"] < 1 }
    ' file=-1 "$work/outside-1" "$work/inside-1" "$work/inside-2" "$work/outside-2" "$work/interrupts"
}
promise interrupts-agree-with-proc-interrupts counts_agree
promise interrupts-lose-no-record whole interrupts
# Each exit has the number and the count of the newest open entry; counts increase by one.
promise interrupts-nest-and-are-counted awk '
    BEGIN { exit_bit = 2147483648 }
    $4 == "04/01" || $4 == "04/02" {
        kind = $3 " " substr($4, 5)
        if ($6 != ++entered[kind]) { print "# count: " $0; exit bad = 1 }
        number[kind, ++depth[kind]] = $5; count[kind, depth[kind]] = $6; good++ }
    $4 == "04/80000000" || $4 == "04/80000002" {
        kind = $3 " " ($4 == "04/80000000" ? 1 : 2); top = depth[kind]--
        if (top < 1 || $5 != number[kind, top] + exit_bit || $6 != count[kind, top]) { print "# exit: " $0; exit bad = 1 } }
    END { exit bad || good < 50 }' "$work/interrupts"
promise softirqs-are-recorded has interrupts '$4 == "04/02" && $5 == 1'

# ---- system calls ----

trace calls -d -t 16384 -M 0x05 -- "$tool" getppid 1000
promise system-calls-are-counted-exactly awk '
    FNR == NR { tid = $2; result = $4; calls = $6; next }
    $4 == "05/6e" && $5 == tid { entries++ }
    $4 == "05/8000006e" && $5 == tid && $6 == result { exits++ }
    END { print "# " entries " entries and " exits " exits"; exit !(calls == 1000 && entries == calls && exits == calls) }' \
    <(grep '^getppid' "$work/calls") "$work/calls"
# A thread returns from one system call before it enters another.
promise system-calls-have-an-entry-and-an-exit awk '
    FNR == NR { tid = $2; next }
    $4 ~ /^05\// && $5 == tid {
        number = substr($4, 4); leaves = sub(/^8000/, "", number); sub(/^0+/, "", number); number = "n" number
        if (inside != "" && (!leaves || inside != number)) { print "# in " inside ": " $0; bad = 1 }
        inside = leaves ? "" : number; n++ }
    END { exit bad || n < 2000 }' <(grep '^getppid' "$work/calls") "$work/calls"
if [[ -n $program32 ]]; then
    trace calls32 -d -t 16384 -M 0x05 -- "$program32"
    promise 32-bit-system-calls-are-marked \
        has calls32 '$4 == "05/40000001" && $5 == '"$(word_of calls32 command 3)"
fi

# ---- exceptions ----

trace faults -d -t 16384 -M 0x03 -- "$tool" touch 200
promise page-faults-have-the-accessed-addresses awk '
    FNR == NR { tid = $2; wanted[$3 " " $4] = 1; pages++; next }
    $4 == "03/0e" && $5 == tid && ($9 " " $10) in wanted { if (!hit[$9 " " $10]++) good++ }
    END { print "# " good + 0 " of " pages " pages"; exit !(pages == 200 && good == pages) }' \
    <(grep '^touched' "$work/faults") "$work/faults"
# The error code of a write from user mode to a page that is not present: 6.
promise page-faults-have-their-error-code has faults '$4 == "03/0e" && $6 == 6 && $7 != "0"'
trace traps -d -t 16384 -M 0x03 -M 0x05 -- "$tool" traps
promise traps-are-recorded-at-their-addresses awk '
    FNR == NR { wanted[$2 " " $3 " " $4 " " $5] = 1; all++; next }
    $4 ~ /^03/ { key = substr($4, 4) " " $5 " " $7 " " $8; if (key in wanted && !hit[key]++) good++ }
    END { print "# " good + 0 " of " all; exit !(all == 4 && good == all) }' \
    <(grep '^trap ' "$work/traps") "$work/traps"
promise sigreturn-has-no-system-call-number has traps '$4 == "05/bfffffff"'
promise system-calls-have-numbers awk '
    $4 ~ /^05\// { number = substr($4, 4); sub(/^80000/, "", number)
        if (number != "bfffffff" && length(number) > 3) { print "# " $0; bad = 1 }; n++ }
    END { exit bad || n < 10 }' "$work/traps"

# ---- all sources ----

# A background load that makes records of every kind.
while "$tool" touch 50; do :; done >/dev/null &
busy=$!
for major in 0x03 0x04 0x05 0x12 0x13; do
    "$tool" late $major >"$work/late-$major" 2>&1
    promise source-$major-runs-while-it-is-enabled awk -v major="${major#0x}" '
        FNR == NR { if ($1 == "enabled") { from = $3; to = $5 }; next }
        /^check/ && $3 != "ok" { bad = 1 }
        $1 == "record" && substr($4, 1, 2) == major { n++; if ($2 < from || $2 > to) { print "# " $0; bad = 1 } }
        END { exit bad || n < 10 || !from }' "$work/late-$major" "$work/late-$major"
done
kill $busy
wait $busy

everything=(-M 0x03 -M 0x04 -M 0x05 -M 0x10 -M 0x12 -M 0x13 -M 0x19)
trace lossy -t 16 "${everything[@]}" -- "$tool" pingpong 500 apart
promise all-sources-count-losses-exactly exact lossy
promise all-sources-lose-in-a-small-buffer has lossy '/^stream trace/ && f("stopped") > 100'
trace all-hotplug -d -t 32768 -m 16384 "${everything[@]}" -- \
    sh -c "sleep 0.2; echo 0 >$cpu1; sleep 0.3; echo 1 >$cpu1; sleep 0.2"
promise all-sources-count-exactly-during-cpu-hotplug exact all-hotplug
promise dispatches-on-the-cpu-after-it-is-online-again awk '
    $4 ~ /^12\// { if ($3 == 1) { if ($2 - last > gap) gap = $2 - last; last = $2 }; end = $2 }
    END { exit !(gap > 0.2e9 && end - last < 0.3e9) }' "$work/all-hotplug"
promise unloading-after-all-sources rmmod pitrace
insmod /run/lab/ctl/pitrace.ko
trace reloaded -t 4096 "${everything[@]}" -s 0.2
promise all-sources-after-loading-again exact reloaded
echo "ok finished"
