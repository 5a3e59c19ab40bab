#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Uses processor time in proportion to its first argument, and writes how much, in clock ticks of the kernel, to the file of the second one.
for ((i = 0; i < $1; i++)); do :; done
read -ra facts <"/proc/$$/stat"
echo $((facts[13] + facts[14])) >"${2:-/dev/null}"
