#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Runs each fuzzer for ten minutes with a new seed in each run.

@test "no fuzzer finds a crash, or an input that takes too much memory or time" {
  cd "$SOURCE_DIR"
  tests/fuzz/run "${FUZZ_SECONDS:-600}"
}
