#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Boots this machine's systemd as the first process of namespaces, over a copy of this machine's files that is lost at the end, and runs
# a command beside it, with its exit status. Neither can set the clock, or change the kernel's settings. Usage: systemd-boot.sh FOLDER COMMAND...; FOLDER is the only one that stays as it is written.

set -euo pipefail

folder=$1
shift
work=$(mktemp -d)
group=pitrace-systemd-$$
hierarchies=$(awk '$9 == "cgroup" || $9 == "cgroup2" { print $5 }' /proc/self/mountinfo)

cleanup() {
    if [[ -n ${systemd-} ]]; then
        kill -KILL "$systemd" 2>/dev/null || true
        wait "$systemd" 2>/dev/null || true
    fi
    local hierarchy i
    for hierarchy in $hierarchies; do
        echo $$ 2>/dev/null >"$hierarchy/cgroup.procs" || true
        # What was killed may still be ending.
        for ((i = 0; i < 50; i++)); do
            find "$hierarchy/$group" -depth -type d -exec rmdir {} + 2>/dev/null || true
            [[ -e $hierarchy/$group ]] || break
            sleep 0.1
        done
    done
    rm -rf --one-file-system "$work"
}
trap cleanup EXIT

# Its control groups are below one of its own.
for hierarchy in $hierarchies; do
    if mkdir "$hierarchy/$group" 2>/dev/null; then echo $$ >"$hierarchy/$group/cgroup.procs" 2>/dev/null || true; fi
done

cat >"$work/boot" <<'END'
set -eu
work=$1 folder=$2 kinds=$3
mount --make-rprivate /
mount -t tmpfs -o size=1g tmpfs "$work"
mkdir "$work/upper" "$work/work" "$work/root"
mount -t overlay -o lowerdir=/,upperdir="$work/upper",workdir="$work/work" overlay "$work/root"
cd "$work/root"
mount -t proc proc proc
mount --bind proc/sys proc/sys
mount -o remount,bind,ro proc/sys
mount --rbind /sys sys
mount -o remount,bind,ro sys
mount --rbind /dev dev
mount -t tmpfs -o mode=755 tmpfs run
mkdir -p run/lock run/out
mount --bind "$folder" run/out
umount -R sys/fs/cgroup
if [ "$kinds" = v2 ]; then
    mount -t cgroup2 cgroup2 sys/fs/cgroup
else
    mount -t tmpfs tmpfs sys/fs/cgroup
    for kind in $kinds; do
        mkdir "sys/fs/cgroup/$kind"
        case $kind in
        unified) mount -t cgroup2 cgroup2 sys/fs/cgroup/unified ;;
        systemd) mount -t cgroup -o none,name=systemd cgroup sys/fs/cgroup/systemd ;;
        *) mount -t cgroup -o "$kind" cgroup "sys/fs/cgroup/$kind" ;;
        esac
    done
    mount -o remount,ro sys/fs/cgroup
fi
hostname systemd-test
exec setpriv --bounding-set=-sys_time,-sys_module,-sys_boot chroot . env -i container=pitrace PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin /lib/systemd/systemd --unit=basic.target
END
kinds=v2
if [[ $(stat -fc %T /sys/fs/cgroup) != cgroup2fs ]]; then kinds=$(for hierarchy in $hierarchies; do echo "${hierarchy##*/}"; done); fi
unshare --pid --fork --mount --uts --ipc --cgroup --kill-child sh "$work/boot" "$work" "$folder" "$kinds" >"$folder/systemd.log" 2>&1 </dev/null &
unshared=$!
for ((i = 0; i < 600; i++)); do
    systemd=$(pgrep -P "$unshared" || true)
    if [[ -n $systemd && $(cat "/proc/$systemd/comm") == systemd && -S /proc/$systemd/root/run/systemd/private ]]; then break; fi
    kill -0 "$unshared" || exit
    sleep 0.1
done
nsenter --target "$systemd" --all --root --wd="/proc/$systemd/root$PWD" setpriv --bounding-set=-sys_time,-sys_module,-sys_boot env -i PATH="$PATH" HOME=/root OUT=/run/out "$@"
