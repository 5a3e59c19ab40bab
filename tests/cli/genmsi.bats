#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# genmsi and post -lmrg from the command line.

bats_require_minimum_version 1.5.0

setup() {
  PATH="$BUILD_DIR/bin:$PATH"
  cd "$BATS_TEST_TMPDIR" || return
}

@test "help and version go to the standard output and exit 0" {
  for form in --help -h '-?'; do
    run -0 --separate-stderr genmsi "$form"
    [[ $output == "Usage: genmsi"* && -z $stderr ]]
  done
  run -0 genmsi --version
  [[ $output == "genmsi (pitrace) "[0-9]* ]]
}

@test "wrong arguments exit 255 and write nothing" {
  for words in "" "-x" "-o" "-k a -kmap b"; do
    # shellcheck disable=SC2086 # several words
    run -255 --separate-stderr genmsi $words
    [[ -z $output && -n $stderr ]]
  done
  [[ ! -e a2n.msi && ! -e none.msi ]]
}

@test "images are saved; --verbose prints where their symbols came from" {
  run -0 genmsi --verbose "$BUILD_DIR/tests/mixed" "$BUILD_DIR/bin/post"
  [[ $output == *"tests/mixed: "*" symbols from "*"tests/mixed"* && $output == *"bin/post: "*" symbols from "* ]]
  [[ $(head -c 7 a2n.msi) == A2N-MSI ]]
  [[ $(stat -c %a a2n.msi) == $(printf %o $((0666 & ~$(umask)))) ]]
}

@test "a file that is not an image is reported, the others are saved, and the status is 3" {
  echo text >script
  run -3 genmsi -o some.msi "$BUILD_DIR/tests/mixed" script /nowhere/program
  [[ $output == *"script"*"not an ELF file"* && $output == *"/nowhere/program"* ]]
  [[ -s some.msi ]]
}

@test "nothing to save exits 1 and writes nothing" {
  run -1 genmsi -o none.msi /nowhere/program
  run -1 genmsi -o none.msi -r /nowhere/trace.nrm2
  run -1 genmsi -o none.msi -k /nowhere/vmlinux
  [[ $output == *"/nowhere/vmlinux"* ]]
  run -1 genmsi -o /nowhere/none.msi "$BUILD_DIR/tests/mixed"
  [[ $output == *"/nowhere/none.msi"* ]]
  run -1 genmsi -o none.msi -r "$BUILD_DIR/tests/mixed"
  [[ $output == *"not an nrm2 trace file"* ]]
  [[ ! -e none.msi ]]
}

@test "post refuses a file without saved symbols, and -lmrg with -sympath" {
  cp "$BUILD_DIR/tests/mixed" no.msi
  printf x >trace.nrm2
  run -1 post -lmrg no.msi -r trace.nrm2
  genmsi -o good.msi "$BUILD_DIR/tests/mixed"
  run -255 post -lmrg good.msi -sympath /lib
}
