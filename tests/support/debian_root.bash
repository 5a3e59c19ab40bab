# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Makes a minimal root of a Debian release with debootstrap, for tests of a whole machine. Sourced.

# make_debian_root RELEASE DIRECTORY [PACKAGE,...]: the root has these packages, by default git, and nothing else; apt in it uses
# the machine's mirror.
make_debian_root() {
  local release=$1 root=$2 packages=${3:-git,ca-certificates} mirror file
  mirror=$(grep -rhoE 'https?://[^ ]*debian\.org/debian/?( |$)' /etc/apt/sources.list /etc/apt/sources.list.d \
    2>/dev/null | head -n 1 | tr -d ' ' || true)
  mkdir -p "$root"
  chmod 755 "$root" # it becomes / of the chroot, for every user
  debootstrap --variant=minbase --include="$packages" "$release" "$root" \
    "${mirror:-http://deb.debian.org/debian}" >"$root.log" 2>&1 || {
    tail -n 20 "$root.log" >&2
    return 1
  }
  rm -f "$root.log"
  cp /etc/resolv.conf "$root/etc/resolv.conf"
  for file in /etc/apt/apt.conf.d/*proxy*; do
    if [[ -e $file ]]; then cp "$file" "$root/etc/apt/apt.conf.d/"; fi
  done
}
