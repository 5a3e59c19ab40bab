#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Programs of another Debian release, in a root of their own in the lab's cache; sourced after kernels.bash.
#
# The packages and those that they need are downloaded and unpacked; their scripts do not run. Neither root rights nor
# the host's packages are needed.

# kernel_compiler KERNEL-DIR: prints the compiler that a kernel's headers name, if the host does not have it.
kernel_compiler() {
    local compiler
    # Debian's headers name the compiler of the kernel, and use its options.
    compiler=$(sed -nE 's/^CC = .*\b(gcc-[0-9]+)$/\1/p' "$1/.kernelvariables" 2>/dev/null || true)
    [[ -z $compiler ]] || command -v "$compiler" >/dev/null || printf '%s\n' "$compiler"
}

# compiler_root RELEASE COMPILER: prints the folder of the root with that compiler and all that a module's build needs.
compiler_root() { lab_root "$(suite_of "$1")" "$2" make libc6-dev libelf-dev perl; }

# Sets the array make: the command, with options, that runs make for modules of a kernel.
# set_make KERNEL-DIR RELEASE FOLDER...: the folders are those that it reads or writes.
set_make() {
    local dir=$1 release=$2 compiler toolroot=''
    shift 2
    make=(make -j"$(nproc)")
    compiler=$(kernel_compiler "$dir")
    if [[ -n $compiler ]]; then
        if [[ $dir != "$LAB_CACHE"/* ]]; then
            lab_say "kernel $release was compiled with $compiler, and so must be its modules. Install the package $compiler"
            return 1
        fi
        toolroot=$(compiler_root "$release" "$compiler") || return
        make=("${BASH_SOURCE[0]%/*}/in-root" "$toolroot" "$LAB_CACHE" "$@" -- "${make[@]}")
    fi
    # Without pahole the link step of some kernels fails; the modules need no BTF.
    if [[ -n $toolroot ]] || ! command -v pahole >/dev/null; then make+=(CONFIG_DEBUG_INFO_BTF_MODULES=); fi
}

# Must be called under the lock.
lab_unpack_root() {
    local dir=$1 tmp log apt=$LAB_CACHE/apt-$LAB_SUITE package began=$SECONDS
    shift
    [[ ! -e $dir ]] || return 0
    lab_need apt-get dpkg-deb unshare || return 1
    lab_apt_update || return 1
    lab_say "fetching $* of Debian $LAB_SUITE into $LAB_CACHE (once)"
    mkdir -p "${dir%/*}"
    tmp=$(mktemp -d "$dir.XXXXXX")
    mkdir -p "$tmp.cache/archives/partial"
    log=$tmp.log
    # With an empty list of installed packages, apt downloads all that these need.
    if ! APT_CONFIG=$apt/apt.conf apt-get -qq install --download-only --no-install-recommends --yes \
        -o Dir::Cache="$tmp.cache" -o Debug::NoLocking=1 \
        base-files dash coreutils grep sed mawk "$@" >"$log" 2>&1; then
        sed 's/^/    /' "$log" >&2
        rm -rf "$tmp" "$tmp.cache" "$log"
        lab_say "cannot download $* from the Debian mirror. Try again later"
        return 1
    fi
    # Links such as /lib come first: packages put files below them.
    mkdir -p "$tmp/usr/bin" "$tmp/usr/sbin" "$tmp/usr/lib" "$tmp/usr/lib64"
    for package in bin sbin lib lib64; do ln -s "usr/$package" "$tmp/$package"; done
    for package in "$tmp.cache"/archives/*.deb; do
        if ! dpkg-deb --fsys-tarfile "$package" | tar -x --keep-directory-symlink --no-same-owner -C "$tmp" >>"$log" 2>&1; then
            sed 's/^/    /' "$log" >&2
            rm -rf "$tmp" "$tmp.cache" "$log"
            lab_say "cannot unpack ${package##*/}. Check the free space in $LAB_CACHE"
            return 1
        fi
    done
    ln -sf mawk "$tmp/usr/bin/awk"
    rm -rf "$tmp.cache" "$log"
    chmod 755 "$tmp"
    mv "$tmp" "$dir"
    lab_say "$* of Debian $LAB_SUITE: ready ($((SECONDS - began)) s)"
}

# lab_root SUITE PACKAGE...: prints the folder of a root with these packages.
lab_root() {
    local LAB_SUITE=$1 dir
    shift
    dir="$LAB_CACHE/roots/$LAB_SUITE-$(printf '%s-' "$@")"
    dir=${dir%-}
    if [[ ! -e $dir ]]; then
        lab_locked apt lab_unpack_root "$dir" "$@" || return 1
    fi
    printf '%s\n' "$dir"
}
