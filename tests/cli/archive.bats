#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Options of post for archives and for the sources of symbols, from the command line. proofs/archive.bats checks that
# reports are identical.

bats_require_minimum_version 1.5.0

setup_file() {
  export PATH="$BUILD_DIR/bin:$PATH"
  export made=$BATS_FILE_TMPDIR PITRACE_SOCKET=$BATS_FILE_TMPDIR/socket
  cd "$made" || return
  # Not the system: files of programs that others run may change between two archives.
  swtrace init -s 4 --source perf --scope process --pid $$ >init.log 2>&1 || { echo "no perf events here" >no-perf && return; }
  swtrace enable tprof
  swtrace setrate 1000
  swtrace on
  sha256sum "$BUILD_DIR/bin/post" "$BUILD_DIR/lib/liba2n.so" >/dev/null
  sha512sum "$BUILD_DIR"/bin/* >/dev/null
  find /usr /proc -maxdepth 4 -newer /etc/hostname >/dev/null 2>&1 || true # many functions of the kernel
  "$BUILD_DIR/tests/calls" 1
  swtrace off
  swtrace get run.nrm2
  swtrace free
}

setup() {
  [[ ! -e $made/no-perf ]] || skip "needs perf events"
  cd "$BATS_TEST_TMPDIR" || return
  cp "$made/run.nrm2" .
}

# Ignores the logs of Java processes of other tests, which the archive contains, and the list of packages, which depends on what
# ran and is installed.
own_members() { tar -tf "$1" | grep -v '^logs/\|^packages$'; }
own_content() { tar -xf "$1" -O README symbols.msi trace.nrm2; }

@test "the archive is named after the trace, is a tar file, and can be read by its owner only" {
  run -0 post -r run.nrm2 --archive
  # On a busy machine the kernel throttles its sampling clock, and post reports it.
  [[ -z $(sed '/[Tt]hrottled/d' <<<"$output") ]]
  [[ $(stat -c %a run.tar.zst) == 600 ]]
  [[ $(own_members run.tar.zst | tr '\n' ' ') == "README symbols.msi trace.nrm2 " ]]
  [[ ! -e tprof.out ]]
  run -0 post -r run.tar.zst
  [[ -s tprof.out ]]
  mkdir other
  run -0 post -r run.nrm2 -o other --archive=kept.tar.zst
  cmp <(own_content run.tar.zst) <(own_content other/kept.tar.zst)
}

@test "--archive cannot be combined with options for reports" {
  for words in "--archive --json" "--archive -show" "--archive -showx" "--archive=" "--archive-files"; do
    # shellcheck disable=SC2086 # several words
    run -255 post -r run.nrm2 $words
  done
  [[ $(ls) == run.nrm2 ]]
}

@test "an archive contains its symbols, so options for other symbols are refused" {
  post -r run.nrm2 --archive
  for words in "-k vmlinux" -kas "-kmap map" "-sympath /lib" "-lmrg x.msi" -nv "--archive=b.tar.zst --archive-files"; do
    # shellcheck disable=SC2086 # several words
    run -1 post -r run.tar.zst $words
    [[ $output == *"archive"* ]]
  done
}

@test "an archive without a trace, a truncated one and one with a wrong bit are reported" {
  post -r run.nrm2 --archive
  echo hello >hello
  tar --zstd -cf other.tar.zst hello
  run -1 post -r other.tar.zst
  [[ $output == *"no archive of a trace"* ]]
  head -c 1000 run.tar.zst >cut.tar.zst
  run -1 post -r cut.tar.zst
  local size
  size=$(stat -c %s run.tar.zst)
  head -c $((size - 4)) run.tar.zst >cut.tar.zst
  run -3 post -r cut.tar.zst
  [[ $output == *"damaged or cut off"* ]]
  grep -q 'damaged or cut off' tprof.out
}

@test "a directory in which nothing can be unpacked is reported" {
  post -r run.nrm2 --archive
  run -1 post -r run.tar.zst -o run.tar.zst/below
  [[ $output == *"run.tar.zst/below"* && $output == *"-o"* ]]
}

@test "unpacked files are removed" {
  post -r run.nrm2 --archive
  post -r run.tar.zst
  [[ $(find . -mindepth 1 | sort | tr '\n' ' ') == "./run.nrm2 ./run.tar.zst ./tprof.out " ]]
}

@test "the intact part of damaged saved symbols is used, and post exits 3" {
  genmsi -r run.nrm2 -o run.msi
  run -0 post -r run.nrm2 -lmrg run.msi
  local size
  size=$(stat -c %s run.msi)
  printf '\x00\x00\x00' | dd of=run.msi bs=1 seek=$((size / 2)) conv=notrunc status=none
  run -3 post -r run.nrm2 -lmrg run.msi
  [[ $output == *"checksum"* ]]
  printf x | dd of=run.msi bs=1 conv=notrunc status=none
  run -1 post -r run.nrm2 -lmrg run.msi
  [[ $output == *"not a file of saved symbols"* ]]
  run -1 post -r run.nrm2 -lmrg /nowhere/run.msi
}

@test "damaged symbols of the kernel are reported, and post exits 3" {
  local -a at
  read -ra at < <(od -An -t d8 -w32 -j 80 -N 32 run.nrm2)
  ((at[1] > 0)) || skip "this user may not read the kernel's symbols"
  printf '\0\0' | dd of=run.nrm2 bs=1 seek=$((at[0] + at[1] / 2)) conv=notrunc status=none
  run -3 post -r run.nrm2
  [[ $output == *"the kernel's symbols are not read: they are damaged"* ]]
}

@test "facts about a recording and build-ids that have changed are reported" {
  # Sections of text: type 0x100 and 0x200, at 116 of their headers.
  for type in 1 2; do
    at=$(LC_ALL=C grep -obaP 'NRM2\x01\x02\x03\x04' run.nrm2 | cut -d : -f 1 | while read -r at; do
      if [[ $(od -An -tx4 -j $((at + 116)) -N 4 run.nrm2) == *"00000${type}00" ]]; then echo "$at"; fi
    done | head -n 1)
    [ -n "$at" ]
    cp run.nrm2 changed.nrm2
    printf '\x01' | dd of=changed.nrm2 bs=1 seek=$((at + 512)) conv=notrunc status=none
    run -3 post -r changed.nrm2
    [[ $output == *"have changed since they were written"* ]]
    cp run.nrm2 changed.nrm2
    printf '\x01' | dd of=changed.nrm2 bs=1 seek=$((at + 118)) conv=notrunc status=none
    run -3 post -r changed.nrm2
    [[ $output == *"is of the unknown type 0x10${type}00"* ]]
  done
}

@test "a map of the kernel with its link-time addresses gives the kernel's names" {
  [[ $(awk '$3 == "_stext" { print $1 }' /proc/kallsyms) != 0000000000000000 ]] || skip "needs kernel addresses"
  # As in System.map: without symbols that were added after boot.
  gawk '$1 ~ /^ffffffff/ && NF == 3 {
      at = strtonum("0x" substr($1, 9)); if ($3 == "_stext") shift_by = at - 0x81000000
      line[++n] = $2 " " $3; address[n] = at }
    END { for (i = 1; i <= n; i++) if (address[i] >= shift_by) printf "ffffffff%08x %s\n", address[i] - shift_by, line[i] }' \
    /proc/kallsyms >System.map
  # Names in other files depend on whether other tests' programs still run.
  local kernel='.reports[] | select(.title == "Process_Module_Symbol") | .. | objects
    | select(.kind? == "module" and .name == "vmlinux") | .children[] | [.name, .ticks]'
  post -r run.nrm2 -clip 0 --json
  jq -c "$kernel" tprof.json >without
  [[ $(wc -l <without) -gt 20 ]]
  run -0 post -r run.nrm2 -clip 0 --json -kmap System.map
  jq -c "$kernel" tprof.json | cmp without -
  # A map of another kernel: every function has another address.
  gawk 'BEGIN { n = 0 } $3 != "_stext" { n += 64 } { printf "ffffffff%08x %s %s\n", strtonum("0x" substr($1, 9)) + n, $2, $3 }' \
    System.map >other.map
  run -0 post -r run.nrm2 -clip 0 -kmap other.map
  tr -s '\n ' ' ' <tprof.out | grep -q 'other.map: its symbols are not where .* another kernel'
  run -1 post -r run.nrm2 -kmap /nowhere/System.map
}

@test "a range of symbols can be reported under one name" {
  post -r run.nrm2 -clip 0 --json
  local module symbol
  read -r module symbol < <(jq -r '[.reports[] | select(.title == "Module_Symbol") | .rows[] | select(.name | startswith("/"))
    | .name as $m | .children[]? | select(.name | test("^[a-z_]+$")) | "\($m) \(.name)"][0]' tprof.json)
  [[ -n $symbol ]]
  run -0 post -r run.nrm2 -clip 0 -a2nrng "${module##*/}" "$symbol" "$symbol" my_range
  grep -q ' my_range$' tprof.out
  echo "$module $symbol $symbol from_file" >ranges
  run -0 post -r run.nrm2 -clip 0 -a2nrfn ranges
  grep -q ' from_file$' tprof.out
  run -255 post -r run.nrm2 -a2nrng "$module" "$symbol"
  echo "$module $symbol" >ranges
  run -1 post -r run.nrm2 -a2nrfn ranges
  [[ $output == *"line 1"* ]]
}

@test "-a2ndbg prints the sources of symbols and does not change the report" {
  post -r run.nrm2
  mv tprof.out before
  run -0 --separate-stderr post -r run.nrm2 -a2ndbg
  # shellcheck disable=SC2154 # run sets it
  [[ -z $(sed '/[Tt]hrottled/d' <<<"$output") && $stderr == *" symbols from /"*"build-id "* ]]
  cmp before tprof.out
}

@test "-oldjit is refused with the reason" {
  run -255 post -r run.nrm2 -oldjit
  [[ $output == *"-oldjit is not supported"* ]]
}
