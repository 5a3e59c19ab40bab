#!/bin/bash
# SPDX-License-Identifier: MIT
# Guest part of counters.bats: reads and writes registers, and counts with software events and with a PMU whose rates are
# known. Prints "ok NAME" or "not ok NAME" for each promise.
# Usage: counters-guest.sh BIN FAKE-COUNTERS.ko COMMANDS, a file of lines of documented-commands.
# shellcheck disable=SC2016 # expanded by other shells
set -u

bin=$1
fake_counters=$2
documented=$3
BUILD_DIR=$(cd "$bin/.." && pwd)
SOURCE_DIR=$PWD
export PATH=$bin:$PATH PITRACE_COUNTERS=/run/counters PITRACE_EVENTS=/run/no-events
cpu1=/sys/devices/system/cpu/cpu1/online
work=$LAB_OUT/counters
mkdir -p "$work"

# promise NAME COMMAND...: runs COMMAND and prints whether it succeeded, with its output if not.
promise() {
    local name=$1
    shift
    if "$@" >"$work/$name" 2>&1; then echo "ok $name"; else
        echo "not ok $name"
        sed 's/^/# /' "$work/$name"
    fi
}
# fails_with TEXT COMMAND...: it exits with 1 and its output contains TEXT.
fails_with() {
    local text=$1 message status=0
    shift
    message=$("$@" 2>&1) || status=$?
    printf 'status %s: %s\n' "$status" "$message"
    [[ $status == 1 && $message == *"$text"* ]]
}
# shellcheck source=tests/support/other_user.bash
source "$(dirname "$0")/../support/other_user.bash"
# shellcheck source=tests/support/advice.bash
source "$(dirname "$0")/../support/advice.bash"
# shellcheck source=tests/support/documented_commands.bash
source "$(dirname "$0")/../support/documented_commands.bash"
make_public "$bin/msr" "$bin/mpevt" "$bin/../lib/libperfutil.so.0"

# ---- model-specific registers ----

promise without-the-msr-module-the-remedy-is-named fails_with "modprobe msr" msr -c 0 TSC
promise the-advice-for-the-msr-module-works follow_advice "msr module (" msr -c 0 TSC
value() { msr -q "$@"; }

# Known values: the system call entry is a kernel symbol, the firmware has the APIC's address, and this kernel runs only
# with these modes.
symbol_of_system_calls() {
    local symbol
    symbol=$(awk '$3 == "entry_SYSCALL_64" { print "0x" $1 }' /proc/kallsyms)
    [[ -n $symbol && $(value LSTAR | sort -u) == "$symbol" ]]
}
promise lstar-has-the-kernels-system-call-entry symbol_of_system_calls
long_mode() {
    [[ $(value -c 0 EFER:SCE) == 0x1 && $(value -c 0 EFER:LME) == 0x1 && $(value -c 0 EFER:LMA) == 0x1 ]]
}
promise the-processor-is-in-long-mode long_mode
apic() {
    local base
    base=$(od -An -tx4 -j36 -N4 /sys/firmware/acpi/tables/APIC)
    [[ $(value -d APIC_BASE:EN | sort -u) == 1 && $(value -d APIC_BASE:BSP) == $'1\n0' ]] &&
        (($(value -c 0 APIC_BASE:BASE) << 12 == 0x${base// /}))
}
promise the-apic-has-the-firmwares-address apic
# TSC_AUX holds the number of the CPU, which the kernel's vDSO reads.
cpu_numbers() { [[ $(value -d TSC_AUX:11-0) == $'0\n1' ]]; }
promise each-cpu-has-its-own-registers cpu_numbers
same_as_rdmsr() {
    local register cpu
    for register in 0x1b 0xc0000080 0xc0000081 0xc0000082 0xc0000084 0x277 0xfe 0x174; do
        for cpu in 0 1; do
            (($(value -c $cpu $register) == 0x$(rdmsr -p $cpu $register))) || { echo "$register $cpu" && return 1; }
        done
    done
}
promise every-register-equals-the-value-of-rdmsr same_as_rdmsr
json() {
    msr --json -f -c 1 EFER TSC_AUX:11-0 | jq -e '.registers | length == 2 and all(.cpu == 1)
        and .[0].fields.LMA == "0x1" and .[1].value == "0x1" and .[1].high == 11'
}
promise json json
lines() { msr -f -c 0 APIC_BASE | grep -qE '^ +11  EN +0x1 +the APIC is enabled$'; }
promise fields-are-shown lines

# Only getcpu() reads this register, and no process here needs it meanwhile.
write_and_restore() {
    local before
    before=$(value TSC_AUX)
    msr -c 1 TSC_AUX=0xabc >"$work/written" && [[ $(value -c 1 TSC_AUX) == 0x0000000000000abc ]] &&
        [[ 0x$(rdmsr -p 1 0xc0000103) == 0xabc && $(value -c 0 TSC_AUX) == "${before%%$'\n'*}" ]] &&
        grep -q 'CPU 1 .* written$' "$work/written" &&
        msr -c 1 TSC_AUX:11-8=0 >/dev/null && [[ $(value -c 1 TSC_AUX) == 0x00000000000000bc ]] &&
        msr -c 1 TSC_AUX="${before##*$'\n'}" >/dev/null && [[ $(value TSC_AUX) == "$before" ]]
}
promise a-write-changes-only-that-cpu write_and_restore
echo off >/sys/module/msr/parameters/allow_writes
promise writing-forbidden-by-the-msr-module-is-reported fails_with "allow_writes" msr -c 0 TSC_AUX=0
promise registers-can-be-read-while-writing-is-forbidden value -c 0 TSC_AUX
promise the-advice-for-writing-works follow_advice "refuses all writes: " msr -c 0 TSC_AUX=0
promise users-without-root-are-refused fails_with "only root" as_nobody msr -c 0 TSC
without_rights() { setpriv --bounding-set=-sys_rawio --inh-caps=-sys_rawio "$bin/msr" -c 0 TSC; }
promise root-without-the-capability-gets-an-error fails_with "CAP_SYS_RAWIO" without_rights
promise a-missing-cpu-is-reported fails_with "no CPU 7" msr -c 7 TSC
echo 0 >$cpu1
promise an-offline-cpu-is-reported fails_with "no CPU 1" msr -c 0-1 EFER
only_cpu_0() { [[ $(value EFER | wc -l) == 1 ]]; }
promise the-online-cpus-are-still-read only_cpu_0
echo 1 >$cpu1

# ---- counters: software events ----

promise hardware-events-are-refused-without-counters fails_with "without hardware counters" mpevt start INSTR
promise cpi-needs-counters fails_with "without hardware counters" cpi -i 0.1
switches() { awk '$1 == "ctxt" { print $2 }' /proc/stat; }
total() { mpevt read --json "$1" | jq .events[0].total; }
counts_switches() {
    local outer inner count
    outer=$(switches)
    mpevt start context-switches || return
    inner=$(switches)
    sleep 1
    inner=$(($(switches) - inner))
    mpevt stop
    outer=$(($(switches) - outer))
    count=$(total context-switches)
    echo "$inner <= $count <= $outer"
    mpevt term
    ((inner > 10 && inner <= count && count <= outer))
}
promise switches-agree-with-the-kernels-count counts_switches
hotplug() {
    mpevt start cpu-clock || return
    sleep 0.3
    echo 0 >$cpu1
    sleep 0.5
    mpevt read --json >"$work/offline"
    echo 1 >$cpu1
    mpevt read >/dev/null 2>&1
    sleep 0.3
    mpevt read --json >"$work/back"
    mpevt term
    jq -e --slurpfile offline "$work/offline" '.events[0].cpus as $now | $offline[0].events[0].cpus as $before
        | $now[1].count > $before[1].count and $now[1].counted_ns < $now[0].counted_ns
        and (.events[0].gaps | length == 1) and (.events[0].gaps[0] | startswith("CPU 1 "))' "$work/back"
}
promise cpu-hotplug-is-reported-as-a-gap hotplug

# ---- counters: other users ----

follow_counting_advice() {
    local counters=(env PITRACE_COUNTERS="$public/home/counters" mpevt) status=0
    sysctl -q kernel.perf_event_paranoid=2
    follow_advice "Do one of: " as_nobody "${counters[@]}" start page-faults && as_nobody "${counters[@]}" start page-faults &&
        as_nobody "${counters[@]}" term || status=$?
    sysctl -q kernel.perf_event_paranoid=3 || sysctl -q kernel.perf_event_paranoid=2
    return $status
}
promise the-advice-for-counting-works follow_counting_advice

# ---- counters: a PMU that counts the time-stamp counter ----

insmod "$fake_counters"
listed() {
    mpevt -l >"$work/list" && grep -qx '  101  NONHALTED_CYCLES' "$work/list" &&
        grep -qx '  102  INSTR' "$work/list" && grep -qx '  106  BRANCH' "$work/list" &&
        ! grep -q '  107 ' "$work/list" && ! mpevt -ls | grep -q '  102 '
}
promise events-that-can-only-be-counted-are-listed-as-such listed
simultaneous() { mpevt -l --json | jq -e '.hardware_counters == 4'; }
promise the-number-of-counters-is-detected simultaneous
# Cycles are twice, branches three times the instructions; the events start and stop one after the other.
rates() {
    mpevt start INSTR NONHALTED_CYCLES BRANCH || return
    sleep 1
    mpevt stop
    mpevt read --json >"$work/rates.json"
    mpevt read
    mpevt term
    # Events per nanosecond of counting time.
    jq -e '[.events[] | [.cpus[] | .count / .counted_ns] | add / length] as $rate
        | ($rate[1] / $rate[0] - 2 | fabs) < 0.02 and ($rate[2] / $rate[0] - 3 | fabs) < 0.03
        and (.events | all(.cpus | length == 2))' "$work/rates.json"
}
promise counts-have-their-known-rates rates
too_many() {
    mpevt start INSTR NONHALTED_CYCLES BRANCH || return
    printf 'MORE instructions\nYET_MORE instructions\n' >/run/more
    mpevt start --events /run/more MORE && fails_with "counters are in use" mpevt start YET_MORE
    local status=$?
    mpevt term
    return $status
}
promise a-counter-in-use-is-refused too_many
promise an-unsupported-privilege-is-refused fails_with "user and kernel mode" mpevt start -priv user INSTR

system_cpi() {
    cpi -i 1 --json >"$work/cpi.json" && cpi -i 0.2 && jq -e '
        def near(a; b): (a / b - 1 | fabs) < 0.01;
        ([.cpus[], .system] | all(near(.raw_cpi; 1) and near(.cpi; 2) and .scaled_cpi <= .raw_cpi + 0.001))
        and (.cpus | length == 2) and .system.instructions == ([.cpus[].instructions] | add)' "$work/cpi.json"
}
# A host under load may delay a CPU between reading its clock and its counters: try up to three times.
try_three_times() { system_cpi || system_cpi || system_cpi; }
promise cpi-of-all-cpus-has-the-known-rates try_three_times
scaled_cpi() { # One of two CPUs is busy: about half of the cycles are.
    bash -c 'while :; do :; done' &
    local burner=$!
    cpi -i 2 -s --json >"$work/busy.json"
    kill $burner
    jq -e '.system.busy_cycles / .system.cycles | . > 0.4 and . < 0.8' "$work/busy.json"
}
promise scaled-cycles-do-not-include-the-idle-cpu scaled_cpi
samples() { [[ $(cpi -i 0.1 -n 3 --json | jq -s 'map(.cpus | length == 2) | length') == 3 ]]; }
promise cpi-takes-the-requested-number-of-samples samples
interrupted() {
    local pid status=0
    set -m
    cpi -i 60 --json >"$work/interrupted.json" &
    pid=$!
    set +m
    sleep 0.5
    kill -INT $pid
    wait $pid || status=$?
    [[ $status == 0 ]] && jq -e '.elapsed_ns < 60e9 and .system.instructions > 0' "$work/interrupted.json"
}
promise sigint-ends-cpi-with-the-counts-so-far interrupted
command_cpi() {
    local status=0
    cpi --json -- sh -c 'i=0; while [ $i -lt 20000 ]; do i=$((i + 1)); done; exit 7' >"$work/command.json" || status=$?
    [[ $status == 7 ]] && jq -e '.instructions > 1000000 and (.cpi - 2 | fabs) < 0.02
        and .counted_ns <= .elapsed_ns' "$work/command.json"
}
promise cpi-of-a-command-returns-its-status command_cpi
children_count() {
    cpi --json -- sh -c ':' >"$work/alone.json"
    cpi --json -- sh -c 'sh -c "i=0; while [ \$i -lt 20000 ]; do i=\$((i + 1)); done" & wait' >"$work/child.json"
    jq -e --slurpfile alone "$work/alone.json" '.instructions > 2 * $alone[0].instructions' "$work/child.json"
}
promise children-of-a-command-are-counted children_count
promise a-command-that-cannot-run-is-reported fails_with "Cannot run '/nonexistent'" cpi -- /nonexistent
killed() { local status=0; cpi -- sh -c 'kill -9 $$' || status=$?; [[ $status == 137 ]]; }
promise a-killed-command-is-reported killed

# ---- commands of documents ----

run_documented() {
    mkdir -p "$work/documented/work" && cd "$work/documented/work" && make_directory || return
    printf 'all:\n\ttrue\n' >Makefile
    run_commands <"$documented"
}
documented_commands() { (run_documented); }
promise documented-commands-work documented_commands
mpevt term

# ---- cleanup ----

mpevt start INSTR
promise the-counters-are-in-use fails_with "in use" rmmod pitrace_fake_counters
kill -9 "$(cat $PITRACE_COUNTERS.lock)"
sleep 0.2
promise after-a-kill-no-process-uses-the-counters rmmod pitrace_fake_counters
echo "ok finished"
