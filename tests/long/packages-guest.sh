#!/bin/bash
# SPDX-License-Identifier: MIT
# Guest part of packages.bats, in a root with all packages: prints "ok NAME" or "not ok NAME" for each promise.
# Usage: packages-guest.sh ROOT
set -u

root=$1
for folder in proc sys dev run tmp; do mkdir -p "$root/$folder"; done
mount --rbind /sys "$root/sys"
mount --rbind /dev "$root/dev"
mount -t tmpfs run "$root/run"
mount -t tmpfs tmp "$root/tmp"
chmod 1777 "$root/tmp"

# inside COMMAND...: runs it in the root, as the first process of a process namespace with its own /proc: the packages'
# scripts do not take the root for a chroot, whose machine has modules that are not theirs.
inside() {
  # shellcheck disable=SC2016 # the inner shell expands it
  unshare --pid --mount --fork chroot "$root" /bin/sh -c 'mount -t proc proc /proc && "$@"' sh "$@"
}
as_visitor() { inside setpriv --reuid visitor --regid visitor --init-groups env HOME=/home/visitor "$@"; }

# shellcheck source=tests/lab/command_promises.bash
source "$(dirname "$0")/../lab/command_promises.bash"
parameter=/sys/module/pitrace/parameters/group
group_id() { inside getent group pitrace | cut -d: -f3; }
settled() {
  inside udevadm settle
  sleep 2
  cat "$parameter"
}
is_loaded() { [[ -d /sys/module/pitrace ]] && echo loaded; }
# The program of a unit that systemd would run.
unit() { inside sh -c "$(sed -n "s/^$1=//p" "$root"/lib/systemd/system/pitrace-module.service)"; }

export DEBIAN_FRONTEND=noninteractive
gid=$(group_id)
[[ $gid =~ ^[0-9]+$ ]] || echo "not ok group: '$gid'"
inside /lib/systemd/systemd-udevd >"$root/run/udevd.log" 2>&1 &
for _ in {1..60}; do [[ ! -S $root/run/udev/control ]] || break; sleep 1; done
[[ -S $root/run/udev/control ]] || { echo "not ok udevd"; cat "$root/run/udevd.log"; }
promise it-is-not-loaded-by-itself 1 "" is_loaded
# shellcheck disable=SC2016 # the inner shell expands it
promise run-tprof-of-root-loads-and-unloads-the-module 0 "The pitrace module" inside bash -c '
  run.tprof --source driver -o /tmp/run -- sh -c "i=0; while [ \$i -lt 100000 ]; do i=\$((i + 1)); done" &&
    [ ! -e /sys/module/pitrace ] && grep -qi "driver\|module" /tmp/run/tprof.out && echo The pitrace module'
promise the-unit-loads-the-module 0 "driver is loaded" unit ExecStart
promise udev-sets-the-group 0 "$gid" settled
promise the-options-of-modprobe-d-are-used 0 "100" cat /sys/module/pitrace/parameters/ptt_pages
promise a-member-of-the-group-may-open-the-device 0 "In use by: no process" as_visitor ddq
promise a-member-of-the-group-profiles-with-the-module 0 "" as_visitor run.tprof --source driver -o /home/visitor/driver -- true
promise another-user-may-not 0 "You cannot open" inside setpriv --reuid nobody --regid nogroup --clear-groups ddq
promise the-unit-unloads-the-module 0 "unloaded" unit ExecStop
promise a-chosen-group-is-accepted 0 "" inside modprobe pitrace group=1
promise udev-leaves-the-chosen-group 0 "1" settled
promise the-chosen-group-remains-after-a-new-configuration 0 "" inside dpkg-reconfigure -f noninteractive pitrace
promise the-chosen-group-has-remained 0 "1" cat "$parameter"
echo -1 >"$parameter"
promise a-new-configuration-sets-the-group-of-a-loaded-module 0 "" inside dpkg-reconfigure -f noninteractive pitrace
promise the-module-has-the-group 0 "$gid" cat "$parameter"
promise the-member-leaves-the-group 0 "" inside gpasswd -d visitor pitrace
promise purging-takes-the-right-from-the-group 0 "" inside dpkg --force-depends --purge pitrace
promise the-module-has-no-group 0 "-1" cat "$parameter"
promise removing-the-module-unloads-it 0 "" inside dpkg --remove pitrace-dkms
promise it-is-unloaded 1 "" is_loaded
echo "ok finished"
