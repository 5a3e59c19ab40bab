#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# scripts/package in Debian 12 and 13: the packages are built and checked there, installed, used, upgraded, removed and purged in
# bare roots, and the module that DKMS built is loaded in the lab. PACKAGES_SUITES="bookworm" runs one release only.
# shellcheck disable=SC2016 # expanded by shells in the roots
# shellcheck disable=SC2030,SC2031 # each test has its own variables
bats_require_minimum_version 1.5.0

setup_file() {
    "$SOURCE_DIR/scripts/install-deps" fresh lab
}

setup() {
    # shellcheck source=tests/support/package_roots.bash
    source "$SOURCE_DIR/tests/support/package_roots.bash"
    version=$(sed -nE 's/^project\(pitrace VERSION ([0-9.]+) .*/\1/p' "$SOURCE_DIR/CMakeLists.txt")
    ours=(pitrace libperfutil0 libperfutil-dev liba2n0 liba2n-dev libhookit0 libhookit-dev pitrace-jprof libjperf-java pitrace-dkms)
    # Roots of all tests of a release, and its packages, which scripts/package leaves there.
    work=${PACKAGES_WORK:-$BATS_FILE_TMPDIR}
}

# of SUITE: this release is tested.
of() {
    suite=$1
    [[ " ${PACKAGES_SUITES:-bookworm trixie} " == *" $suite "* ]] || skip "PACKAGES_SUITES is $PACKAGES_SUITES"
    debs=$BUILD_DIR/packages/$suite
    bare=$work/$suite-bare root=$work/$suite
}

# deb PACKAGE: prints the path of its file.
deb() { printf '%s\n' "$debs/$1_$version+deb"*.deb; }

# apt ROOT WORD...: apt-get there. A question of dpkg would end it.
apt() {
    local root=$1
    shift
    # INITRD: a kernel's image comes with some headers, and no root is booted.
    in_root "$root" "$debs" "$work" -- env INITRD=No apt-get -y -q --no-install-recommends -o Dpkg::Use-Pty=0 "$@"
}

# show COMMAND...: runs it, and prints its output only if it fails.
show() {
    "$@" >"$BATS_TEST_TMPDIR/log" 2>&1 || {
        cat "$BATS_TEST_TMPDIR/log"
        return 1
    }
}

# ---- building ------------------------------------------------------------------------------------------------------

# updated_root NAME: makes sure that there is a root $base-NAME, which stays in the cache, and that its packages are the newest.
updated_root() {
    base=$(base_root "$suite")
    [ -e "$base-$1" ] || { copy_root "$base" "$base-$1.new" && mv "$base-$1.new" "$base-$1"; }
    # An earlier run may have been ended while it installed.
    show in_root "$base-$1" -- dpkg --configure -a
    show apt "$base-$1" update
    show apt "$base-$1" --fix-broken install
    show apt "$base-$1" upgrade
}

build_packages() {
    local base ccache=${CCACHE_DIR:-$HOME/.cache/ccache} package
    mkdir -p "$debs" "$ccache"
    updated_root build
    in_root "$base-build" "$SOURCE_DIR" "$BUILD_DIR" "$ccache" -- env CCACHE_DIR="$ccache" "$SOURCE_DIR/scripts/package" -o "$debs"
    for package in "${ours[@]}"; do
        [ -s "$(deb "$package")" ]
        # Everything belongs to root, only root can write, and no program has other rights than those of its user.
        dpkg-deb -c "$(deb "$package")" | awk '
            $2 != "root/root" || (substr($1, 1, 1) != "l" && $1 !~ /^[-d]r[w-][x-]r-[x-]r-[x-]$/) { print; bad = 1 }
            END { exit bad }'
    done
    [[ $(dpkg-deb -f "$(deb pitrace)" Version) == "$version+deb"* ]]
}

@test "bookworm: scripts/package builds the packages, and lintian reports no error or warning" {
    of bookworm
    build_packages
}

@test "trixie: scripts/package builds the packages, and lintian reports no error or warning" {
    of trixie
    build_packages
}

# ---- only the packages ---------------------------------------------------------------------------------------------

use_bare() {
    local program files
    copy_root "$(base_root "$suite")" "$bare"
    show apt "$bare" update
    show in_root "$bare" -- useradd -m visitor
    show apt "$bare" install "$(deb pitrace)" "$(deb pitrace-jprof)" "$(deb libperfutil0)" "$(deb liba2n0)"
    files=$(in_root "$bare" -- dpkg -L pitrace | sed -n 's,^/usr/bin/,,p')
    [ "$(wc -w <<<"$files")" -ge 17 ]
    for program in $files; do
        as_user "$bare" "$program" --version | grep -F "$version"
        as_user "$bare" "$program" --help >"$BATS_TEST_TMPDIR/help"
        [ -s "$BATS_TEST_TMPDIR/help" ]
        in_root "$bare" -- sh -c 'zcat "/usr/share/man/man1/$0.1.gz" | grep -q "^\.Sh NAME"' "$program"
    done
    # No library of another directory, and none missing.
    in_root "$bare" -- sh -c 'ldd /usr/bin/swtrace /usr/bin/post /usr/lib/*/jni/libjprof.so; ! readelf -d /usr/bin/swtrace 2>/dev/null | grep RUNPATH' |
        tee "$BATS_TEST_TMPDIR/ldd"
    run ! grep -E 'not found|local' "$BATS_TEST_TMPDIR/ldd"
}

profile_bare() {
    as_user "$bare" run.tprof -o /home/visitor/run -- sh -c 'i=0; while [ $i -lt 1000000 ]; do i=$((i + 1)); done' |
        tee "$BATS_TEST_TMPDIR/page"
    grep -E '^ +[0-9.]+ %  [^ ].*' "$BATS_TEST_TMPDIR/page"
    grep -qE '^Files' "$BATS_TEST_TMPDIR/page"
    in_root "$bare" -- grep -q ')) Process_Module_Symbol' /home/visitor/run/tprof.out
}

@test "bookworm: in a bare root each program of the packages runs, and has a manual" {
    of bookworm
    use_bare
}

@test "bookworm: in a bare root an ordinary user profiles a command" {
    of bookworm
    profile_bare
}

@test "trixie: in a bare root each program of the packages runs, and has a manual" {
    of trixie
    use_bare
}

@test "trixie: in a bare root an ordinary user profiles a command" {
    of trixie
    profile_bare
}

# ---- development, and all packages ---------------------------------------------------------------------------------

# contents: prints what is in the root, with modes and owners. What other programs keep there about any package is left out: logs,
# caches and copies; DKMS's key belongs to the machine; depmod renews its lists.
contents() {
    in_root "$root" -- find / -xdev \( -path /proc -o -path /sys -o -path /dev -o -path /tmp -o -path /run -o -path /home -o -path "$work" \
        -o -path "$debs" -o -path /var/log -o -path /var/cache -o -path /var/lib/apt -o -path '/var/lib/dkms/mok.*' -o -path /root -o -path '/lib/modules/*/modules.*' \
        -o -path '/usr/lib/modules/*/modules.*' -o -path '/var/lib/dpkg/*-old' -o -path '/etc/*-' -o -path '/var/lib/systemd/deb-systemd-helper*' \) -prune -o \
        ! -path "${work%/*}*" -printf '%p %y %m %u %g %l\n' | sort
    in_root "$root" -- cat /etc/group /etc/gshadow /etc/passwd
}

# older: makes packages of an older version, with a module of that version, in $work/SUITE-older.
older() {
    local package folder file
    rm -rf "$work/$suite-older"
    mkdir -p "$work/$suite-older"
    for package in "${ours[@]}"; do
        folder=$BATS_TEST_TMPDIR/older/$package
        rm -rf "$folder"
        mkdir -p "${folder%/*}"
        dpkg-deb -R "$(deb "$package")" "$folder"
        [ ! -d "$folder/usr/src/pitrace-$version" ] || mv "$folder/usr/src/pitrace-$version" "$folder/usr/src/pitrace-0.0.9"
        for file in "$folder"/DEBIAN/* "$folder"/usr/src/pitrace-0.0.9/dkms.conf; do
            [ ! -f "$file" ] || sed -i "s/${version//./\\.}/0.0.9/g" "$file"
        done
        (cd "$folder" && find . -path ./DEBIAN -prune -o -type f -printf '%P\0' | xargs -0 md5sum >DEBIAN/md5sums)
        dpkg-deb --root-owner-group -b "$folder" "$work/$suite-older" >/dev/null
    done
}

# prepare_root: a root with what the packages and the tests need, and the headers of the release's kernel and of one of its
# backports.
prepare_root() {
    local base needed newer
    updated_root tools
    newer=$(in_root "$base-tools" -- apt-cache show linux-headers-amd64 -t "$suite-backports" |
        sed -nE '/^Depends:/ { s/.*(linux-headers-[0-9][^ ,]*).*/\1/; p; q }')
    [[ $newer == linux-headers-* ]]
    show apt "$base-tools" install man-db less gcc g++ cmake make pkg-config systemd udev default-jre-headless linux-headers-amd64
    show apt "$base-tools" install -t "$suite-backports" "$newer"
    copy_root "$base-tools" "$root"
    show in_root "$root" -- useradd -m visitor
    needed=$(apt "$root" -s install "$(deb pitrace)" "$(deb pitrace-dkms)" "$(deb libperfutil0)" "$(deb liba2n0)" |
        sed -n 's/^Inst \([^ ]*\) .*/\1/p' | grep -vE '^(pitrace|lib(perfutil|a2n))')
    # shellcheck disable=SC2086 # these are words
    show apt "$root" install $needed
    in_root "$root" -- sh -c 'echo /lib/modules/*/build' >"$work/$suite.headers"
    cat "$work/$suite.headers"
    [ "$(wc -w <"$work/$suite.headers")" -ge 2 ]
    contents >"$work/$suite.before"
}

# modules VERSION: DKMS has built and installed the module of this version for each kernel, signed, and no other version.
modules() {
    local kernel
    in_root "$root" -- dkms status | tee "$BATS_TEST_TMPDIR/status"
    for kernel in $(<"$work/$suite.headers"); do
        kernel=${kernel#/lib/modules/} kernel=${kernel%/build}
        grep -F "pitrace/$1, $kernel, x86_64: installed" "$BATS_TEST_TMPDIR/status"
        # By its file: a kernel of which only the headers are installed has no list of modules.
        in_root "$root" -- sh -c 'modinfo "$(find "$0" -name "pitrace.ko*")"' "/lib/modules/$kernel" >"$BATS_TEST_TMPDIR/modinfo"
        [[ $(awk '$1 == "vermagic:" { print $2 }' "$BATS_TEST_TMPDIR/modinfo") == "$kernel" ]]
        grep -E '^signer: +DKMS' "$BATS_TEST_TMPDIR/modinfo"
    done
    [ -z "$(grep '^pitrace/' "$BATS_TEST_TMPDIR/status" | grep -vF "pitrace/$1,")" ]
}

install_and_upgrade() {
    local package all=()
    older
    show apt "$root" install "$work/$suite-older"/*.deb
    in_root "$root" -- ls -d /usr/src/pitrace-0.0.9
    modules 0.0.9
    # A change of the administrator, and a member of the group.
    in_root "$root" -- sh -c 'echo "options pitrace ptt_pages=100" >>/etc/modprobe.d/pitrace.conf; usermod -aG pitrace visitor'
    for package in "${ours[@]}"; do all+=("$(deb "$package")"); done
    show apt "$root" install "${all[@]}"
    modules "$version"
    in_root "$root" -- sh -c '! ls /usr/src/pitrace-0.0.9 2>/dev/null'
    in_root "$root" -- grep -qx 'options pitrace ptt_pages=100' /etc/modprobe.d/pitrace.conf
    in_root "$root" -- id -nG visitor | grep -w pitrace
    # Once more, as after a failed run.
    show in_root "$root" -- dpkg-reconfigure -f noninteractive pitrace
}

develop() {
    local program
    # The unit is there for those who enable it.
    in_root "$root" -- sh -c 'systemd-analyze verify pitrace-module.service && systemctl --root=/ is-enabled pitrace-module || [ $? = 1 ]' | grep -x disabled
    for program in $(in_root "$root" -- dpkg -L pitrace | sed -n 's,^/usr/bin/,,p'); do
        as_user "$root" env MANPAGER=cat man "$program" | grep -q '^NAME' || {
            echo "man $program shows nothing"
            return 1
        }
    done
    as_user "$root" env MANPAGER=cat man jprof | grep -q '^NAME'
    as_user "$root" sh -ec 'cp -r /usr/share/doc/libperfutil-dev/examples examples && cd examples
        [ "$(pkg-config --modversion perfutil a2n | uniq)" = "$0" ]
        cc -Wall -Werror hooks.c $(pkg-config --cflags --libs perfutil) -o hooks-c
        c++ -std=c++20 -pthread -Wall -Werror hooks.cpp $(pkg-config --cflags --libs perfutil) -o hooks-cpp
        cc -Wall -Werror symbols.c $(pkg-config --cflags --libs a2n) -o symbols
        ./hooks-c c.nrm2 >/dev/null && ./hooks-cpp >/dev/null && ./symbols | grep "^find_me of "' "$version"
    as_user "$root" sh -ec 'cd examples && cmake -S . -B build && cmake --build build && ./build/examples/example_symbols_c | grep "^find_me of "' \
        >"$BATS_TEST_TMPDIR/cmake" 2>&1 || { cat "$BATS_TEST_TMPDIR/cmake" && false; }
    # The agent is found. (Any JVM has a thread called main.)
    as_user "$root" run.tprof -o java -- java -version 2>&1 | tee "$BATS_TEST_TMPDIR/java"
    grep -q 'Java: added -agentpath:/usr/lib/x86_64-linux-gnu/jni/libjprof.so' "$BATS_TEST_TMPDIR/java"
    as_user "$root" sh -c 'cat java/log-jtnm*' | grep -w main
}

# As root in a guest of the lab: the module is loaded, group and unit work, and the module goes with the package.
run_in_lab() {
    local kernel name
    # The kernel of the release, not of its backports.
    kernel=$(in_root "$root" -- dpkg-query -W -f '${Depends}\n' linux-headers-amd64 |
        sed -nE 's/.*linux-headers-([0-9][^ ,]*).*/\1/p')
    [[ $kernel == *-amd64 ]]
    (cd "$SOURCE_DIR" && scripts/lab --kernel "$kernel" --no-module --single-thread --timeout 1800 -- tests/long/packages-guest.sh "$root") \
        >"$BATS_TEST_TMPDIR/said" 2>"$BATS_TEST_TMPDIR/console" || { cat "$BATS_TEST_TMPDIR"/{said,console} && false; }
    cat "$BATS_TEST_TMPDIR/said"
    for name in $(sed -n 's/^promise \([^ ]*\) .*/\1/p' "$SOURCE_DIR/tests/long/packages-guest.sh") finished; do
        grep -qx "ok $name" "$BATS_TEST_TMPDIR/said"
    done
}

remove_and_purge() {
    show apt "$root" remove "${ours[@]}"
    in_root "$root" -- sh -c '! ls /usr/bin/swtrace /usr/src/pitrace-* /var/lib/dkms/pitrace 2>/dev/null'
    in_root "$root" -- sh -c '! find /lib/modules /usr/lib/modules -name "pitrace*" | grep .'
    # What purging removes is still there.
    in_root "$root" -- sh -c 'ls /etc/modprobe.d/pitrace.conf /etc/sysctl.d/60-pitrace.conf && getent group pitrace'
    # The group has a member: it stays.
    in_root "$root" -- dpkg --purge "${ours[@]}" >"$BATS_TEST_TMPDIR/purge" 2>&1 || { cat "$BATS_TEST_TMPDIR/purge" && false; }
    grep -F 'the group pitrace is kept, because it has members (visitor)' "$BATS_TEST_TMPDIR/purge"
    in_root "$root" -- getent group pitrace
    # Installed again, without a member.
    show apt "$root" install "$(deb pitrace)" "$(deb libperfutil0)" "$(deb liba2n0)"
    in_root "$root" -- gpasswd -d visitor pitrace
    show apt "$root" purge pitrace libperfutil0 liba2n0
    in_root "$root" -- sh -c '! getent group pitrace'
    # What is purged already can be purged. (apt does not know packages that are neither installed nor in an archive.)
    show in_root "$root" -- dpkg --purge "${ours[@]}"
    contents >"$work/$suite.after"
    diff "$work/$suite.before" "$work/$suite.after"
}

@test "bookworm: a root with two kernels' headers" {
    of bookworm
    prepare_root
}

@test "bookworm: installing and upgrading; DKMS builds and signs the module for each kernel" {
    of bookworm
    install_and_upgrade
}

@test "bookworm: manuals, examples with pkg-config and find_package, and the agent" {
    of bookworm
    develop
}

@test "bookworm: the module of the package in the lab" {
    of bookworm
    run_in_lab
}

@test "bookworm: removing and purging leave nothing" {
    of bookworm
    remove_and_purge
}

@test "trixie: a root with two kernels' headers" {
    of trixie
    prepare_root
}

@test "trixie: installing and upgrading; DKMS builds and signs the module for each kernel" {
    of trixie
    install_and_upgrade
}

@test "trixie: manuals, examples with pkg-config and find_package, and the agent" {
    of trixie
    develop
}

@test "trixie: the module of the package in the lab" {
    of trixie
    run_in_lab
}

@test "trixie: removing and purging leave nothing" {
    of trixie
    remove_and_purge
}
