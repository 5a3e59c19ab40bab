#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# The packages' unit pitrace-fleet in a guest whose first process is systemd, with the module: the clock is set forward and back by an
# hour, the recorder and run.fleet are killed, the module is missing, the guest reboots, and its power fails.

setup_file() {
    [ -x /lib/systemd/systemd ] || skip "needs systemd (scripts/install-deps long)"
    command -v mkfs.ext4 >/dev/null || skip "needs mkfs.ext4 (e2fsprogs)"
    : "${STAGE:?must be the folder of an installation}"
    export out=$BATS_FILE_TMPDIR/out
    mkdir "$out"
    truncate -s 300M "$out/disk"
    mkfs.ext4 -q "$out/disk"
    cd "$SOURCE_DIR" || return
    scripts/lab --kernel "${LAB_KERNELS:-6.12}" --systemd --timeout 7200 --out "$out" -- tests/long/systemd-guest.sh "$STAGE" \
        >"$out/promises" 2>"$out/messages" 3>&- || true
}

kept() { # kept NAME...
    local name
    for name; do
        grep -qx "ok $name" "$out/promises" && continue
        echo "failed or missing: $name"
        cat "$out/promises"
        tail -n 40 "$out/messages" "$out"/journal-*
        return 1
    done
}

@test "the unit records with the module, and with perf events while it is missing" {
    kept the-unit-records-with-the-module without-the-module-perf-records
}

@test "when the clock is set by an hour a new trace begins, and each has the time at which it began" {
    kept the-clock-is-set-forward the-clock-is-set-back
}

@test "after SIGKILL of the recorder or of run.fleet another one records, and the open trace counts as partial" {
    kept a-killed-recorder-is-replaced killed-it-is-started-again
}

@test "a reboot completes the open trace" {
    kept a-reboot-completes-the-trace
}

@test "without power only what was not written of the open trace is lost" {
    kept the-open-trace-of-before-is-added-and-counted no-table-is-lost
}

@test "the guest's kernel has no complaint" {
    [ "$(<"$out/lab-status")" -eq 0 ] || { cat "$out/messages"; false; }
}
