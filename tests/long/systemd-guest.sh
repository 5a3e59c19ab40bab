#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Part of systemd_guest.bats that runs in a guest whose first process is systemd: the unit pitrace-fleet with the module. It starts again
# when the guest has rebooted; $LAB_OUT/phase says how. $LAB_OUT/disk has a file system for /var/lib/pitrace.
# Usage: systemd-guest.sh STAGE. Prints "ok NAME" or "not ok NAME" for each promise.

set -euo pipefail

stage=$1 rounds=100000 patience=5
# shellcheck source=tests/long/systemd-fleet.bash
source tests/long/systemd-fleet.bash
phase=$(cat "$LAB_OUT/phase" 2>/dev/null || echo first)

source_is() { PITRACE_SOCKET=$spool/recorder "$stage/bin/swtrace" info | grep -E '^ *Source' | grep -q "$1"; }
tables() { find $state/fleet/records -name '*.parquet' -printf '%f\n' | sed 's/\.parquet$//' | sort -n; }

begin_recording() {
    settings seconds=3000 && systemctl restart "$unit" && until_true 240 records && record_something
}

records_with() { # records_with SOURCE
    begin_recording && source_is "$1"
}

# has_begun FROM TO: the trace of one table has begun between these times of the clock, which traces have in seconds.
has_begun() {
    local ns
    for ns in $(tables); do
        if ((ns / 1000000000 >= $1 - 2 && ns / 1000000000 <= $2 + 2)); then return; fi
    done
    echo "# no table has begun from $1 to $2: $(tables | tr '\n' ' ')"
    return 1
}

# The trace ends when the clock is set, and the next one has its time; neither waits for an hour.
clock_is_set() { # clock_is_set SECONDS
    local from_1=$EPOCHSECONDS to_1 from_2 to_2 before
    begin_recording || return
    to_1=$EPOCHSECONDS before=$(number added)
    date -s "@$((EPOCHSECONDS + $1))"
    from_2=$EPOCHSECONDS
    until_true 240 recovered $((before + 1)) || return
    to_2=$EPOCHSECONDS
    record_something
    systemctl stop "$unit"
    [[ $(number added) == $((before + 2)) && $(number partial) == 0 && $(number failed) == 0 ]] &&
        has_begun "$from_1" "$to_1" && has_begun "$from_2" "$to_2"
}

without_the_module() {
    systemctl stop "$unit" && rmmod pitrace && records_with perf && systemctl stop "$unit"
    local status=$?
    insmod /run/lab/ctl/pitrace.ko
    return $status
}

ended_by_the_reboot() {
    [[ $(value state) == ended && $(number added) == $(($1 + 1)) && $(number partial) == "$2" && $(number failed) == 0 ]] &&
        [[ ! -e $spool/open.nrm2 && -z $(find "$spool" -name 'closed-*') ]]
}

save_journal() { journalctl -b -u "$unit" --no-pager >"$LAB_OUT/journal-$phase" 2>&1 || true; }
trap save_journal EXIT

until_true 300 running
modprobe -a loop ext4
mkdir -p $state
mount -o loop "$LAB_OUT/disk" $state
install
case $phase in
first)
    promise the-unit-records-with-the-module records_with driver
    promise the-clock-is-set-forward clock_is_set 3600
    promise the-clock-is-set-back clock_is_set -3600
    promise a-killed-recorder-is-replaced recorder_killed
    promise killed-it-is-started-again killed_and_started_again
    promise without-the-module-perf-records without_the_module
    begin_recording
    echo "$(number added) $(number partial)" >"$LAB_OUT/before"
    save_journal
    echo rebooted >"$LAB_OUT/phase"
    systemctl reboot
    sleep infinity
    ;;
rebooted)
    read -r added partial <"$LAB_OUT/before"
    promise a-reboot-completes-the-trace ended_by_the_reboot "$added" "$partial"
    # The power fails in the middle of a trace.
    begin_recording
    tables >"$LAB_OUT/before"
    save_journal
    echo without-power >"$LAB_OUT/phase"
    echo b >/proc/sysrq-trigger
    sleep infinity
    ;;
without-power)
    settings seconds=3000
    systemctl start "$unit"
    promise the-open-trace-of-before-is-added-and-counted until_true 300 is_whole
    systemctl stop "$unit"
    promise no-table-is-lost diff <(comm -12 "$LAB_OUT/before" <(tables)) "$LAB_OUT/before"
    ;;
esac
save_journal
umount $state
