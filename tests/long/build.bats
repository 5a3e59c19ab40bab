#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Builds without PITRACE_QUICK: each file includes what it uses, and names of two files do not collide.

setup() { cd "$SOURCE_DIR" || return; }

@test "everything builds one file at a time, without precompiled headers" {
  cmake --preset dev -B "$BATS_TEST_TMPDIR" -DPITRACE_QUICK=OFF
  cmake --build "$BATS_TEST_TMPDIR"
}

@test "everything builds with all files of each library together" {
  cmake --preset dev -B "$BATS_TEST_TMPDIR" -DPITRACE_QUICK_BATCH=0
  cmake --build "$BATS_TEST_TMPDIR" --target programs
}
