# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# For guest scripts that test commands: promises about their exit status and their output.

# promise NAME STATUS TEXT COMMAND...: COMMAND exits with STATUS, and its output contains TEXT.
promise() {
  local name=$1 expected=$2 text=$3 output status=0
  shift 3
  output=$("$@" 2>&1) || status=$?
  if [[ $status == "$expected" && $output == *"$text"* ]]; then
    echo "ok $name"
  else
    echo "not ok $name"
    printf '# status %s: %s\n' "$status" "$output"
  fi
}
