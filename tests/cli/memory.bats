#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Too little memory (ulimit -v): a program does its work or ends with an error, never with a crash, a partial file, or a
# report that differs.

bats_require_minimum_version 1.5.0

setup() {
  PATH="$BUILD_DIR/bin:$BUILD_DIR/tests:$PATH"
  cd "$BATS_TEST_TMPDIR" || return
  export XDG_CACHE_HOME=$PWD/cache
  ulimit -c 0
}

# with_memory KIB COMMAND [ARG]...: sets ended to its status: 127 if the libraries do not fit.
with_memory() {
  ended=0
  (ulimit -v "$1" && exec "${@:2}") >out 2>said </dev/null || ended=$?
  [[ $ended -lt 128 ]] || {
    echo "${*:2} with $1 KiB: $ended $(<said)"
    return 1
  }
  [[ $ended -ne 1 || $(<said) == *": error: "* ]] || return 1
}

# least PROGRAM: prints the fewest KiB, in steps of 500, with which it starts: its libraries and the C++ library's reserve for
# exceptions fit.
least() {
  local kib
  for ((kib = 4000; kib < 60000; kib += 500)); do
    if (ulimit -v "$kib" && exec "$1" --version) >/dev/null 2>&1; then break; fi
  done
  echo "$kib"
}

# make_reports: a trace with ticks in post itself, and its report in good.
make_reports() {
  local lib offset address
  lib=$BUILD_DIR/bin/post
  read -r offset address < <(readelf -lW "$lib" | awk '/ LOAD .* R E / { print $2, $3; exit }')
  {
    printf 'cpus 1\nsection mte 0\n10 existing 100 1\n10 name 100 program\n10 module 100 %s 0x1000000 %s %s\nsection trace 0\n' \
      "$address" "$offset" "$lib"
    for ((i = 0; i < 400; i++)); do echo "$((20 + i)) tick user 100 100 $((address + i * 1024))"; done
  } | text_trace >swtrace.nrm2
  rm -rf cache
  post -o good --lines 0
}

@test "post makes the report that it makes with enough memory, or none" {
  local kib whole=0 refused=0
  make_reports
  # Small steps: each allocation fails in one of the runs.
  for ((kib = $(least post); kib < 300000 && whole < 8; kib += 250)); do
    rm -rf made cache
    with_memory "$kib" post -o made --lines 0
    case $ended in
      0)
        cmp made/tprof.out good/tprof.out
        whole=$((whole + 1))
        ;;
      *)
        [[ -z $(ls -A made 2>/dev/null) ]]
        [[ $ended -eq 127 ]] || refused=$((refused + 1))
        ;;
    esac
  done
  echo "whole $whole, refused $refused"
  ((whole > 0 && refused > 0))
}

# libelf reports a lack of memory as missing data.
@test "if any allocation of libelf fails, post makes the same report, or none" {
  ! readelf -d "$BUILD_DIR/lib/liba2n.so" | grep -q 'NEEDED.*libasan' || skip "needs a build without sanitizers"
  local number count refused=0
  make_reports
  count() { env LD_PRELOAD="$BUILD_DIR/tests/libfail_malloc.so" FAIL_MALLOC_IN=libelf "$@"; }
  count FAIL_MALLOC_COUNT="$PWD/count" post -o made --lines 0
  cmp made/tprof.out good/tprof.out
  [ "$(<count)" -ge 5 ]
  for ((number = 1; number <= $(<count); number++)); do
    rm -rf made cache
    if count FAIL_MALLOC="$number" post -o made --lines 0 >out 2>said; then
      cmp made/tprof.out good/tprof.out
    else
      [[ $? -lt 128 && -z $(ls -A made 2>/dev/null) && $(<said) == *": error: "* ]]
      refused=$((refused + 1))
    fi
  done
  echo "$(<count) allocations, refused $refused"
  ((refused > 3))
}

@test "the other programs end with an error, too" {
  local kib program least
  printf '0 U 1 x @ 0 a b c 0\n' >arc
  for program in 'arcf -F arc' 'ptt info' pttstats 'swtrace info' "genmsi -o saved.msi $BUILD_DIR/bin/genmap" \
    "genmap -o map $BUILD_DIR/bin/genmap"; do
    least=$(least "${program%% *}")
    for ((kib = least; kib < least + 10000; kib += 500)); do
      # shellcheck disable=SC2086 # several words
      with_memory "$kib" $program
      [[ -z $(find . -name '.*.tmp') ]]
    done
  done
}
