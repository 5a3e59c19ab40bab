#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# The Debian packages as far as they can be checked without building them; tests/long/packages.bats builds and installs them.
bats_require_minimum_version 1.5.0

setup() {
    cd "$SOURCE_DIR" || return
}

# packages_of FILE: prints the packages whose debian/*.install select FILE (a path below /, without the first slash), as
# dh_install does: a pattern selects a file, or all files of a folder.
packages_of() {
    local list pattern
    for list in debian/*.install; do
        # debian/rules leaves these out of the package pitrace.
        if [[ $list == debian/pitrace.install && $1 == usr/share/@(man/man7/jprof.7|java/JPerf.jar) ]]; then continue; fi
        while read -r pattern _; do
            # shellcheck disable=SC2053 # it is a pattern
            if [[ $1 == $pattern || $1 == $pattern/* ]]; then
                printf '%s\n' "$list"
                break
            fi
        done <"$list"
    done
}

@test "each installed file is in exactly one package, and each pattern selects a file" {
    local file packages list pattern
    DESTDIR='' cmake --install "$BUILD_DIR" --prefix "$BATS_TEST_TMPDIR/usr" >/dev/null
    # Debian's folders of libraries.
    (cd "$BATS_TEST_TMPDIR" && find usr -type f -o -type l) |
        sed -E 's,^usr/lib/(x86_64-linux-gnu/)?,usr/lib/x86_64-linux-gnu/,; s,/libj(prof|perf)\.,/jni&,' >"$BATS_TEST_TMPDIR/files"
    [ "$(wc -l <"$BATS_TEST_TMPDIR/files")" -gt 60 ]
    while read -r file; do
        packages=$(packages_of "$file")
        [ "$(wc -w <<<"$packages")" = 1 ] || {
            echo "$file is in: ${packages:-no package}"
            return 1
        }
    done <"$BATS_TEST_TMPDIR/files"
    # Without a JDK there is nothing for Java.
    for list in debian/*.install; do
        while read -r pattern _; do
            case $pattern in
            usr/*) [[ $pattern == *jprof* || $pattern == *[jJ][pP]erf* ]] || grep -qE "^${pattern//\*/.*}(/|\$)" "$BATS_TEST_TMPDIR/files" ;;
            *) [ -e "$pattern" ] ;;
            esac || {
                echo "$list: no file is selected by $pattern"
                return 1
            }
        done <"$list"
    done
}

@test "each installed program has a manual" {
    local program
    DESTDIR='' cmake --install "$BUILD_DIR" --prefix "$BATS_TEST_TMPDIR" >/dev/null
    for program in "$BATS_TEST_TMPDIR"/bin/*; do
        [ -s "$BATS_TEST_TMPDIR/share/man/man1/${program##*/}.1" ] || {
            echo "${program##*/} has none"
            return 1
        }
    done
}

@test "Build-Depends lists what install-deps installs for a build" {
    sed -n '/^Build-Depends:/,/^[^ B]/p' debian/control | sed -nE 's/^(Build-Depends:)? +([a-z0-9+.-]+).*/\2/p' | sort >"$BATS_TEST_TMPDIR/control"
    {
        # Debian expects a compiler everywhere; ccache is optional; lintian is not part of the build.
        scripts/install-deps --list build package | grep -vxE 'g\+\+|ccache|build-essential|debhelper|lintian'
        echo debhelper-compat
    } | sort >"$BATS_TEST_TMPDIR/installed"
    diff "$BATS_TEST_TMPDIR/control" "$BATS_TEST_TMPDIR/installed"
}

@test "the version of the packages is that of CMakeLists.txt" {
    local version
    # scripts/package writes it.
    [ ! -e debian/changelog ]
    version=$(sed -nE 's/^project\(pitrace VERSION ([0-9.]+) .*/\1/p' CMakeLists.txt)
    [[ $("$BUILD_DIR/bin/post" --version) == "post $version "* || $("$BUILD_DIR/bin/post" --version) == *" $version"* ]]
    # No other file of the packaging repeats it.
    run -1 grep -rnF "$version" debian
}

@test "no file of the packaging gives a program the rights of its owner" {
    run -1 grep -rnE 'setuid|chmod [ug+]*s|chmod [246][0-7]{3}|setcap|-m ?[246][0-7]{3}' debian
}

# dkms_postinst SECURE-BOOT KEY MOKUTIL-ANSWER: runs the package's script after a build, with files of this test instead of
# the machine's: the value of the firmware's variable, the key's contents (empty: there is none), what mokutil prints
# (empty: it is not installed).
dkms_postinst() {
    local root=$BATS_TEST_TMPDIR/root
    rm -rf "$root"
    mkdir -p "$root/bin" "$root/sys/firmware/efi/efivars" "$root/var/lib/dkms" "$root/etc/dkms"
    printf '\6\0\0\0%b' "\\0$1" >"$root/sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c"
    [ -z "$2" ] || echo "$2" >"$root/var/lib/dkms/mok.pub"
    for program in sed tail od tr grep; do ln -s "$(type -P "$program")" "$root/bin/"; done
    if [ -n "$3" ]; then
        printf '#!/bin/sh\necho "KEY %s"\n' "$3" >"$root/bin/mokutil"
        chmod 755 "$root/bin/mokutil"
    fi
    sed "s,/sys/firmware,$root&,; s,/var/lib/dkms,$root&,; s,/etc/dkms,$root&,g; s,/lib/modules,$root&,g" \
        debian/pitrace-dkms.postinst >"$root/postinst"
    PATH=$root/bin /bin/sh "$root/postinst" configure
}

@test "with Secure Boot, pitrace-dkms says what the machine's key needs" {
    run dkms_postinst 0 '' ''
    [ "$status" = 0 ]
    [ -z "$output" ]
    run dkms_postinst 1 '' ''
    [ "$status" = 0 ]
    [[ $output == *"has no key of its own"*"dpkg-reconfigure pitrace-dkms"* ]]
    run dkms_postinst 1 key ''
    [ "$status" = 0 ]
    [[ $output == *"apt-get install mokutil && mokutil --import "*"/var/lib/dkms/mok.pub && reboot"* ]]
    run dkms_postinst 1 key 'is not enrolled'
    [ "$status" = 0 ]
    [[ $output == *"does not know the key"*"mokutil --import "* ]]
    run dkms_postinst 1 key 'is already enrolled'
    [ "$status" = 0 ]
    [ -z "$output" ]
}

@test "examples of manuals, help texts and the quick reference name libjprof.so where its package has it" {
    local pattern
    pattern=$(grep 'libjprof\.so$' debian/pitrace-jprof.install)
    pattern=/${pattern/\*/x86_64-linux-gnu}
    {
        grep -rhoE '/usr/[^ ]*libjprof\.so' docs README.md
        "$BUILD_DIR/bin/pitrace-attach" --help | grep -oE '/usr/[^ ]*libjprof\.so'
    } >"$BATS_TEST_TMPDIR/paths"
    [ "$(wc -l <"$BATS_TEST_TMPDIR/paths")" -gt 10 ]
    [ "$(sort -u "$BATS_TEST_TMPDIR/paths")" = "$pattern" ]
}

@test "scripts/package writes nothing into a directory in which other users can replace files" {
    [ "$(id -u)" -eq 0 ] || skip "needs root for a directory of another user"
    local folder=$BATS_TEST_TMPDIR/folder
    echo kept >"$BATS_TEST_TMPDIR/mine"
    mkdir "$folder"
    ln -s "$BATS_TEST_TMPDIR/mine" "$folder/.lock"
    chown nobody "$folder"
    run -125 scripts/package --no-install -o "$folder"
    [[ $output == *"other users can change what is in $folder; name another directory with -o"* ]]
    chown root "$folder"
    chmod 777 "$folder"
    run -125 scripts/package --no-install -o "$folder"
    [[ $output == *"other users can change"* ]]
    [ "$(cat "$BATS_TEST_TMPDIR/mine")" = kept ]
    [ "$(ls -A "$folder")" = .lock ]
}
