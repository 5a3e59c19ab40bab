#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# genmap from the command line: its maps equal nm's, wrong files and arguments are refused.

bats_require_minimum_version 1.5.0

setup() {
  PATH="$BUILD_DIR/bin:$PATH"
  export LC_ALL=C
  cd "$BATS_TEST_TMPDIR" || return
  cat >program.c <<'END'
int common_one, initialised = 3;
static const char text[] = "x";
__attribute__((weak)) int weak_function(void) { return text[0]; }
__attribute__((weak)) int weak_object = 1;
extern int absent(int) __attribute__((weak));
static int helper(int n) { return n + initialised; }
static int (*choose(void))(int) { return helper; }
int chosen(int) __attribute__((ifunc("choose")));
int main(int argc, char **argv) { return (int)(long)argv + common_one + chosen(argc) + weak_function(); }
END
  gcc -g -O0 -o program program.c
  gcc -g -O0 -c program.c
}

@test "help and version go to the standard output and exit 0" {
  for form in --help -h '-?'; do
    run -0 --separate-stderr genmap "$form"
    [[ $output == "Usage: genmap"* && -z $stderr ]]
  done
  run -0 genmap --version
  [[ $output == "genmap (pitrace) "[0-9]* ]]
}

@test "a map equals the output of nm -a" {
  for image in program program.o "$BUILD_DIR/tests/mixed" "$BUILD_DIR/bin/genmap"; do
    nm -a "$image" >expected
    genmap "$image" >map
    cmp expected map
  done
  nm -a --defined-only program >expected
  genmap --defined-only program >map
  cmp expected map
  gcc -m32 -nostdlib -static -x assembler -o small - <<<$'.globl _start\n_start: ret'
  nm -a small >expected
  genmap small >map
  cmp expected map
}

@test "-n sorts by address, -D lists the exported symbols, -o writes a file" {
  genmap -n --defined-only program -o map
  awk '{ print $1 }' map >addresses
  sort -c addresses
  [[ $(wc -l <map) == $(nm -a --defined-only program | wc -l) ]]
  gcc -shared -fPIC -o libshared.so program.c
  strip libshared.so
  genmap -D --defined-only libshared.so >map
  grep -q ' T main$' map
  [[ ! -e map.new ]]
}

@test "wrong arguments exit 255" {
  for words in "" "-x program" "program program" "-o"; do
    # shellcheck disable=SC2086 # several words
    run -255 --separate-stderr genmap $words
    [[ -z $output && -n $stderr ]]
  done
}

@test "a file without symbols exits 1 with advice" {
  strip program
  run -1 --separate-stderr genmap program
  [[ -z $output && $stderr == *"stripped"*"-D"* ]]
  run -1 genmap /nowhere/program
  [[ $output == *"/nowhere/program"* ]]
  run -1 genmap program.c
  [[ $output == *"program.c is not an ELF file"* ]]
  mkfifo pipe
  run -1 timeout 10 genmap pipe
  run -1 genmap -o /nowhere/map program.o
  [[ $output == *"/nowhere/map"* ]]
}

@test "damaged files do not crash genmap" {
  local i size
  size=$(stat -c %s program.o)
  for ((i = 0; i < 60; i++)); do
    cp program.o damaged
    printf '\xff\xff\xff' | dd of=damaged bs=1 seek=$((RANDOM * 37 % size)) conv=notrunc status=none
    head -c $((size - (i % 4) * size / 5)) damaged >short
    run timeout 20 genmap short
    [[ $status == 0 || $status == 1 ]]
  done
}
