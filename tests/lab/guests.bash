# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# For lab tests that boot a guest of each kernel and check its output. The caller sets kernels.
# shellcheck disable=SC2154

# kernel_options KERNEL: the lab's options for it, one a line. The kernel "checking" has KASAN, lockdep and other checkers;
# the caller may set its command line, checking_options.
kernel_options() {
    local folder
    if [ "$1" != checking ]; then
        printf '%s\n' --kernel "$1"
        return
    fi
    folder=$(scripts/lab.d/checking-kernel) || return
    # The disabled checks take most of the time; a clock of a device, ACPI's interpreter and walks through
    # five-level page tables take most of the rest.
    printf '%s\n' --kernel "$folder/arch/x86/boot/bzImage" --headers "$folder" --mem 4G \
        --append "${checking_options:-kmemleak=off no_debug_objects no5lvl tsc=reliable pci=noacpi}"
}

# boot KERNEL LAB-OPTION... -- COMMAND...: writes KERNEL, KERNEL.err and KERNEL.status to $BATS_FILE_TMPDIR.
boot() {
    local kernel=$1 status=0 text options
    shift
    text=$(kernel_options "$kernel") || return
    mapfile -t options <<<"$text"
    scripts/lab "${options[@]}" --out "$BATS_FILE_TMPDIR/out-$kernel" "$@" \
        >"$BATS_FILE_TMPDIR/$kernel" 2>"$BATS_FILE_TMPDIR/$kernel.err" || status=$?
    echo "$status" >"$BATS_FILE_TMPDIR/$kernel.status"
}

# boot_all LAB-OPTION... -- COMMAND...: boots all kernels at the same time, for guests that use one host thread. %k in a
# word is replaced by the kernel.
boot_all() {
    local kernel
    for kernel in "${kernels[@]}"; do boot "$kernel" "${@//%k/$kernel}" & done
    wait
}

# program_of_32_bits FILE: builds a 32-bit program that only exits.
program_of_32_bits() {
    gcc -m32 -nostdlib -static -x assembler -o "$1" - <<'END'
.globl _start
_start: movl $1, %eax
        xorl %ebx, %ebx
        int $0x80
END
}

# build_fake_pmus: builds the test PMUs for each kernel in $BATS_FILE_TMPDIR/pmu-KERNEL.
build_fake_pmus() {
    local kernel release headers folder make=()
    # shellcheck source=scripts/lab.d/kernels.bash
    source scripts/lab.d/kernels.bash
    # shellcheck source=scripts/lab.d/roots.bash
    source scripts/lab.d/roots.bash
    for kernel in "${kernels[@]}"; do
        folder=$BATS_FILE_TMPDIR/pmu-$kernel
        {
            release=$(lab_resolve "$kernel") && lab_kernel "$release" >/dev/null && headers=$(lab_headers "$release") &&
                cp -r tests/lab/fake_pmu "$folder" &&
                set_make "$headers" "$release" "$BATS_FILE_TMPDIR" && "${make[@]}" -C "$headers" M="$folder" modules
        } >"$folder.log" 2>&1 || {
            cat "$folder.log"
            return 1
        }
    done
}

# promised NAME...: the guest of every kernel printed "ok NAME".
promised() {
    local kernel name
    for kernel in "${kernels[@]}"; do
        for name; do
            grep -qx "ok $name" "$BATS_FILE_TMPDIR/$kernel" && continue
            echo "$kernel: failed or missing: $name"
            grep '^#\|^not ok' "$BATS_FILE_TMPDIR/$kernel"
            tail -n 40 "$BATS_FILE_TMPDIR/$kernel.err"
            return 1
        done
    done
}

# ended_well: every guest exited with 0, and its kernel had no complaint.
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

# holds AWK-PROGRAM: it exits with 0 for the output of each kernel's guest. f("word") is the field after that word.
holds() {
    local kernel
    for kernel in "${kernels[@]}"; do
        awk 'function f(word, i) { for (i = 1; i < NF; i++) if ($i == word) return $(i + 1) }'"$1" "$BATS_FILE_TMPDIR/$kernel" || {
            echo "the condition fails for $kernel:"
            cat "$BATS_FILE_TMPDIR/$kernel"
            return 1
        }
    done
}
