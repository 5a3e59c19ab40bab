#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Builds without PITRACE_QUICK: each file includes what it uses, and names of two files do not collide. A build with clang.

setup() { cd "$SOURCE_DIR" || return; }

@test "everything builds one file at a time, without precompiled headers" {
  cmake --preset dev -B "$BATS_TEST_TMPDIR" -DPITRACE_QUICK=OFF
  cmake --build "$BATS_TEST_TMPDIR"
}

@test "everything builds with all files of each library together" {
  cmake --preset dev -B "$BATS_TEST_TMPDIR" -DPITRACE_QUICK_BATCH=0
  cmake --build "$BATS_TEST_TMPDIR" --target programs
}

@test "everything builds with clang 14; unit and golden tests pass" {
  clang --version | grep -q 'version 14\.' || skip "clang is not version 14, with which warnings are errors"
  cmake --preset dev -B "$BATS_TEST_TMPDIR" -DCMAKE_C_COMPILER=clang -DCMAKE_CXX_COMPILER=clang++ -DPITRACE_WERROR=ON
  cmake --build "$BATS_TEST_TMPDIR"
  for program in "$BATS_TEST_TMPDIR"/tests/*_test; do "$program" --gtest_brief=1; done
  ctest --test-dir "$BATS_TEST_TMPDIR" --output-on-failure --no-tests=error -L '^golden$'
}
