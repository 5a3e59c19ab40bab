#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# post top on real terminals of two sizes, in a UTF-8 and in the C locale. Traces are made of text, so that each tick is
# known.

bats_require_minimum_version 1.5.0

setup_file() {
  export PATH="$BUILD_DIR/bin:$BUILD_DIR/tests:$PATH" made=$BATS_FILE_TMPDIR
  cd "$made" || return
  cat >app.c <<'SOURCE'
__attribute__((noinline)) int callee(int n) {
  return n * 3 + 1;
}
__attribute__((noinline)) int hot(int n) {
  int sum = 0;
  for (int i = 0; i < n; ++i) sum += callee(i);
  return sum;
}
int main(int argc, char **argv) { return hot(argc) + (argv == 0); }
SOURCE
  touch -d '2020-01-01' app.c
  gcc -O1 -g -no-pie -Wl,--build-id,-z,lazy,-z,separate-code -o app app.c
  trace_text | text_trace >app.nrm2
  # A continuous trace: what it has at first, and what comes later.
  { echo 'info ended=running' && trace_text && echo "section trace 0" && many_ticks 30; } | text_trace >grown.nrm2
  awk '/^=== trace/ { inside = 1; next } /^===/ { inside = 0 } inside' "$SOURCE_DIR/tests/golden/tprof/hostile_names.case" |
    text_trace >hostile.nrm2
}

address() { nm app | awk -v name="$1" '$3 == name { print "0x" $1 }'; }

# Eight ticks in hot(), two of them below its own frame; two in callee(), called by hot(); of another process two in main().
trace_text() {
  local offset base time=1000000
  read -r offset base _ < <(readelf -lW app | awk '$1 == "LOAD" && / R E / { print $2, $3 }')
  local hot callee main call
  hot=$(address hot) callee=$(address callee) main=$(address main)
  # Where calls return to.
  call=$(objdump -d --no-show-raw-insn app | awk -v name="$1" '/<hot>:/ { inside = 1 } inside && found { sub(":", "", $1); print "0x" $1; exit }
    inside && /call/ { found = 1 }')
  echo "info stacks=user"
  echo "section mte 0"
  printf '1 name 0x20 app\n1 module 0x20 %#x 0x1000 %#x %s\n' $((base)) $((offset)) "$made/app"
  printf '1 name 0x30 other\n1 module 0x30 %#x 0x1000 %#x %s\n' $((base)) $((offset)) "$made/app"
  echo "1 thread 0x20 0x21 worker"
  echo "section trace 0"
  for _ in 1 2 3 4 5 6; do echo "$((time += 1000000)) tick user 0x20 0x20 $hot stack user $(printf '%#x' $((main + 4)))"; done
  for _ in 1 2; do echo "$((time += 1000000)) tick user 0x20 0x21 $callee stack user $call $(printf '%#x' $((main + 4)))"; done
  for _ in 1 2; do echo "$((time += 1000000)) tick user 0x30 0x30 $main"; done
}

many_ticks() {
  local i main
  main=$(address main)
  for ((i = 1; i <= $1; ++i)); do echo "$((20000000 + 1000000 * i)) tick user 0x30 0x30 $main"; done
}

setup() {
  cd "$BATS_TEST_TMPDIR" || return
  export terminal=top-$BATS_TEST_NUMBER-$$ XDG_CACHE_HOME=$BATS_TEST_TMPDIR/cache
}

teardown() { tmux -L "$terminal" kill-server 2>/dev/null || true; }

# start WIDTH HEIGHT LOCALE COMMAND: runs the command of a shell in a new terminal.
start() {
  tmux -L "$terminal" -f /dev/null -u new-session -d -x "$1" -y "$2" \
    "export LC_ALL=$3; $4; echo \"ended with \$?\"; stty -a; cat"
}

keys() { tmux -L "$terminal" send-keys "$@"; }
capture() { tmux -L "$terminal" capture-pane -p; }

# sees TEXT: waits until the screen contains the text.
sees() {
  local screen _
  for _ in {1..600}; do
    screen=$(capture)
    [[ $screen != *"$1"* ]] || return 0
    sleep 0.05
  done
  echo "The screen does not contain: $1"
  echo "$screen"
  return 1
}

# sees_no TEXT
sees_no() {
  local screen
  screen=$(capture)
  [[ $screen != *"$1"* ]] || { echo "$screen" && return 1; }
}

# fits WIDTH HEIGHT: the screen has so many lines, the last one says what keys do, and no line is wider.
fits() {
  capture >screen
  (($(wc -l <screen) == $2))
  [[ $(tail -1 screen) == *"? help"* ]]
  (($(LC_ALL=C.UTF-8 awk '{ if (length($0) > most) most = length($0) } END { print most }' screen) <= $1))
}

@test "from a process to its modules, symbols, lines and instructions, and back" {
  start 80 24 C.UTF-8 "post top $made/app.nrm2 --source-path $made"
  sees '  80.0 %      8  app:32'
  sees '  20.0 %      2  other:48'
  sees '12 ticks'
}
