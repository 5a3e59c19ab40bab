#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# post --annotate: source lines of a real program, with their ticks and instructions. Traces are
# made from text, so that each tick is known.

bats_require_minimum_version 1.5.0

setup_file() {
  export PATH="$BUILD_DIR/bin:$BUILD_DIR/tests:$PATH" made=$BATS_FILE_TMPDIR PITRACE_SOCKET=$BATS_FILE_TMPDIR/recorder
  mkdir "$made/src" && cd "$made/src" || return
  cat >app.c <<'SOURCE'
#include <stdlib.h>
#include "part/twice.h"
__attribute__((noinline)) int callee(int n) { return n * 3 + 1; }
__attribute__((noinline)) int hot(int n) {
	int sum = atoi("5");
  for (int i = 0; i < n; ++i) {
    sum += callee(i);
    sum ^= twice(sum);
  }
  return sum;
}
int main(int argc, char **argv) { return hot(argc) + (argv == 0); }
SOURCE
  mkdir part other
  echo 'static inline __attribute__((always_inline)) int twice(int n) { return n * 40503 / 7; }' >part/twice.h
  touch -d '2020-01-01' app.c part/twice.h
  gcc -O1 -g -no-pie -Wl,--build-id,-z,lazy,-z,separate-code -o "$made/app" app.c
  cd "$made" || return
  trace_text | text_trace >app.nrm2
}

# One tick on each byte of hot() at which an instruction begins, two on the one of its calls; one on callee().
trace_text() {
  local start base offset time=100 at
  read -r offset base _ < <(readelf -lW app | awk '$1 == "LOAD" && / R E / { print $2, $3 }')
  echo "section mte 0"
  echo "1 name 0x20 app"
  printf '1 module 0x20 %#x 0x1000 %#x %s\n' $((base)) $((offset)) "$made/app"
  echo "section trace 0"
  for at in $(objdump -d --no-show-raw-insn app | awk '/^[0-9a-f]+ <hot>:/ { inside = 1; next } /^$/ { inside = 0 }
      inside { sub(":", "", $1); print "0x" $1; if ($2 == "call") print "0x" $1 }'); do
    echo "$((time += 100)) tick user 0x20 0x20 $at"
  done
  start=$(nm app | awk '$3 == "callee" { print "0x" $1 }')
  echo "$((time += 100)) tick user 0x20 0x20 $start"
}

setup() {
  cd "$BATS_TEST_TMPDIR" || return
  export XDG_CACHE_HOME=$BATS_TEST_TMPDIR/cache
}

ticks_of() { jq -r --arg name "$1" '.reports[] | select(.title == "Module_Symbol") | .rows[].children[] | select(.name == $name) | .ticks' tprof.json; }
one_line() { tr -s ' \n' ' ' <<<"$output"; }
# The sum of the ticks of lines, and of those of instructions.
sum_of_lines() { awk '$3 == "%" && $4 ~ /^[0-9?]+$/ { sum += $1 } END { print sum + 0 }' <<<"$output"; }
sum_of_code() { awk '$3 == "%" && $4 ~ /^\+/ { sum += $1 } END { print sum + 0 }' <<<"$output"; }

@test "the ticks of all lines are those of the function, and so are those of its instructions" {
  run --separate-stderr -0 post -r "$made/app.nrm2" --annotate hot -clip 0 --json
  ticks=$(ticks_of hot)
  ((ticks > 10))
  [ "$(sum_of_lines)" = "$ticks" ]
  [ "$(sum_of_code)" = "$ticks" ]
  [[ $(one_line) == "hot in $made/app: $ticks ticks, "*" % of all processors' ticks ticks share line "* ]]
  [[ $output != *$'\033'* ]]
}

@test "lines have their ticks and their text; calls show the name of their target, inlined code that of its function" {
  run -0 post -r "$made/app.nrm2" --annotate hot
  grep -Eq '^ +[1-9][0-9]* +[0-9.]+ % +7      sum \+= callee\(i\);$' <<<"$output"
  grep -Eq '^ +2 +[0-9.]+ % +\+[0-9a-f]+  call callee$' <<<"$output"
  grep -q '^ *in twice, inlined:$' <<<"$output"
  grep -Eq '^ +[0-9]+ +[0-9.]+ % +1  static inline .* int twice' <<<"$output"
  grep -Eq '%.*  j[a-z]+ \+[0-9a-f]+$' <<<"$output"
  # A tab is as wide as on a terminal.
  grep -Eq ' 5          int sum = atoi' <<<"$output"
}

@test "a call through the procedure linkage table has the name of the function that its entry calls" {
  name=$(objdump -d "$made/app" | awk '/^[0-9a-f]+ <hot>:/ { inside = 1 } /^$/ { inside = 0 }
      inside && /call.*@plt>/ { sub(/.*</, ""); sub(/>.*/, ""); print; exit }')
  [[ $name == *@plt ]]
  run -0 post -r "$made/app.nrm2" --annotate hot
  grep -Eq "^ +2 +[0-9.]+ % +\\+[0-9a-f]+  call $name\$" <<<"$output"
}

@test "the functions with most ticks are first; names may have wildcards, and a name without a match is reported" {
  run --separate-stderr -0 post -r "$made/app.nrm2" --annotate '*'
  [ "$(grep -E '^(hot|callee) in /' <<<"$output" | cut -d' ' -f1 | tr '\n' ' ')" = "hot callee " ]
  run --separate-stderr -0 post -r "$made/app.nrm2" --annotate '*' --lines 1
  [[ $output == *"1 more function has a matching name; --lines=2 shows all."* ]]
  [ "$(grep -cE '^(hot|callee) in /' <<<"$output")" = 1 ]
  run -1 post -r "$made/app.nrm2" --annotate hott
  [[ $(one_line) == *"--annotate hott matches nothing that ticks fell on; similar: hot."* ]]
}

@test "shares are of the selected ticks" {
  run --separate-stderr -0 post -r "$made/app.nrm2" --annotate callee --symbol callee
  [[ $(one_line) == "callee in $made/app: 1 tick, 100.0 % of the selected ticks ticks share line "* ]]
}

@test "a source file that is newer than the program is named in the head" {
  cp -r "$made/src" newer
  run --separate-stderr -0 post -r "$made/app.nrm2" --annotate callee
  [[ $output != *newer* ]]
  mv "$made/src" "$made/away"
  touch newer/app.c
  run --separate-stderr -0 post -r "$made/app.nrm2" --annotate callee --source-path newer
  mv "$made/away" "$made/src"
  [[ $(one_line) == *"newer/app.c is newer than the program: its line numbers may be wrong"* ]]
}

@test "post run by root shows a source file of another user's program only if every user may read it or --source-path names its directory" {
  [ "$(id -u)" -eq 0 ] || skip "needs root, to which the rule applies"
  # bats makes directories that only root may search.
  for directory in "$BATS_RUN_TMPDIR" "$BATS_RUN_TMPDIR"/*/ "$made"; do chmod o+x "$directory"; done
  chmod o-r "$made/src/app.c"
  run --separate-stderr -0 post -r "$made/app.nrm2" --annotate callee
  [[ $(one_line) == *"src/app.c: not every user may read it"* ]]
  chown 65534 "$made/app"
  run --separate-stderr -0 post -r "$made/app.nrm2" --annotate callee
  [[ $(one_line) == *"src/app.c: not every user may read it; --source-path with its directory permits it."* ]]
  refused=$output
  run --separate-stderr -0 post -r "$made/app.nrm2" --annotate callee --source-path "$made/src"
  shown=$output
  chmod o+r "$made/src/app.c"
  [[ $(one_line) != *"not every user"* ]]
  chmod o-x "$made/src"
  run --separate-stderr -0 post -r "$made/app.nrm2" --annotate callee
  chmod o+x "$made/src"
  chown 0 "$made/app"
  [[ $(one_line) == *"src/app.c: not every user may read it"* ]]
  # The output has its lines when every user may read it.
  [[ $(grep -c callee <<<"$shown") -gt $(grep -c callee <<<"$refused") ]]
}

# The recorder and post see root's program at the path, and post reads the mapped file below /proc/PID/root.
@test "a program that another user's file covers in a mount namespace is that user's" {
  [ "$(id -u)" -eq 0 ] || skip "needs root to mount"
  [ "$(swtrace check --json | jq .perf_system_works)" = true ] || skip "needs perf_event_open for the whole system"
  # Other tests make the directory above accessible to all.
  mkdir -m 700 private && cd private
  echo 'int main(void) { for (;;) __asm__ volatile("" ::: "memory"); }' >spin.c
  gcc -g -Wl,--build-id -o cover spin.c
  gcc -O2 -Wl,--build-id -o program spin.c
  for owner in 65534 0; do
    chown "$owner" cover
    unshare -m bash -c 'ulimit -t 60; mount --bind cover program && exec "$PWD/program"' 3>&- &
    swtrace init --source perf -t norm
    swtrace enable tprof
    swtrace on
    until [ "$(awk '{ print $14 }' "/proc/$!/stat")" -ge 20 ]; do sleep 0.1; done
    swtrace off
    swtrace get "$owner.nrm2"
    swtrace free
    run --separate-stderr -0 post -r "$owner.nrm2" --annotate main
    kill $!
    if [ "$owner" = 0 ]; then
      [[ $output == *'__asm__ volatile'* ]]
    else
      [[ $(one_line) == *"spin.c: not every user may read it"* && $output != *'__asm__ volatile'* ]]
    fi
  done
}

@test "a symbolic link that leads out of a directory of --source-path is not followed" {
  mkdir -p project/src
  printf '\n\nsecret\n' >secret
  chmod 600 secret
  mv "$made/src" "$made/away"
  for target in ../../secret "$PWD/secret" /proc/self/cwd/secret; do
    ln -sf "$target" project/src/app.c
    post -r "$made/app.nrm2" --annotate callee --source-path project >"shown${#target}"
  done
  ln -s ../src project/src/up
  printf '\n\nof the project\n' >project/src/real.c
  ln -sf up/real.c project/src/app.c
  run --separate-stderr -0 post -r "$made/app.nrm2" --annotate callee --source-path project
  mv "$made/away" "$made/src"
  [[ $output == *"of the project"* ]]
  for each in shown*; do
    tr -s ' \n' ' ' <"$each" | grep -q "project/src/app.c: a symbolic link leads out of project\."
    run -1 grep 'secret$' "$each"
  done
}

@test "without source, line numbers are shown; without debug information, instructions and advice" {
  mv "$made/src" "$made/away"
  run --separate-stderr -0 post -r "$made/app.nrm2" --annotate hot -clip 0 --json
  mv "$made/away" "$made/src"
  [[ $(one_line) == *"src/app.c: The file is not there; --source-path=DIR names other directories."* ]]
  [ "$(sum_of_lines)" = "$(ticks_of hot)" ]
  strip -g -o stripped "$made/app"
  trace=$(cd "$made" && trace_text)
  text_trace <<<"${trace//"$made/app"/"$PWD/stripped"}" >stripped.nrm2
  run --separate-stderr -0 post -r stripped.nrm2 --annotate hot -clip 0 --json
  [[ $(one_line) == *"Compile it with -g, or install its -dbgsym package, or set DEBUGINFOD_URLS."* ]]
  [ "$(sum_of_lines)" = 0 ]
  [ "$(sum_of_code)" = "$(ticks_of hot)" ]
}

@test "of two files with the same name the one with the longest matching path is used" {
  mkdir -p a/src/part b/part c
  for directory in a/src/part b/part c; do
    echo "the text in $directory" >"$directory/twice.h"
  done
  mv "$made/src" "$made/away"
  run --separate-stderr -0 post -r "$made/app.nrm2" --annotate hot --source-path c:b:a
  mv "$made/away" "$made/src"
  [[ $output == *"the text in a/src/part"* && $output != *"the text in b"* && $output != *"the text in c"* ]]
}

@test "only regular files are read as source, and their control characters do not reach the terminal" {
  mkdir src
  mkfifo src/app.c
  mv "$made/src" "$made/away"
  run --separate-stderr -0 timeout 60 post -r "$made/app.nrm2" --annotate callee --source-path .
  mv "$made/away" "$made/src"
  [[ $output == *"not a regular file"* ]]
  rm src/app.c
  printf '\n\nhere \033[31m red \302\233 \r back\n' >src/app.c
  mv "$made/src" "$made/away"
  run --separate-stderr -0 post -r "$made/app.nrm2" --annotate callee --source-path .
  truncate -s 17M src/app.c
  large=$(post -r "$made/app.nrm2" --annotate callee --source-path .)
  mv "$made/away" "$made/src"
  [[ $output == *'here \x1b[31m red \xc2\x9b \x0d back'* && $output != *$'\033'* ]]
  [[ $(tr -s ' \n' ' ' <<<"$large") == *"is longer than 16777216 bytes"* ]]
}

@test "an archive shows the lines, and source that is on this machine" {
  post -r "$made/app.nrm2" --archive
  run --separate-stderr -0 post -r app.tar.zst --annotate hot -clip 0 --json
  [ "$(sum_of_code)" = "$(ticks_of hot)" ]
  [[ $output == *"The instructions are not known: "* ]]
}

@test "invalid combinations of options are refused" {
  run -255 post --annotate ''
  run -255 post --source-path /tmp
  run -255 post --diff a b --annotate x
  run -255 post --annotate x --source-path :
  run -255 post --annotate x --source-path /no/directory
  [[ $output == *"'/no/directory' is none"* ]]
}
