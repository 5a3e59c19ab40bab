#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Costs and counts of ticks and events in the instruction-count lab: exact, independent of the host's load.
# shellcheck disable=SC2016 # awk programs

read -ra kernels <<<"${LAB_KERNELS:-6.1 6.12}"
# shellcheck source=tests/lab/guests.bash
source "$BATS_TEST_DIRNAME/guests.bash"

setup_file() {
    local kernel
    cd "$BATS_TEST_DIRNAME/../.." || return 1
    : "${BUILD_DIR:?must be the build folder}"
    boot_all --icount -- tests/lab/driver-icount-guest.sh "$BUILD_DIR/tests/drivertool" 100000000
    ended_well
    for kernel in "${kernels[@]}"; do sed "s/^/# $kernel: /" "$BATS_FILE_TMPDIR/$kernel" >&3; done
}

@test "an idle CPU ticks at 1,000 and at 10,000 a second, within 3 percent" {
    holds '/^idle/ { good += $5 > 0.97 * $3 && $5 < 1.03 * $3 } END { exit good != 2 }'
}

@test "a tick record has 28 bytes" {
    holds '/^tick total/ { bytes = $5 } END { exit bytes != 28 }'
}

@test "a tick costs at most 300 instructions in the timer callback" {
    holds '/^tick callback/ { cost = $3 } END { exit !(cost > 50 && cost <= 300) }'
}

@test "recording a system call or context switch costs at most 300 instructions, the tracepoint included" {
    holds '/^event (system-call|dispatch) / { good += $4 > 50 && $4 <= 300 } END { exit good != 2 }'
}

@test "the record of a system call or context switch has at most 20 bytes" {
    holds '/^event (system-call|dispatch) / { good += $6 > 12 && $6 <= 20 } END { exit good != 2 }'
}

@test "disabled sources cost no instruction" {
    holds '/^disabled/ { good = $3 > 0 && $3 == $5 } END { exit !good }'
}
