# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# For the lab tests that boot a guest for each kernel and then look at what it said. The caller sets kernels.
# shellcheck disable=SC2154

# boot KERNEL LAB-OPTION... -- COMMAND...: leaves KERNEL, KERNEL.err and KERNEL.status in the file's folder.
boot() {
    local kernel=$1 status=0
    shift
    scripts/lab --kernel "$kernel" --out "$BATS_FILE_TMPDIR/out-$kernel" "$@" \
        >"$BATS_FILE_TMPDIR/$kernel" 2>"$BATS_FILE_TMPDIR/$kernel.err" || status=$?
    echo "$status" >"$BATS_FILE_TMPDIR/$kernel.status"
}

# boot_all LAB-OPTION... -- COMMAND...: on all kernels at the same time, for guests of one thread of the host. %k in
# a word becomes the kernel.
boot_all() {
    local kernel
    for kernel in "${kernels[@]}"; do boot "$kernel" "${@//%k/$kernel}" & done
    wait
}

# program_of_32_bits FILE: one that only exits.
program_of_32_bits() {
    gcc -m32 -nostdlib -static -x assembler -o "$1" - <<'END'
.globl _start
_start: movl $1, %eax
        xorl %ebx, %ebx
        int $0x80
END
}

# promised NAME...: the guest said "ok NAME", on every kernel.
promised() {
    local kernel name
    for kernel in "${kernels[@]}"; do
        for name; do
            grep -qx "ok $name" "$BATS_FILE_TMPDIR/$kernel" && continue
            echo "$kernel: not kept: $name"
            grep '^#\|^not ok' "$BATS_FILE_TMPDIR/$kernel"
            tail -n 40 "$BATS_FILE_TMPDIR/$kernel.err"
            return 1
        done
    done
}

# ended_well: every guest, with a clean console.
ended_well() {
    local kernel
    for kernel in "${kernels[@]}"; do
        [ "$(cat "$BATS_FILE_TMPDIR/$kernel.status")" = 0 ] || {
            echo "$kernel:"
            cat "$BATS_FILE_TMPDIR/$kernel.err"
            return 1
        }
    done
}

# holds AWK-PROGRAM: it exits with 0 on what each kernel's guest said.
holds() {
    local kernel
    for kernel in "${kernels[@]}"; do
        awk "$1" "$BATS_FILE_TMPDIR/$kernel" || {
            echo "$kernel does not:"
            cat "$BATS_FILE_TMPDIR/$kernel"
            return 1
        }
    done
}
