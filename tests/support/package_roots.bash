# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Keeps bare roots of Debian releases, and runs commands in them as root or as another user. Sourced; needs root rights and the
# Debian mirror. SOURCE_DIR is the source tree.

# shellcheck source=tests/support/debian_root.bash
source "$SOURCE_DIR/tests/support/debian_root.bash"

# Where roots are kept that many tests use, with the packages that were downloaded once.
roots_cache=${PITRACE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/pitrace}/debian

# base_root SUITE: makes sure that there is a minimal root of the suite, with the package lists of its updates and backports;
# prints its folder.
base_root() {
    local suite=$1 folder=$roots_cache/$1 mirror
    if [ ! -e "$folder" ]; then
        mkdir -p "$roots_cache"
        rm -rf --one-file-system "$folder.new"
        make_debian_root "$suite" "$folder.new" ca-certificates >&2 || return
        mirror=$(sed -n 's/^deb \([^ ]*\) .*/\1/p' "$folder.new/etc/apt/sources.list" | head -n 1)
        printf 'deb %s %s main\n' "$mirror" "$suite" "$mirror" "$suite-updates" "$mirror" "$suite-backports" \
            "${mirror%debian*}debian-security" "$suite-security" >"$folder.new/etc/apt/sources.list"
        # A root is lost with its machine anyway: unpacking need not wait for the disk.
        echo force-unsafe-io >"$folder.new/etc/dpkg/dpkg.cfg.d/unsafe-io"
        # No daemon may start in a root.
        printf '#!/bin/sh\nexit 101\n' >"$folder.new/usr/sbin/policy-rc.d"
        chmod 755 "$folder.new/usr/sbin/policy-rc.d"
        mv "$folder.new" "$folder"
    fi
    printf '%s\n' "$folder"
}

# copy_root FROM TO
copy_root() {
    rm -rf --one-file-system "$2"
    cp -a --reflink=auto "$1" "$2"
}

# in_root ROOT [FOLDER...] -- COMMAND...: runs COMMAND as root; the folders of this machine have the same paths there.
in_root() {
    local root=$1 folders=(/sys)
    shift
    while [ "$1" != -- ]; do
        folders+=("$1")
        shift
    done
    shift
    cp /etc/resolv.conf "$root/etc/resolv.conf"
    (cd / && "$SOURCE_DIR/scripts/lab.d/in-root" "$root" "${folders[@]}" -- /usr/bin/env -i HOME=/root TERM=dumb LC_ALL=C.UTF-8 \
        PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive \
        ${http_proxy:+http_proxy="$http_proxy"} "$@" </dev/null)
}

# as_user ROOT COMMAND...: runs COMMAND as the user 'visitor' of the root, in his home.
as_user() {
    local root=$1
    shift
    in_root "$root" -- setpriv --reuid visitor --regid visitor --init-groups --no-new-privs \
        env HOME=/home/visitor USER=visitor sh -c 'cd && exec "$@"' sh "$@"
}
