#!/bin/bash
# SPDX-License-Identifier: MIT
# Guest part of itrace-safety.bats: ITrace does not block the machine or a process, and follows nothing that its user may
# not debug. Prints "ok NAME" or "not ok NAME" for each promise.
# Usage: itrace-safety-guest.sh BUILD-FOLDER
# shellcheck disable=SC2016 # awk programs have dollars
set -u

here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "$1" && pwd)
tool=$build/tests/itracer
PATH=$build/bin:$PATH
module=/run/lab/ctl/pitrace.ko
bound=/sys/module/pitrace/parameters/itrace_hold_seconds
work=$LAB_OUT/itrace-safety
mkdir -p "$work"
cd "$work" || exit

# shellcheck source=tests/lab/promises.bash
source "$here/promises.bash"
# shellcheck source=tests/lab/itracer.bash
source "$here/itracer.bash"

# Waits with a built-in: a child process such as sleep could be followed, too.
mkfifo /run/itrace-never
exec {never}<>/run/itrace-never
nap() { read -r -t "$1" -u "$never"; }
state_of() { # state_of PID: its state as in ps
    local words
    read -r -a words 2>/dev/null <"/proc/$1/stat" && state=${words[2]}
}
becomes() { # becomes PID STATES: within a minute
    local i state=''
    for ((i = 0; i < 600; i++)); do
        state_of "$1"
        [[ $state == [$2] ]] && return
        nap 0.1
    done
    echo "# process $1 is in state $state"
    return 1
}
# A delayed thread wakes up periodically, so it must be running in twenty checks in a row, for two seconds.
runs_on() { # runs_on PID: within a minute
    local i state awake=0
    for ((i = 0; i < 600 && awake < 20; i++)); do
        state=''
        state_of "$1"
        if [[ $state == R ]]; then awake=$((awake + 1)); else awake=0; fi
        nap 0.1
    done
    ((awake == 20)) || echo "# process $1 is in state $state"
    ((awake == 20))
}
ends() { # ends PID: within a minute; this shell may have waited for it already
    local i state
    for ((i = 0; i < 600; i++)); do
        state=''
        state_of "$1"
        [[ $state == '' || $state == Z ]] && return
        nap 0.1
    done
    echo "# process $1 is in state $state"
    return 1
}
begin_to_hold() { # begin_to_hold PID
    local i
    : >held
    "$tool" hold "$1" >held 2>&1 &
    holder=$!
    for ((i = 0; i < 600; i++)); do grep -qs ready held && return; nap 0.1; done
    return 1
}
end_holder() { # kills the process that owns the trace, which ends the trace
    kill -KILL $holder
    wait $holder 2>/dev/null
}
# The limit is two seconds; the processor may be busy with something else.
took_less_than() { # took_less_than SECONDS SINCE
    awk -v max="$1" -v began="$2" -v now="$EPOCHREALTIME" 'BEGIN { print "# took " now - began; exit !(now - began < max) }'
}
# Within five seconds of waiting: the host may be busy.
unloads_soon() {
    local i
    for ((i = 0; i < 50; i++)); do
        rmmod pitrace 2>/dev/null && break
        nap 0.1
    done
    [[ ! -e /dev/pitrace ]] && insmod "$module"
}

# ---- interrupts are delivered although the program runs only popf ----

promise consecutive-popf-are-followed run popfs -u self popfs 300000
promise consecutive-popf-do-not-block-interrupts awk '$1 == "signals" { few = $2 < 5; n++ } END { exit !(n == 2 && !few) }' popfs
sed 's/^/# /' popfs

# ---- the exception source is in the chain of die notifiers before ITrace ----

run exceptions -E -u self loop 10000
promise exceptions-without-steps has exceptions '$1 == "exceptions" && $2 < 20'
sed -n 's/^exceptions/# &/p' exceptions

# ---- many short threads, with few slots ----

run children -u -c -m 32 self fork 100
promise many-children-in-few-slots-are-followed has children '$1 == "untraced" && $2 == 0'
sed 's/^/# children: /' children

# ---- a followed thread ends the trace or attaches probes; the kernel then patches its code ----

promise a-followed-thread-can-end-the-trace run ends-itself -t 4096 ends-itself
promise a-followed-thread-ends-the-trace-in-seconds awk '$1 ~ /^(off|close|attach)$/ { n++; slow += $2 > 30 } END { exit !(n == 3 && !slow) }' ends-itself
sed 's/^/# /' ends-itself

# ---- stopped processes ----

"$tool" loop-for-ever &
looper=$!
begin_to_hold $looper
kill -STOP $looper
becomes $looper T
began=$EPOCHREALTIME
end_holder
promise ending-while-a-process-is-stopped-takes-seconds took_less_than 6 "$began"
promise the-module-unloads-although-a-followed-process-is-stopped unloads_soon
begin_to_hold $looper
end_holder
promise the-module-unloads-although-a-process-was-stopped-before unloads_soon
begin_to_hold $looper
kill -CONT $looper
nap 0.5
promise a-stopped-process-continues-and-is-followed runs_on $looper
end_holder
nap 0.2
promise a-stopped-process-continues-after-the-trace kill -0 $looper

# ---- continuous: a recorder that does not read ----

echo 3 >$bound
swtrace init --source driver -t cont -s 1 >/dev/null
swtrace it_install -cont -user -p $looper
swtrace on
recorder=$(swtrace info --json | jq -r .trace.recorder)
swtrace it_on
kill -STOP "$recorder"
promise a-thread-is-delayed-while-the-buffer-is-full becomes $looper D
promise the-delay-ends-after-itrace-hold-seconds runs_on $looper
kill -CONT "$recorder"
for ((i = 0; i < 100; i++)); do
    swtrace it_info --json >info
    [[ $(jq .gaps info) -gt 0 ]] && break
    nap 0.1
done
promise the-end-of-the-delay-makes-a-gap test "$(jq .gaps info)" -gt 0
echo 600 >$bound
kill -STOP "$recorder"
promise a-thread-is-delayed-again becomes $looper D
if [[ -e /sys/power/pm_test ]] && grep -q freeze /sys/power/state; then
    echo 0 >/sys/module/suspend/parameters/pm_test_delay
    echo freezer >/sys/power/pm_test
    promise the-machine-suspends-while-a-thread-is-delayed bash -c 'echo freeze >/sys/power/state'
    kill -CONT "$recorder"
    swtrace it_info --json >info
    promise no-thread-is-followed-after-suspend test "$(jq '.on or .threads > 0' info)" = false
    swtrace it_on
    kill -STOP "$recorder"
    becomes $looper D
fi
kill -KILL $looper
promise a-delayed-thread-can-be-killed ends $looper
wait $looper 2>/dev/null
kill -CONT "$recorder"
swtrace it_remove
swtrace off >/dev/null
swtrace free
echo 10 >$bound

# ---- continuous: all processes ----

swtrace init --source driver -t cont >/dev/null
swtrace it_install -cont -user -p all
swtrace on
swtrace it_on
promise commands-run-while-all-processes-are-followed timeout 120 /bin/true
promise following-all-processes-can-be-turned-off timeout 120 swtrace it_off
swtrace off >/dev/null
swtrace free

# ---- permissions ----

public=$(mktemp -d)
chmod 755 "$public"
cp "$tool" "$public/itracer"
cp /bin/sleep "$public/sleep"
cp /bin/true "$public/set-user-id"
chmod 4755 "$public/set-user-id"
echo 4711 >/sys/module/pitrace/parameters/group
member() { setpriv --reuid 65534 --regid 65534 --groups 4711 "$@"; }
refused() { # refused COMMAND...: with "Permission denied"
    local text
    ! text=$("$@" 2>&1) && [[ $text == *"Permission denied"* ]]
}
"$public/sleep" 1000 &
others=$!
promise a-group-member-can-follow-his-own-program member "$public/itracer" -u run "$public/sleep" 0
promise a-group-member-cannot-follow-kernel-code refused member "$public/itracer" run "$public/sleep" 0
promise a-group-member-cannot-follow-processes-of-other-users refused member timeout 20 "$public/itracer" -u hold $others
promise a-group-member-cannot-follow-pid-ranges refused member "$public/itracer" -u enable-all
member "$public/itracer" -uc run /bin/sh -c "$public/set-user-id; exit 3" >set-user-id 2>&1
promise a-set-user-id-program-is-not-followed has set-user-id '$1 == "stop" && $2 == 5 && $3 == 1'
promise a-set-user-id-program-runs-to-its-end has set-user-id '$1 == "status" && $2 == 3'
sed 's/^/# set-user-id: /' set-user-id
kill $others
echo -1 >/sys/module/pitrace/parameters/group
echo "ok finished"
