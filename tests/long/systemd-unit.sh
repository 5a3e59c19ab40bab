#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Part of systemd.bats that runs beside a systemd: the packages' unit pitrace-fleet.
# Usage: systemd-unit.sh STAGE first|second; STAGE has the programs as installed. The first machine ends in the middle of a trace, whose
# spool is in $OUT/left for the second one. Prints "ok NAME" or "not ok NAME" for each promise.

set -euo pipefail

stage=$1 part=$2
# shellcheck source=tests/long/systemd-fleet.bash
source tests/long/systemd-fleet.bash

enabled_and_started() {
    ! systemctl is-enabled -q "$unit" && ! active &&
        systemctl enable -q "$unit" && systemctl is-enabled -q "$unit" && systemctl start "$unit" &&
        systemctl status --no-pager "$unit" >/dev/null
}

# memory_of FILE FILE-OF-VERSION-1: of the unit's control group.
memory_of() {
    local group
    group=$(shown ControlGroup)
    cat "/sys/fs/cgroup$group/$1" 2>/dev/null || cat "/sys/fs/cgroup/memory$group/$2"
}
has_its_limits() {
    [[ $(memory_of memory.max memory.limit_in_bytes) == 524288000 && $(shown Nice) == 10 && $(shown OOMPolicy) == continue ]] &&
        grep -qx CPUQuota=25% "/usr/lib/systemd/system/$unit.service"
}
logged() { journalctl -u "$unit" --no-pager | grep -q "$1"; }

# There is too little memory for post: its trace fails, and whatever else is killed, recording goes on without a new start of the unit.
memory_limit() {
    settings
    drop_in memory MemoryMax=30M MemorySwapMax=0
    systemctl restart "$unit" && until_true 400 at_least failed 1 && [[ $(shown NRestarts) == 0 ]] && active && until_true 240 records &&
        logged 'cannot be added (status 137)'
    local status=$?
    rm "/etc/systemd/system/$unit.service.d/memory.conf"
    systemctl daemon-reload
    return $status
}

# Nanoseconds of processor time of the unit; with control groups of version 1, of its processes and of those for which they waited.
used() {
    local ns group
    ns=$(shown CPUUsageNSec) group=$(shown ControlGroup)
    if [[ $ns =~ ^[0-9]+$ ]]; then
        echo "$ns"
    else
        while read -r pid; do sed 's/.*) //' "/proc/$pid/stat" 2>/dev/null || true; done <"/sys/fs/cgroup/systemd$group/cgroup.procs" |
            awk '{ sum += $12 + $13 + $14 + $15 } END { printf "%d\n", sum * 1e7 }'
    fi
}

# A processor time of a twentieth is not exceeded.
processor_limit() {
    settings
    drop_in cpu CPUQuota=5%
    systemctl restart "$unit" && until_true 240 records || return
    local before after began=$EPOCHREALTIME took
    before=$(used)
    sleep 20
    after=$(used)
    took=$(awk -v a="$began" -v b="$EPOCHREALTIME" 'BEGIN { printf "%d", (b - a) * 1e9 }')
    rm "/etc/systemd/system/$unit.service.d/cpu.conf"
    systemctl daemon-reload
    echo "# processor time: $((after - before)) ns of $took ns"
    # Of the first and of the last period all can be used, and the kernel counts in ticks.
    ((after > before && after - before < took / 20 + 100000000))
}

full_disk() {
    systemctl stop "$unit"
    mount -t tmpfs -o size=24m tmpfs $state
    settings disk_mb=1000
    systemctl start "$unit" && until_true 240 at_least added 1 || return
    head -c 100M /dev/zero >$state/filler 2>/dev/null
    sleep 20
    active || return
    rm $state/filler
    local before
    before=$(number added)
    until_true 300 recovered $((before + 2)) && [[ $(shown NRestarts) == 0 ]]
    local status=$?
    systemctl stop "$unit"
    umount $state
    return $status
}

stopped() {
    settings seconds=3000
    systemctl restart "$unit" && until_true 240 records || return
    local partial
    partial=$(number partial)
    systemctl stop "$unit"
    [[ $(value state) == ended && $(number added) -ge 1 && $(number partial) == "$partial" && $(shown Result) == success ]] &&
        [[ ! -e $spool/open.nrm2 && -z $(find "$spool" -name 'closed-*') && -z $(recorder) ]]
}

# Two services use processor time, as much as the kernel counts.
services_have_their_shares() {
    settings seconds=3000
    systemctl restart "$unit" && until_true 240 records || return
    local name
    for name in one three; do
        cp tests/long/systemd-spin.sh "/usr/local/bin/spin-$name"
        systemctl reset-failed "spin-$name" 2>/dev/null || true
    done
    systemd-run -q --unit spin-one --service-type=oneshot /usr/local/bin/spin-one "$rounds" "$OUT/spin-one"
    systemd-run -q --unit spin-three --service-type=oneshot /usr/local/bin/spin-three $((3 * rounds)) "$OUT/spin-three"
    systemctl stop "$unit"
    [[ $(value state) == ended && $(number added) -ge 1 ]] && cp -r $state/fleet "$OUT/fleet"
}

until_true 300 running
install
settings
if [[ $part == first ]]; then
    promise unit-is-enabled-and-started enabled_and_started
    promise unit-records until_true 300 records
    promise unit-adds-traces until_true 300 at_least added 1
    promise unit-has-its-limits has_its_limits
    promise killed-it-is-started-again killed_and_started_again
    promise killed-recorder-is-replaced recorder_killed
    promise stopped-its-trace-is-complete stopped
    promise a-full-disk-is-survived full_disk
    promise memory-limit-costs-a-trace-only memory_limit
    promise processor-limit-is-kept processor_limit
    promise services-have-their-shares services_have_their_shares
    # The power fails in the middle of a trace.
    settings seconds=3000
    systemctl restart "$unit"
    until_true 240 records
    record_something
    cp -a "$spool" "$OUT/left"
else
    mkdir -p $state
    cp -a "$OUT/left" "$spool"
    systemctl start "$unit"
    promise the-open-trace-of-before-is-added-and-counted until_true 300 is_whole
fi
journalctl -u "$unit" --no-pager >"$OUT/journal-$part" 2>&1 || true
