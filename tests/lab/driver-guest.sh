#!/bin/bash
# SPDX-License-Identifier: MIT
# Guest part of driver.bats: exercises the module and prints "ok NAME" or "not ok NAME" for each promise.
# Usage: driver-guest.sh DRIVERTOOL [PROGRAM-OF-32-BITS]
# shellcheck disable=SC2016 # awk programs have dollars
set -u

tool=$1
program32=${2-}
module=/run/lab/ctl/pitrace.ko
debug=/sys/kernel/debug
cpu1=/sys/devices/system/cpu/cpu1/online
work=$LAB_OUT/driver
mkdir -p "$work"

# shellcheck source=tests/lab/promises.bash
source "$(dirname "$0")/promises.bash"
fails_with() { # fails_with TEXT COMMAND...
    local text=$1 message
    shift
    ! message=$("$@" 2>&1) && [[ $message == *"$text"* ]]
}

# ---- ticks ----

# Within 10 % of the nominal rate on both CPUs, which are idle. The module itself makes no gap of more than two periods:
# in such a gap the host was busy, and the time beyond one period is not counted. The instruction-count lab checks that
# this does not hide missing ticks.
ticks_are_even() {
    trace ticks -d -r 1000 -s 5 &&
        awk '$1 == "record" && $4 ~ /^10/ {
                 gap = $2 - last[$3]
                 if (count[$3]++) { span[$3] += gap; if (gap > 2e6) stalled[$3] += gap - 1e6 }
                 last[$3] = $2 }
             END { for (cpu = 0; cpu < 2; cpu++) {
                     rate = span[cpu] ? (count[cpu] - 1) * 1e9 / (span[cpu] - stalled[cpu]) : 0
                     printf "# cpu %d: %.1f ticks a second, stalled for %.2f of %.2f s\n",
                            cpu, rate, stalled[cpu] / 1e9, span[cpu] / 1e9
                     if (rate > 900 && rate < 1100 && span[cpu] > 4.5e9) good++ }
                   exit good != 2 }' "$work/ticks"
}
promise ticks-within-10-percent-on-both-cpus ticks_are_even
promise all-probes-are-attached lacks ticks '/^probe/ && f("attached") != 1'

trace idle-majors -M 0x30 -s 0.5
promise only-start-up-records-when-no-source-is-enabled \
    awk "$f"'/^stream/ { total += f("produced") } END { exit total != 6 }' "$work/idle-majors"
trace ticks-only -M 0x10 -s 0.5
promise no-names-when-only-ticks-are-enabled \
    awk "$f"'/^stream mte/ { total += f("produced") } END { exit total != 6 }' "$work/ticks-only"
"$tool" late >"$work/late" 2>&1
promise ticks-start-and-stop-with-their-major \
    awk "$f"'/^stream trace/ { good += f("ticks") > 100 && f("span") < 900e6 }
             END { exit good != 2 }' "$work/late"

# ---- losses ----

trace small -t 4 -s 1
promise small-buffer-counts-exactly lacks small '/^check/ && $3 != "ok"'
promise small-buffer-stops-recording has small '/^stream trace/ && f("stopped") > 100'
promise a-small-buffer-reports-full has small '/^info/ && f("full") == 1'
trace tiny -t 4 -m 4 -r 10000 -s 1
promise full-names-count-exactly lacks tiny '/^check/ && $3 != "ok"'
trace after-full -s 0.2
promise the-next-on-clears-the-full-state has after-full '/^info/ && f("full") == 0'

# ---- CPU hotplug ----

trace hotplug -d -r 1000 -- sh -c "sleep 0.5; echo 0 >$cpu1; sleep 1; echo 1 >$cpu1; sleep 0.7"
promise cpu-hotplug-is-counted-exactly lacks hotplug '/^check/ && $3 != "ok"'
promise cpu-hotplug-makes-a-gap-in-the-ticks awk '
    $1 == "record" && $4 ~ /^10/ { end = $2 }
    $1 == "record" && $4 ~ /^10/ && $3 == 1 {
        if (last && $2 - last > gap) gap = $2 - last
        last = $2; count++ }
    END { exit !(count > 400 && gap > 0.8e9 && end - last < 0.3e9) }' "$work/hotplug"
echo 0 >$cpu1
trace arrives -r 1000 -- sh -c "sleep 0.3; echo 1 >$cpu1; sleep 1"
promise a-cpu-that-comes-online-gets-buffers has arrives '/^stream trace cpu 1/ && f("ticks") > 300'
promise a-cpu-that-comes-online-is-counted-exactly lacks arrives '/^check/ && $3 != "ok"'

# ---- names ----

trace spawn -d -t 8192 -m 16384 -- "$tool" spawn 100
promise processes-lose-no-record lacks spawn '/^stream/ && f("produced") != f("written")'
# For each process in this order: fork, new image, its name, its program and its library, exit.
promise processes-in-order awk -v tool="$tool" '
    $1 == "spawned" { children++; if (step[$2] == 6) good++ }
    $1 != "record" { next }
    $4 == "19/63" && $7 == 0 { step[$5] = 1 }
    $4 == "19/64" && step[$5] == 1 { step[$5] = 2 }
    $4 == "19/34" && step[$5] == 2 { step[$5] = 3 }
    $4 == "19/01" && step[$5] == 3 && index($0, "\"" tool "\"") { step[$5] = 4 }
    $4 == "19/01" && step[$5] == 4 && /libm\.so/ { step[$5] = 5 }
    $4 == "19/65" && step[$5] == 5 { step[$5] = 6 }
    END { print "# " good + 0 " of " children " processes"; exit !(children == 100 && good == 100) }
    ' <(grep '^record' "$work/spawn"; grep '^spawned' "$work/spawn")
promise processes-are-killed-once awk '
    $4 == "19/65" { if (killed[$5]++) exit bad = 1 } END { exit bad }' "$work/spawn"
promise no-tick-of-an-unknown-process awk '
    $4 == "19/63" { known[$5] = 1 }
    $1 == "record" && $4 ~ /^10/ && $5 != 0 && !known[$5] { print "# " $0; bad = 1 }
    END { exit bad }' "$work/spawn"

trace vfork -d -- "$tool" vfork
promise vfork-shares-its-parents-mappings \
    has vfork '$4 == "19/63" && $7 == "100" && $5 == '"$(word_of vfork vforked 2)"
trace rename -d -- "$tool" rename
promise renaming-is-recorded \
    has rename '$4 == "19/34" && /"renamed"/ && $5 == '"$(word_of rename renamed 2)"
trace threads -d -- "$tool" threads 3
promise threads-are-created-named-and-killed awk -v pid="$(word_of threads threads 2)" '
    $4 == "19/66" && $5 == pid { step[$6] = 1 }
    $4 == "19/36" && $5 == pid && /"worker"/ && step[$6] == 1 { step[$6] = 2 }
    $4 == "19/67" && $5 == pid && step[$6] == 2 { good++ }
    END { exit good != 3 }' "$work/threads"
trace thread-exec -d -- "$tool" thread-exec
promise exec-in-a-thread-ends-its-id has thread-exec \
    '$4 == "19/67" && $5 == '"$(word_of thread-exec executes 2)"' && $6 == '"$(word_of thread-exec executes 3)"
trace mremap -d -- "$tool" mremap
module_at() { # module_at FILE WORKLOAD-LINE PATTERN
    has "$1" '$4 == "19/01" && $5 == '"$(word_of "$1" "$2" 2)"' && $9 == "'"$(word_of "$1" "$2" 3)"'" && $10 == "'"$(word_of "$1" "$2" 4)"'" && '"$3"
}
promise mremap-is-recorded-at-the-new-address module_at mremap moved '/drivertool"/'
promise mprotect-is-recorded module_at mremap protected '/drivertool"/'
promise anonymous-code-is-not-recorded-by-default lacks mremap '/fffffff1/'
# Another user makes 20,000 mappings executable at once, four times, and takes all the notes that he can get.
trace flood -d -m 32768 -- "$tool" flood
promise a-user-with-many-mappings-makes-nobody-else-lose-one awk -v pid="$(word_of flood flooded 2)" -v mapped="$(word_of flood flooded 4)" '
    $4 == "19/01" && $5 == pid && /"\/etc\/passwd"/ { n++ }
    END { print "# " n + 0 " of " mapped " mappings"; exit !(mapped >= 20 && n == mapped) }' "$work/flood"
promise mappings-beyond-the-limit-of-a-user-are-counted-as-lost awk "$f"'
    $1 == "stream" && $2 == "mte" { lost += f("source") } END { print "# " lost + 0 " lost"; exit !lost }' "$work/flood"
trace anonymous -a -d -- "$tool" mremap
promise anonymous-code-is-recorded-on-request module_at anonymous anonymous '$7 == "fffffff1"'
promise snapshot-starts-with-the-kernel awk '
    $1 == "record" && $3 "" != "" && $4 == "19/01" && $5 == 0 { exit !/"vmlinux"/ }' "$work/mremap"
promise start-up-group-in-order awk '
    $4 ~ /^11/ { order = order " " substr($4, 4) } END { exit order != " b5 b7 be b8 b2 b3" }' "$work/mremap"
if [[ -n $program32 ]]; then
    trace bits32 -d -- "$program32"
    promise a-32-bit-program-is-marked-as-such \
        has bits32 '$4 == "19/34" && $6 == 50 && $5 == '"$(word_of bits32 command 3)"
fi

# ---- disabled probes ----

probes_are() { # probes_are ATTACHED: both function probes of a trace have this state
    trace probes -s 0.1
    awk -v want="$1" '$2 == "perf_event_mmap" || $2 == "copy_vma" { good += $4 == want }
                      END { exit good != 2 }' "$work/probes"
}
echo 0 >$debug/kprobes/enabled
promise disabled-kprobes-are-reported probes_are 0
echo 1 >$debug/kprobes/enabled
promise kprobes-work-after-they-are-enabled-again probes_are 1
if echo 0 >/proc/sys/kernel/ftrace_enabled; then
    promise disabled-ftrace-is-reported probes_are 0
    echo 1 >/proc/sys/kernel/ftrace_enabled
    promise ftrace-works-after-it-is-enabled-again probes_are 1
fi

# ---- permissions ----

"$tool" refused >"$work/refused"
promise wrong-calls-are-refused-at-least-once has refused '$2 == "off"'
promise wrong-calls-give-the-documented-errors lacks refused '/^check/ && $3 != "ok"'
"$tool" outlive >"$work/outlive"
promise a-mapping-is-readable-after-its-buffers-are-freed lacks outlive '/^check/ && $3 != "ok"'
"$tool" held >"$work/held"
grep '^#' "$work/held"
promise freed-buffers-that-are-mapped-take-no-more-than-their-share lacks held '/^check/ && $3 != "ok"'
promise freed-buffers-are-counted has held '$2 == "unmapped-buffers-are-free"'
# A copy, since other users may have no access to the build folder.
public=$(mktemp -d)
chmod 755 "$public"
cp "$tool" "$public/drivertool"
as_nobody() { setpriv --reuid 65534 --regid 65534 "$@" "$public/drivertool" open; }
parameter=/sys/module/pitrace/parameters/group
promise unprivileged-open-is-refused fails_with "Permission denied" as_nobody --clear-groups
echo 4711 >$parameter
promise member-of-the-group-may-open as_nobody --groups 4711
promise member-of-another-group-may-not fails_with "Permission denied" as_nobody --groups 4712
echo -1 >$parameter
promise no-group-no-access fails_with "Permission denied" as_nobody --groups 4711

# ---- ending ----

"$tool" hold >"$work/hold" &
holder=$!
until [[ -s $work/hold ]]; do sleep 0.05; done
promise second-owner-is-refused fails_with "busy" "$tool" alloc
promise unloading-while-in-use-is-refused fails_with "in use" rmmod pitrace
kill -9 $holder
wait $holder 2>/dev/null
promise unloading-after-the-owner-was-killed rmmod pitrace
nothing_left() {
    ! grep -q '\[pitrace\]' /proc/kallsyms && ! grep -q pitrace /sys/devices/system/cpu/hotplug/states &&
        [[ ! -e /dev/pitrace ]] && ! grep -q pitrace /proc/vmallocinfo $debug/kprobes/list
}
promise unloading-leaves-nothing nothing_left
insmod $module

# Traces, ITrace, PTT and hooks in turn.
statefuzz=$(dirname "$tool")/statefuzz
kill_at_random_moments() { "$statefuzz" cycles $module --calls 30 --seed $RANDOM >"$work/cycles" && trace after-kills -s 0.2; }
promise killed-unloaded-and-loaded kill_at_random_moments
sed 's/^/# /' "$work/cycles"

# Only the checking kernel has fault injection; others skip this part.
if [[ -d $debug/failslab ]]; then
    for kind in failslab fail_page_alloc; do
        echo N >$debug/$kind/ignore-gfp-wait
        echo 0 >$debug/$kind/verbose
    done
    echo 0 >$debug/fail_page_alloc/min-order
    echo N >$debug/fail_page_alloc/ignore-gfp-highmem
    promise allocations-fail-one-by-one "$tool" without-memory
    promise allocations-that-fail-do-no-harm trace after-failures -s 0.2
fi

[[ ! -e /proc/sys/kernel/yama/ptrace_scope ]] || echo 0 >/proc/sys/kernel/yama/ptrace_scope
promise calls-return-what-a-model-predicts bash -c '"$0" --calls 10000 --seed $RANDOM >"$1"' "$statefuzz" "$work/fuzz"
sed 's/^/# /' "$work/fuzz"
promise fuzzing-leaves-a-working-module trace after-fuzz -s 0.2
promise buffers-are-freed-at-close sh -c '! grep -q new_area /proc/vmallocinfo'
promise unloading-after-fuzzing rmmod pitrace
echo "ok finished"
