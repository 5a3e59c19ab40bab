#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Fetches Debian kernels with their headers into the lab's cache; sourced by scripts/lab and scripts/build-module.
#
# Nothing is installed on the host and its apt sources do not change: apt gets a separate configuration, and
# the packages are unpacked with dpkg. In the cache folder $LAB_CACHE:
#   apt-SUITE/           package lists and configuration of the lab's own apt, for a Debian suite
#   alias/6.1            the release that was the newest of 6.1 at the last look-up
#   kernels/RELEASE/     boot/, lib/modules/RELEASE/, usr/src/linux-headers-RELEASE/, a ready initramfs, and vmlinux: the
#                        kernel without compression, if that is expensive for an emulated processor
#   roots/               see roots.bash

LAB_CACHE=${PITRACE_CACHE:-${XDG_CACHE_HOME:-${HOME:?is not set, so set PITRACE_CACHE to a folder}/.cache}/pitrace}/lab
LAB_ALIAS_DAYS=7
# The functions below use this suite; suite_of() has the one of a kernel.
LAB_SUITE=bookworm

lab_say() { printf '%s: %s\n' "${0##*/}" "$*" >&2; }

# lab_need PROGRAM...: lists all missing programs in one message.
lab_need() {
    local program missing=()
    for program; do
        command -v "$program" >/dev/null || missing+=("$program")
    done
    if ((${#missing[@]})); then
        lab_say "not found: ${missing[*]}. Install what the lab needs with scripts/install-deps lab"
        return 1
    fi
}

# lab_locked NAME COMMAND...: runs COMMAND under the cache's lock NAME. Children inherit the descriptor on purpose: the
# lock is held until the last of them has ended, even when this shell is killed.
lab_locked() {
    local lock=$LAB_CACHE/$1.lock
    shift
    mkdir -p "$LAB_CACHE"
    (
        flock 9
        "$@"
    ) 9>"$lock"
}

# suite_of KERNEL: prints the suite with a series or a release: bookworm, or trixie for what bookworm does not have.
suite_of() {
    case $1 in
    [7-9].* | *+deb13*) echo trixie ;;
    *) echo bookworm ;;
    esac
}

# Prints the addresses of the Debian and the Debian security archive that the host itself uses, or the public ones.
lab_mirrors() {
    local uri release debian='' security=''
    # shellcheck disable=SC2016 # these are apt's own variables
    while read -r uri release; do
        case $uri in
        *debian.org/*) ;;
        *) continue ;;
        esac
        case $release in
        *-security) security=${security:-$uri} ;;
        *) debian=${debian:-$uri} ;;
        esac
    done < <(apt-get indextargets --format '$(REPO_URI) $(RELEASE)' 'Created-By: Packages' 2>/dev/null || true)
    printf '%s\n' "${debian:-http://deb.debian.org/debian}" "${security:-http://deb.debian.org/debian-security}"
}

# Writes the configuration of the lab's own apt. Only the host's Acquire settings (proxies) are taken over:
# its hooks work on the host's own package cache.
lab_apt_setup() {
    local apt=$LAB_CACHE/apt-$LAB_SUITE mirrors signed='' keyring=/usr/share/keyrings/debian-archive-keyring.gpg
    mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial"
    mapfile -t mirrors < <(lab_mirrors)
    [[ ! -r $keyring ]] || signed="signed-by=$keyring "
    {
        printf "deb [${signed}arch=amd64] %s %s main\n" \
            "${mirrors[0]}" "$LAB_SUITE" "${mirrors[0]}" "$LAB_SUITE-updates" \
            "${mirrors[0]}" "$LAB_SUITE-backports" "${mirrors[1]}" "$LAB_SUITE-security"
    } >"$apt/sources.list"
    : >"$apt/status"
    {
        # Read first, these two keep apt from reading the host's configuration.
        printf '%s "/dev/null";\n' Dir::Etc::main Dir::Etc::parts
        printf 'Dir::Etc::sourcelist "%s";\nDir::Etc::sourceparts "/dev/null";\n' "$apt/sources.list"
        printf 'Dir::State::Lists "%s";\nDir::State::status "%s";\nDir::Cache "%s";\n' \
            "$apt/lists" "$apt/status" "$apt/cache"
        printf 'Acquire::Languages "none";\nAPT::Sandbox::User "";\nAPT::Architecture "amd64";\n'
        printf 'APT::Architectures { "amd64"; };\nAcquire::Retries "2";\nAcquire::http::Timeout "20";\n'
        apt-config dump 2>/dev/null | grep -E '^Acquire::(https?|ftp)::' || true
    } >"$apt/apt.conf"
}

# Updates the package lists, at most once an hour.
lab_apt_update() {
    local apt=$LAB_CACHE/apt-$LAB_SUITE
    [[ -z $(find "$apt/updated" -mmin -60 2>/dev/null) ]] || return 0
    lab_apt_setup
    if ! APT_CONFIG=$apt/apt.conf apt-get -qq update -o APT::Update::Error-Mode=any >"$apt/log" 2>&1; then
        lab_say "cannot read Debian's package lists ($(grep -m1 '^[EW]:' "$apt/log" || echo "see $apt/log"))"
        return 1
    fi
    touch "$apt/updated"
}

# lab_has PACKAGE: true if it is in the archive, not only named by another package.
lab_has() { APT_CONFIG=$LAB_CACHE/apt-$LAB_SUITE/apt.conf apt-cache show --no-all-versions "$1" >/dev/null 2>&1; }

# lab_newest SERIES FLAVOUR: prints the newest release of a series whose image and headers are both in the archive.
lab_newest() {
    local release pattern="^linux-image-${1//./\\.}[.+-][0-9][^-]*(-[0-9]+)?-$2\$"
    while read -r release; do
        if lab_has "linux-image-$release" && lab_has "linux-headers-$release"; then
            printf '%s\n' "$release"
            return 0
        fi
    done < <(APT_CONFIG=$LAB_CACHE/apt-$LAB_SUITE/apt.conf apt-cache pkgnames linux-image- | grep -E "$pattern" |
        sed 's/^linux-image-//' | sort -rV)
    return 1
}

# Must be called under the lock: sets up apt, looks a series up and stores the result.
lab_resolve_now() {
    local series=$1 flavour=amd64 release file=$LAB_CACHE/alias/$1 LAB_SUITE
    LAB_SUITE=$(suite_of "$series")
    [[ -z $(find "$file" -mtime "-$LAB_ALIAS_DAYS" 2>/dev/null) ]] || return 0
    case $series in
    *-*) flavour=${series#*-}-amd64 ;;
    esac
    mkdir -p "${file%/*}"
    if lab_apt_update; then
        if ! release=$(lab_newest "${series%%-*}" "$flavour"); then
            lab_say "Debian $LAB_SUITE has no kernel $series. Name one of: 6.1, 6.12, 6.1-rt, 7.3, 7.3-rt, or a full release"
            return 1
        fi
        printf '%s\n' "$release" >"$file.new"
        mv "$file.new" "$file"
    elif [[ -s $file ]]; then
        lab_say "using the cached kernel $(<"$file") for $series"
    else
        # A release of that series may be in the cache because it was requested by its full name.
        release=$(find "$LAB_CACHE/kernels" -mindepth 1 -maxdepth 1 -name '[0-9]*' -printf '%f\n' 2>/dev/null |
            grep -E "^${series%%-*}[.+-][0-9][^-]*(-[0-9]+)?-$flavour\$" | sort -V | tail -1) || true
        if [[ -z $release ]]; then
            lab_say "no kernel $series is in the cache $LAB_CACHE. Connect to a Debian mirror and try again"
            return 1
        fi
        lab_say "using the cached kernel $release for $series"
        printf '%s\n' "$release" >"$file"
        touch -d '8 days ago' "$file"
    fi
}

# lab_resolve NAME: prints the full release name of a series (6.1, 6.12-rt ...); a full release is printed unchanged.
lab_resolve() {
    local file=$LAB_CACHE/alias/$1
    case $1 in
    */* | .* | '') return 1 ;;
    [0-9]*-amd64)
        printf '%s\n' "$1"
        return
        ;;
    esac
    if [[ -z $(find "$file" -mtime "-$LAB_ALIAS_DAYS" 2>/dev/null) ]]; then
        lab_locked apt lab_resolve_now "$1" || return 1
    fi
    cat "$file"
}

# Must be called under the lock: downloads and unpacks one release.
lab_unpack() {
    local release=$1 dir=$LAB_CACHE/kernels/$1 tmp package packages common began=$SECONDS LAB_SUITE
    LAB_SUITE=$(suite_of "$release")
    [[ ! -e $dir ]] || return 0
    lab_need apt-get dpkg-deb depmod || return 1
    if ! lab_apt_update && ! [[ -e $LAB_CACHE/apt-$LAB_SUITE/updated ]]; then
        lab_say "kernel $release is not in the cache $LAB_CACHE. Connect to a Debian mirror and try again"
        return 1
    fi
    if ! lab_has "linux-image-$release" || ! lab_has "linux-headers-$release"; then
        lab_say "Debian $LAB_SUITE has no kernel $release (or no headers for it). Try 6.1, 6.12, 6.1-rt or 7.3"
        return 1
    fi
    lab_say "fetching kernel $release into $LAB_CACHE (once)"
    mkdir -p "$LAB_CACHE/kernels"
    tmp=$(mktemp -d "$LAB_CACHE/kernels/.new.XXXXXX")
    # The parts of the headers, and since 7.0 of the image, as the packages themselves name them.
    mapfile -t packages < <(APT_CONFIG=$LAB_CACHE/apt-$LAB_SUITE/apt.conf \
        apt-cache show --no-all-versions "linux-headers-$release" "linux-image-$release" |
        sed -n 's/^Depends: //p' | tr ',|' '\n' | sed 's/^ *//; s/[ (:].*//' |
        grep -E '^linux-(headers-.*-common.*|kbuild-.*|(base|binary|modules)-[0-9].*)$' | sort -u)
    packages+=("linux-image-$release" "linux-headers-$release")
    if ! (cd "$tmp" && APT_CONFIG=$LAB_CACHE/apt-$LAB_SUITE/apt.conf apt-get -qq download "${packages[@]}") >"$tmp.log" 2>&1; then
        sed 's/^/    /' "$tmp.log" >&2
        rm -rf "$tmp" "$tmp.log"
        # The lists may be older than the archive: look again next time.
        rm -f "$LAB_CACHE/apt-$LAB_SUITE/updated"
        lab_say "cannot download ${packages[*]} from the Debian mirror. Try again later"
        return 1
    fi
    for package in "$tmp"/*.deb; do
        if ! dpkg-deb -x "$package" "$tmp" >>"$tmp.log" 2>&1; then
            sed 's/^/    /' "$tmp.log" >&2
            rm -rf "$tmp" "$tmp.log"
            lab_say "cannot unpack ${package##*/}. Check the free space in $LAB_CACHE"
            return 1
        fi
        rm -f "$package"
    done
    # A system without /lib, as trixie, has everything in /usr/lib, and the image with the modules.
    if [[ -d $tmp/usr/lib/modules && ! -e $tmp/lib ]]; then ln -s usr/lib "$tmp/lib"; fi
    if [[ -e $tmp/lib/modules/$release/vmlinuz ]]; then
        mkdir -p "$tmp/boot"
        ln -s "../lib/modules/$release/vmlinuz" "$tmp/boot/vmlinuz-$release"
        ln -s "../lib/modules/$release/config" "$tmp/boot/config-$release"
    fi
    # The headers' Makefile includes the common headers by an absolute path.
    for common in Makefile .kernelvariables; do
        common=$tmp/usr/src/linux-headers-$release/$common
        [[ ! -f $common ]] || sed -i "s|/usr/src/linux-headers-|$dir/usr/src/linux-headers-|g" "$common"
    done
    ln -sfn "$dir/usr/src/linux-headers-$release" "$tmp/lib/modules/$release/build"
    rm -f "$tmp/lib/modules/$release/source"
    depmod -b "$tmp" "$release"
    chmod 755 "$tmp"
    mv "$tmp" "$dir"
    rm -f "$tmp.log"
    lab_say "kernel $release is ready ($((SECONDS - began)) s)"
}

# lab_kernel RELEASE: makes sure the release is in the cache; prints its folder.
lab_kernel() {
    local dir=$LAB_CACHE/kernels/$1
    if [[ ! -e $dir ]]; then
        lab_locked apt lab_unpack "$1" || return 1
    fi
    printf '%s\n' "$dir"
}

# number_at FILE OFFSET BYTES: prints a little-endian number in a file.
number_at() { od -An "-tu$3" -j "$(($2))" -N "$3" "$1" | tr -d ' '; }

# Must be called under the lock. The header of a bzImage (Documentation/arch/x86/boot.rst) has the place of the compressed
# kernel, whose last four bytes are the length of the uncompressed one.
lab_uncompress() {
    local dir=$LAB_CACHE/kernels/$1 image begin size
    [[ ! -e $dir/vmlinux ]] || return 0
    image=$dir/boot/vmlinuz-$1
    begin=$(((1 + $(number_at "$image" 0x1f1 1)) * 512 + $(number_at "$image" 0x248 4)))
    size=$(($(number_at "$image" 0x24c 4) - 4))
    dd if="$image" bs=1M iflag=skip_bytes,count_bytes,fullblock skip="$begin" count="$size" status=none |
        xz -qdc >"$dir/vmlinux.new" || return 1
    mv "$dir/vmlinux.new" "$dir/vmlinux"
}

# lab_image RELEASE: prints the path of the kernel to boot. An emulated processor needs five seconds to uncompress xz; QEMU
# also boots an uncompressed kernel if it has a PVH entry. Such a kernel is not at a random address.
lab_image() {
    local dir=$LAB_CACHE/kernels/$1
    if grep -qx CONFIG_KERNEL_XZ=y "$dir/boot/config-$1" && grep -qx CONFIG_PVH=y "$dir/boot/config-$1" &&
        lab_locked "uncompress-$1" lab_uncompress "$1"; then
        printf '%s\n' "$dir/vmlinux"
    else
        printf '%s\n' "$dir/boot/vmlinuz-$1"
    fi
}

# lab_headers RELEASE: prints the folder to give to make -C.
lab_headers() { printf '%s\n' "$LAB_CACHE/kernels/$1/usr/src/linux-headers-$1"; }
