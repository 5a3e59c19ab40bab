#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# The fuzzers for ten minutes each, with inputs that differ from run to run.

@test "no fuzzer finds a crash, or an input that takes too much memory or time" {
  cd "$SOURCE_DIR"
  tests/fuzz/run "${FUZZ_SECONDS:-600}"
}
