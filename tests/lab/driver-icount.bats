#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# What a tick and an event cost, and that no tick is missing, in the instruction-count lab: exact, whatever the host does.
# shellcheck disable=SC2016 # awk programs

read -ra kernels <<<"${LAB_KERNELS:-6.1 6.12}"
# shellcheck source=tests/lab/guests.bash
source "$BATS_TEST_DIRNAME/guests.bash"

setup_file() {
    local kernel
    cd "$BATS_TEST_DIRNAME/../.." || return 1
    : "${BUILD_DIR:?is the folder that the tests were built in}"
    boot_all --icount -- tests/lab/driver-icount-guest.sh "$BUILD_DIR/tests/drivertool" 100000000
    ended_well
    for kernel in "${kernels[@]}"; do sed "s/^/# $kernel: /" "$BATS_FILE_TMPDIR/$kernel" >&3; done
}

@test "an idle CPU has the ticks of 1,000 and of 10,000 a second, within 3 percent" {
    holds '/^idle/ { good += $5 > 0.97 * $3 && $5 < 1.03 * $3 } END { exit good != 2 }'
}

@test "a tick record has 28 bytes" {
    holds '/^tick total/ { bytes = $5 } END { exit bytes != 28 }'
}

@test "a tick costs at most 300 instructions from the timer callback's entry to its end" {
    holds '/^tick callback/ { cost = $3 } END { exit !(cost > 50 && cost <= 300) }'
}

@test "a system call's and a dispatch's record cost at most 300 instructions, the kernel's way to them included" {
    holds '/^event (system-call|dispatch) / { good += $4 > 50 && $4 <= 300 } END { exit good != 2 }'
}

@test "a system call's and a dispatch's record have at most 20 bytes" {
    holds '/^event (system-call|dispatch) / { good += $6 > 12 && $6 <= 20 } END { exit good != 2 }'
}

@test "sources that are not enabled cost no instruction" {
    holds '/^disabled/ { good = $3 > 0 && $3 == $5 } END { exit !good }'
}
