#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# All programs and tests under the address and undefined-behaviour sanitizers, with all inputs.

setup_file() {
  cd "$SOURCE_DIR" || return
  cmake --preset asan
  cmake --build build/asan
}

setup() {
  cd "$SOURCE_DIR/build/asan" || return
  export PITRACE_TEST_ALL=1
  # The terminal's description, which ncurses keeps to the end.
  echo 'leak:libtinfo' >"$BATS_TEST_TMPDIR/kept"
  export LSAN_OPTIONS=suppressions=$BATS_TEST_TMPDIR/kept:print_suppressions=0
}

@test "unit tests pass" {
  local program
  for program in tests/*_test; do "$program" --gtest_brief=1; done
}

@test "golden tests pass" {
  ctest -j "$(nproc)" --output-on-failure -L '^golden$'
}

# A Java virtual machine, and programs of other compilers, cannot load a sanitized library.
@test "command-line tests pass" {
  ctest -j "$(nproc)" --output-on-failure -L '^cli$' -E 'cli/(jprof|libperfutil)'
}

@test "all tests of libperfutil, and those of liba2n's contexts, pass under the thread sanitizer" {
  cd "$SOURCE_DIR"
  cmake --preset tsan
  cmake --build build/tsan
  local program
  for program in driver_ring_test driver_ring_storm_test perfutil_core_test perfutil_api_test perfutil_perf_test liba2n_context_test; do
    "build/tsan/tests/$program" --gtest_brief=1
  done
}
