#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Costs of a user hook in the instruction-count lab, with the module and with perf as the source: exact, independent of
# the host's load.
# shellcheck disable=SC2016 # the guest's own variables

read -ra kernels <<<"${LAB_KERNELS:-6.1 6.12}"
# shellcheck source=tests/lab/guests.bash
source "$BATS_TEST_DIRNAME/guests.bash"

setup_file() {
    local kernel
    cd "$BATS_TEST_DIRNAME/../.." || return 1
    : "${BUILD_DIR:?must be the build folder}"
    boot_all --icount -- bash -c '
        set -e
        PATH=$1/bin:$1/tests:$PATH PITRACE_SOCKET=/tmp/socket
        export PITRACE_SOCKET
        for source in driver perf; do
            swtrace init --source $source -s 8 -sm 64K >/dev/null
            swtrace enable 0x30
            swtrace on
            hookcost | sed "s/^/$source /"
            swtrace free
        done' - "$BUILD_DIR"
    ended_well
    for kernel in "${kernels[@]}"; do sed "s/^/# $kernel: /" "$BATS_FILE_TMPDIR/$kernel" >&3; done
}

# costs SOURCE NAME MIN MAX: checks the number of instructions on every kernel.
costs() {
    holds '$1 == "'"$1"'" && $3 == "'"$2"'" { good = $4 >= '"$3"' && $4 <= '"$4"' } END { exit !good }'
}

@test "a hook of a disabled major costs at most 150 instructions" {
    costs driver disabled 5 150
    costs perf disabled 5 150
}

@test "a hook with four ints costs at most 1,600 instructions through the module" {
    costs driver 4-ints 300 1600
}

@test "a hook with four ints costs at most 700 instructions through a ring in shared memory" {
    costs perf 4-ints 50 700
}
