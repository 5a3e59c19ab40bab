#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Names, lines and inlined functions of 5,000 random addresses of each kind of build: what addr2line and llvm-symbolizer
# agree on. The default tests have 300 addresses of a small library.

ask() { # DIRECTORY-OF-KINDS
  local status=0
  A2N_KINDS=$1 A2N_KINDS_ADDRESSES=5000 "$BUILD_DIR/tests/liba2n_test" --gtest_filter='Kinds.*' \
    >"$BATS_TEST_TMPDIR/log" || status=1
  cat "$BATS_TEST_TMPDIR/log"
  ((status == 0))
  (($(grep -c 'addresses, the tools agree' "$BATS_TEST_TMPDIR/log") >= 10))
}

@test "a library of two of our own files" {
  KINDS_FLAGS="-std=c++20 -I$SOURCE_DIR/liba2n/include -I$SOURCE_DIR/include" \
    "$SOURCE_DIR/tests/unit/liba2n/fixtures/kinds.sh" "$BATS_TEST_TMPDIR/kinds" "$SOURCE_DIR/liba2n/src" \
    dwarf_index.cpp library.cpp
  ask "$BATS_TEST_TMPDIR/kinds"
}

@test "nearly every byte of the small library" {
  ask "$BUILD_DIR/tests/unit/liba2n/fixtures.kinds"
}
