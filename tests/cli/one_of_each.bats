#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Some functions are implemented only in libpi (include/pi, libpi). The tests refuse a second implementation elsewhere,
# which could have bugs that are fixed in libpi.

setup() { cd "$SOURCE_DIR" || return; }

# elsewhere PATTERN: the matching lines in user-space programs and libraries, except libpi.
elsewhere() {
  grep -rnE --include='*.cpp' --include='*.h' --include='*.c' "$1" libperfutil liba2n tools jprof hookit || true
}

@test "only libpi restarts interrupted system calls" {
  local found
  found=$(elsewhere '\bEINTR\b')
  echo "$found"
  [[ -z $found ]]
}

@test "only libpi creates temporary files and renames them to the final name" {
  local found
  # JProf's logs are never renamed over another file; a socket is none; DuckDB itself writes the sums by day.
  found=$(elsewhere '\b(mkstemp|mkostemp|rename|renameat|renameat2)\(' |
    grep -vE '^(jprof/log_file|jprof/server/listeners|tools/fleet/days|tools/post/state/processes)\.(cpp|h):' || true)
  echo "$found"
  [[ -z $found ]]
}

@test "only libpi reads whole files" {
  local found
  found=$(elsewhere 'istreambuf_iterator|rdbuf\(\)|\bfread\(')
  echo "$found"
  [[ -z $found ]]
}

@test "only libpi formats hexadecimal numbers" {
  local found
  # These lines parse digits.
  found=$(elsewhere '"0123456789(abcdef|ABCDEF)' | grep -vE 'find_first_not_of|drop_number' || true)
  echo "$found"
  [[ -z $found ]]
}

@test "the checksum of debug links comes from liblzma" {
  [[ $(grep -rlE 'edb88320|EDB88320' libperfutil liba2n tools jprof hookit include | wc -l) == 0 ]]
  grep -q lzma_crc32 liba2n/src/base/crc32.cpp
}

@test "x86 code of the module is in files with _x86 in their names" {
  local found
  found=$(grep -rnE --include='*.[ch]' \
    'asm/(apic|cpufeature|debugreg|msr|processor-flags|segment|trace/(exceptions|irq_vectors)|trapnr|tsc|unwind)\.h|\brdtsc(_ordered)?\(|\bX86_[A-Z]|\bMSR_[A-Z]|\b(rd|wr)msr' driver |
    grep -vE '^driver/[^:]*_x86(_[a-z]+)?\.[ch]:' || true)
  echo "$found"
  [[ -z $found ]]
}
