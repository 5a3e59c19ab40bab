#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# What there is once in the tree, in libpi (include/pi, libpi): a second one elsewhere is refused, for it would have
# the faults again that the first one is free of.

setup() { cd "$SOURCE_DIR" || return; }

# elsewhere PATTERN: the lines of programs and libraries for user space, but for libpi, that have it.
elsewhere() {
  grep -rnE --include='*.cpp' --include='*.h' --include='*.c' "$1" libperfutil liba2n tools jprof || true
}

@test "only libpi makes interrupted system calls again" {
  local found
  found=$(elsewhere '\bEINTR\b')
  echo "$found"
  [[ -z $found ]]
}

@test "only libpi makes temporary files that get another file's name" {
  local found
  # JProf's logs and the archive's unnamed files are no such files.
  found=$(elsewhere '\b(mkstemp|mkostemp|rename|renameat|renameat2)\(' | grep -vE '^(jprof/log_file|tools/post/(read/trace_archive|state/processes))\.(cpp|h):' || true)
  echo "$found"
  [[ -z $found ]]
}

@test "only libpi reads whole files" {
  local found
  found=$(elsewhere 'istreambuf_iterator|rdbuf\(\)|\bfread\(')
  echo "$found"
  [[ -z $found ]]
}

@test "only libpi has the digits of hexadecimal numbers" {
  local found
  # These look for digits.
  found=$(elsewhere '"0123456789(abcdef|ABCDEF)' | grep -vE 'find_first_not_of|drop_number' || true)
  echo "$found"
  [[ -z $found ]]
}

@test "the checksum of debug links is liblzma's" {
  [[ $(grep -rlE 'edb88320|EDB88320' libperfutil liba2n tools jprof include | wc -l) == 0 ]]
  grep -q lzma_crc32 liba2n/src/base/crc32.cpp
}

@test "the module's code for x86 is in files named for it" {
  local found
  found=$(grep -rnE --include='*.[ch]' \
    'asm/(apic|cpufeature|debugreg|msr|processor-flags|segment|trace/(exceptions|irq_vectors)|trapnr|tsc|unwind)\.h|\brdtsc(_ordered)?\(|\bX86_[A-Z]|\bMSR_[A-Z]|\b(rd|wr)msr' driver |
    grep -vE '^driver/[^:]*_x86(_[a-z]+)?\.[ch]:' || true)
  echo "$found"
  [[ -z $found ]]
}
