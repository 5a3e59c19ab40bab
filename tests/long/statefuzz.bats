#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# A million calls on each of Debian's kernels, whose results a model predicts, and 10,000 cycles of start, SIGKILL, unload and
# load; a hundred thousand calls in the kernel with KASAN and lockdep, with failing allocations. STATEFUZZ_CALLS,
# STATEFUZZ_CYCLES, STATEFUZZ_CHECKING_CALLS, STATEFUZZ_SEED and STATEFUZZ_FROM replace the defaults. Add the last lines that
# a run prints to tests/long/statefuzz.md.

# shellcheck source=tests/lab/guests.bash
source "$BATS_TEST_DIRNAME/../lab/guests.bash"
kernels=(6.1 6.12)

setup_file() {
    cd "$BATS_TEST_DIRNAME/../.." || return 1
    : "${BUILD_DIR:?must be the build folder}"
    seed=${STATEFUZZ_SEED:-1} from=${STATEFUZZ_FROM:-0}
    # Without tsc=reliable the kernel chooses a clock whose reads are slow in the emulator.
    boot_all --single-thread --append tsc=reliable --timeout 14000 -- tests/lab/statefuzz-guest.sh \
        "$BUILD_DIR/tests/statefuzz" "${STATEFUZZ_CALLS:-1000000}" "${STATEFUZZ_CYCLES:-10000}" "$seed" "$from"
    kernels=(checking)
    checking_options='no_debug_objects no5lvl tsc=reliable pci=noacpi' \
        boot_all --single-thread --timeout 14000 -- env FAILING=1 CALL_TIMEOUT=900 tests/lab/statefuzz-guest.sh \
        "$BUILD_DIR/tests/statefuzz" "${STATEFUZZ_CHECKING_CALLS:-100000}" 200 "$seed" "$from"
}

say_runs() { cat "$BATS_FILE_TMPDIR"/{6.1,6.12,checking} 2>/dev/null | grep -E '^(run|cycles) ' >&3; }

@test "each call returns what the model predicts, and all memory is freed" {
    say_runs
    promised calls-return-what-the-model-predicts calls-leave-no-objects addresses-are-hidden
}

@test "cycles of start, SIGKILL, unload and load leave nothing behind" {
    promised cycles-of-start-kill-unload-load the-module-unloads-after-the-cycles cycles-leave-nothing
}

@test "the module unloads and leaves nothing behind" {
    promised the-module-unloads-after-the-calls calls-leave-nothing finished
    ended_well
}

@test "the same holds in the debug kernel with failing allocations, and kmemleak finds nothing" {
    kernels=(checking)
    promised calls-return-what-the-model-predicts the-module-unloads-after-the-calls \
        cycles-of-start-kill-unload-load kmemleak-finds-nothing finished
    ended_well
}
