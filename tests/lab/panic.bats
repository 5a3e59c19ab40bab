#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# After a kernel panic the files written so far are readable; ITrace does not keep another kernel from starting.
# shellcheck disable=SC2016 # the guest's own variables

setup() {
    cd "$BATS_TEST_DIRNAME/../.." || return
    : "${BUILD_DIR:?must be the build folder}"
    # shellcheck source=tests/support/profile.bash
    source "$SOURCE_DIR/tests/support/profile.bash"
    out=$BATS_TEST_TMPDIR/out
}

# panicked KERNEL INIT-OPTION...: traces six seconds of work and ends the trace by a kernel panic. The guest's writes to
# $LAB_OUT reach the host immediately.
panicked() {
    local kernel=$1
    shift
    run scripts/lab --kernel "$kernel" --out "$out" -- bash -c '
        build=$1
        shift
        PATH=$build/bin:$PATH
        cd "$LAB_OUT" || exit
        swtrace init --source driver "$@" && swtrace enable tprof && swtrace setrate 1000 && swtrace on || exit
        "$build/tests/shares" 6
        # Records of the last second may be missing.
        sleep 1.5
        echo c >/proc/sysrq-trigger' panic "$BUILD_DIR" "$@"
    # Status 99: the kernel complained, as it must here.
    [ "$status" -eq 99 ]
    [[ $output == *"Kernel panic"* ]]
    cd "$out" || return
}

# names_are_in FILE: the trace names the process and its modules.
names_are_in() {
    run "$BUILD_DIR/bin/post" -r "$1" -showx
    [ "$status" -eq 3 ]
    [[ $output == *"the recorder did not end the trace"* ]]
    local pid
    pid=$(awk '$1 == "****" && $4 == 19 && $5 == 34 && /shares/ { print $7; exit }' post.show)
    [ -n "$pid" ]
    for module in /tests/shares libc.so.6 '\[vdso\]'; do
        awk -v pid="$pid" '$1 == "****" && $4 == 19 && $5 == 1 && $7 == pid' post.show | grep -q "$module" || {
            echo "no module $module of process $pid in $1"
            grep shares post.show
            return 1
        }
    done
}

@test "continuous mode: after a panic the file has names, ticks and symbols" {
    panicked "${LAB_KERNELS:-6.12}" -t cont -ss 4
    names_are_in swtrace.nrm2
    run "$BUILD_DIR/bin/post" --json -clip 0
    [ "$status" -eq 3 ]
    jq -e '.damage.places == 0 and .unresolved.no_module == 0' tprof.json
    [ "$(process_ticks tprof.json shares)" -gt 500 ]
    check_shares tprof.json shares 6 ten=10 twenty=20 thirty=30 forty=40
    # The file also has the kernel's symbols.
    jq -e '[.reports[] | select(.title == "Module_Symbol") | .rows[] | select(.name == "vmlinux") | .children[]
        | select(.name | test("^NoSymbols") | not)] | length > 3' tprof.json
}

# bats test_tags=long
@test "wrap-around mode: after a panic the MTE file names the processes that ran" {
    panicked 6.1 -t wrap
    names_are_in swtrace.nrm2.mte
}

# bats test_tags=long
@test "a thread whose kernel code is followed starts another kernel" {
    # The second kernel finds no root file system: it panics, which ends the guest.
    run scripts/lab --kernel "${LAB_KERNELS:-6.12}" --out "$out" -- bash -c '
        PATH=$1/bin:$PATH
        swtrace init --source driver -s 4 && swtrace it_install -i && swtrace on &&
            swtrace it_run -- "$1/tests/kexec" "$2/$(uname -r)/boot/vmlinuz-$(uname -r)" "console=ttyS0 panic=-1"' \
        kexec "$BUILD_DIR" "${PITRACE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/pitrace}/lab/kernels"
    echo "$output" | tail -n 30
    [ "$status" -eq 99 ]
    [[ $output == *"Unable to mount root fs"* ]]
}
