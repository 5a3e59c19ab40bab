#!/bin/bash
# SPDX-License-Identifier: MIT
# What a get of a Java monitor costs without JProf, with JLML and with JLM: nanoseconds of processor time.
# Usage: bench/locks.sh BUILD-DIR
set -eu
agent=$(realpath "$1/lib/libjprof.so")
source=$(realpath "$(dirname "$0")")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
javac -d . "$source/LockCost.java"
for options in '' jlml jlm; do
  echo "${options:-without JProf}"
  java ${options:+"-agentpath:$agent=$options"} -cp . LockCost
done
