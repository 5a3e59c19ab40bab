# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Follows the advice of messages in a guest, whose user is root. Sourced.

sudo() { "$@"; }

# follow_advice PATTERN COMMAND...: runs the commands that are in quotes after PATTERN in COMMAND's message.
follow_advice() {
  local pattern=$1 commands
  # shellcheck disable=SC2034 # used by the advice
  local USER=nobody
  shift
  commands=$("$@" 2>&1 | tr '\n' ' ' | sed -n "s/.*$pattern'\([^']*\)'.*/\1/p")
  echo "advised: $commands"
  [[ -n $commands ]] && eval "$commands"
}
