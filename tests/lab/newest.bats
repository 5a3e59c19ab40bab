#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Each part of the module, briefly, in one boot of each kernel: newest-guest.sh. What it reports must be what the table in
# docs/kernels.md says.

read -ra kernels <<<"${LAB_KERNELS:-7.3}"
# shellcheck source=tests/lab/guests.bash
source "$BATS_TEST_DIRNAME/guests.bash"

setup_file() {
    cd "$BATS_TEST_DIRNAME/../.." || return 1
    : "${BUILD_DIR:?must be the build folder}"
    # --single-thread: probes are attached and detached, and each time the kernel patches its code.
    boot_all --single-thread --timeout 1200 -- tests/lab/newest-guest.sh "$BUILD_DIR"
    for kernel in "${kernels[@]}"; do
        echo "# $kernel: $(grep -c '^ok' "$BATS_FILE_TMPDIR/$kernel") parts work" >&3
        [ -z "${KEEP_RESULTS-}" ] || cp "$BATS_FILE_TMPDIR/$kernel" "$KEEP_RESULTS/"
    done
}

@test "the guest finishes, and its kernel reports no error" {
    promised finished
    ended_well
}

@test "every part of the module works as the table in docs/kernels.md says" {
    tests/support/kernel-table --compare docs/kernels.md "${kernels[@]/#/$BATS_FILE_TMPDIR/}"
}
