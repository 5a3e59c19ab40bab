#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# What a user hook costs in the instruction-count lab, with the module and with perf as the source: exact, whatever the
# host does.
# shellcheck disable=SC2016 # the guest's own variables

kernels=(6.1 6.12)

setup_file() {
    local kernel
    cd "$BATS_TEST_DIRNAME/../.." || return 1
    : "${BUILD_DIR:?is the folder that the tests were built in}"
    for kernel in "${kernels[@]}"; do
        scripts/lab --kernel "$kernel" --icount -- bash -c '
            set -e
            PATH=$1/bin:$1/tests:$PATH PITRACE_SOCKET=/tmp/socket
            export PITRACE_SOCKET
            for source in driver perf; do
                swtrace init --source $source -s 8 -sm 64K >/dev/null
                swtrace enable 0x30
                swtrace on
                hookcost | sed "s/^/$source /"
                swtrace free
            done' - "$BUILD_DIR" >"$BATS_FILE_TMPDIR/$kernel"
        sed "s/^/# $kernel: /" "$BATS_FILE_TMPDIR/$kernel" >&3
    done
}

# costs SOURCE NAME LEAST MOST: on every kernel.
costs() {
    local kernel
    for kernel in "${kernels[@]}"; do
        awk -v source="$1" -v name="$2" -v least="$3" -v most="$4" '
            $1 == source && $3 == name { good = $4 >= least && $4 <= most } END { exit !good }' \
            "$BATS_FILE_TMPDIR/$kernel" || {
            cat "$BATS_FILE_TMPDIR/$kernel"
            return 1
        }
    done
}

@test "a hook that is not wanted costs at most 150 instructions" {
    costs driver disabled 5 150
    costs perf disabled 5 150
}

@test "a hook with four ints costs at most 1,600 instructions through the module" {
    costs driver 4-ints 300 1600
}

@test "a hook with four ints costs at most 700 instructions through a ring in shared memory" {
    costs perf 4-ints 50 700
}
