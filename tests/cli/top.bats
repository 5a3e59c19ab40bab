#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# post top on real terminals of two sizes, in a UTF-8 and in the C locale. Traces are made from text, so that each tick is
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
  # A continuous trace, and a section that is added to it.
  { echo 'info ended=running' && trace_text; } | text_trace >begun.nrm2
  { echo 'section trace 0' && many_ticks 30; } | text_trace >more.nrm2
  awk '/^=== trace/ { inside = 1; next } /^===/ { inside = 0 } inside' "$SOURCE_DIR/tests/golden/tprof/hostile_names.case" |
    text_trace >hostile.nrm2
}

address() { nm app | awk -v name="$1" '$3 == name { print "0x" $1 }'; }

# behind_call FUNCTION: the address that the first call in a function returns to.
behind_call() {
  objdump -d --no-show-raw-insn app | awk -v label="<$1>:" '$2 == label { inside = 1 }
    inside && called { sub(":", "", $1); print "0x" $1; exit } inside && $2 == "call" { called = 1 }'
}

# Prints a trace with ten ticks: of process app six at the beginning of hot() and two, in its thread worker, at callee(), which
# hot() calls; of process other two in main().
trace_text() {
  local offset base time=1000000 in_main in_hot
  read -r offset base _ < <(readelf -lW app | awk '$1 == "LOAD" && / R E / { print $2, $3 }')
  in_main=$(behind_call main) in_hot=$(behind_call hot)
  echo "info stacks=user"
  echo "section mte 0"
  printf '1 name 0x20 app\n1 module 0x20 %#x 0x1000 %#x %s\n' $((base)) $((offset)) "$made/app"
  printf '1 name 0x30 other\n1 module 0x30 %#x 0x1000 %#x %s\n' $((base)) $((offset)) "$made/app"
  echo "1 thread 0x20 0x21 worker"
  echo "section trace 0"
  for _ in 1 2 3 4 5 6; do echo "$((time += 1000000)) tick user 0x20 0x20 $(address hot) stack user $in_main"; done
  for _ in 1 2; do echo "$((time += 1000000)) tick user 0x20 0x21 $(address callee) stack user $in_hot $in_main"; done
  for _ in 1 2; do echo "$((time += 1000000)) tick user 0x30 0x30 $(address main)"; done
}

# many_ticks NUMBER: prints further ticks of process other.
many_ticks() {
  local i main
  main=$(address main)
  for ((i = 1; i <= $1; ++i)); do echo "$((20000000 + 1000000 * i)) tick user 0x30 0x30 $main"; done
}

setup() {
  cd "$BATS_TEST_TMPDIR" || return
  export XDG_CACHE_HOME=$BATS_TEST_TMPDIR/cache terminals=0 terminal=''
}

teardown() { [[ ! $terminal ]] || tmux -L "$terminal" kill-server 2>/dev/null || true; }

# start WIDTH HEIGHT LOCALE COMMAND: ends the previous terminal, and runs the shell command in a new one.
start() {
  teardown
  # A new name: the server of the previous terminal may not have ended yet.
  terminal=top-$BATS_TEST_NUMBER-$$-$((++terminals))
  tmux -L "$terminal" -f /dev/null -u new-session -d -x "$1" -y "$2" \
    "export LC_ALL=$3; $4; echo \"ended with \$?\"; stty -a; cat"
}

keys() { tmux -L "$terminal" send-keys "$@"; }
capture() { tmux -L "$terminal" capture-pane -p; }

# sees TEXT: waits until the screen contains the text.
sees() {
  local screen _
  for _ in {1..300}; do
    screen=$(capture)
    [[ $screen != *"$1"* ]] || return 0
    sleep 0.1
  done
  echo "The screen does not contain: $1"
  echo "$screen"
  return 1
}

# sees_no TEXT: fails if the screen contains the text.
sees_no() {
  local screen
  screen=$(capture)
  [[ $screen != *"$1"* ]] || { echo "$screen" && return 1; }
}

# fits WIDTH HEIGHT: the screen has HEIGHT lines, the last one explains keys, and no line is wider than WIDTH.
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
  sees '10 ticks in 9.0 ms'
  fits 80 24
  keys Enter
  sees " 100.0 %      8  $made/app"
  sees 'All > app:32'
  keys Enter
  sees '  75.0 %      6  hot     app'
  sees '  25.0 %      2  callee  app'
  keys Enter
  sees "hot in $made/app: 6 ticks, 75.0 % of the selected ticks"
  sees 'int hot(int n) {'
  sees ' +0  '
  sees '[Lines]  Callers   Callees'
  keys Tab
  sees ' 100.0 %      8  main    app'
  keys BSpace
  sees '[4 Symbols]'
  keys BSpace BSpace
  sees '[1 Processes]'
  keys q
  sees 'ended with 0'
}

@test "callers, callees, threads, excluding, sorting and searching on a large terminal in the C locale" {
  start 200 50 C "post top $made/app.nrm2"
  sees 'other:48'
  fits 200 50
  keys 4 c
  sees '8 ticks in it and what it calls, 6 in itself.'
  sees ' 100.0 %      8  main    app'
  keys Tab
  sees '  75.0 %      6  (in itself)'
  sees '  25.0 %      2  callee       app'
  keys 2
  sees '  20.0 %      2  worker:33  app:32'
  keys 4 x
  sees 'All, without hot'
  sees '  50.0 %      2  callee  app'
  keys BSpace s
  sees 'by name, 2 of 3'
  keys / m a i n Enter
  sees 'by name, 3 of 3'
  keys / z z Enter
  sees "No row contains 'zz'."
  keys '?'
  sees 'Any key closes this.'
  keys q
  sees 'ended with 0'
}

@test "names of hostile programs are shown as text" {
  for locale in C.UTF-8 C; do
    start 80 24 "$locale" "post top $made/hostile.nrm2"
    sees '\x1b['
    fits 80 24
    keys 4
    sees '[4 Symbols]'
    fits 80 24
  done
}

@test "a trace that is being recorded is read again while it grows; a partly written last section is not reported as damage" {
  { cat "$made/begun.nrm2" && head -c 700 "$made/more.nrm2"; } >run.nrm2
  start 80 24 C.UTF-8 "post top run.nrm2 --interval 1"
  sees '10 ticks in 9.0 ms, recording'
  sees 'Nothing lost as far as the file shows.'
  keys Down
  sees 'by ticks, 2 of 2'
  tail -c +701 "$made/more.nrm2" >>run.nrm2
  sees '40 ticks in 48 ms, recording'
  # The cursor stays on the same process, which has more ticks now.
  sees 'by ticks, 1 of 2'
  sees '  80.0 %     32  other:48'
  sees 'Nothing lost as far as the file shows.'
  rm run.nrm2
  sees 'cannot open the trace file run.nrm2'
  keys q
  sees 'ended with 0'
}

@test "the screen follows the size of the terminal; a terminal that is too small shows a message" {
  start 80 24 C.UTF-8 "post top $made/app.nrm2"
  sees '[1 Processes]'
  tmux -L "$terminal" resize-window -x 120 -y 30
  sees '? help'
  for _ in {1..100}; do [[ $(capture | tail -1) != *'? help'* ]] || break; done
  fits 120 30
  tmux -L "$terminal" resize-window -x 30 -y 8
  sees '40 x 8, not 30 x 8.'
  tmux -L "$terminal" resize-window -x 40 -y 8
  sees 'app:32'
  fits 40 8
}

@test "a signal restores the terminal" {
  local post
  for signal in INT TERM; do
    start 80 24 C.UTF-8 "trap : INT; stty -a >before; post top $made/app.nrm2; stty -a >after; cmp before after && echo same"
    sees 'app:32'
    if [[ $signal == INT ]]; then
      keys C-c
    else
      post=$(ps -o pid= --ppid "$(tmux -L "$terminal" list-panes -F '#{pane_pid}')")
      kill "$post"
    fi
    sees same
    sees_no 'app:32'
  done
}

@test "without a terminal, or with one of unknown type, post top exits with a message that names the remedy" {
  run -255 post top "$made/app.nrm2" </dev/null
  [[ $output == *"needs a terminal"*"post --page"* ]]
  start 80 24 C.UTF-8 "TERM=nonsense post top $made/app.nrm2"
  sees "the terminal 'nonsense' (TERM) is not known here"
  sees 'ended with 255'
  start 80 24 C.UTF-8 "TERM= post top $made/app.nrm2; TERM=dumb post top $made/app.nrm2"
  sees 'TERM is not set'
  sees "the terminal 'dumb' (TERM) cannot move its cursor."
}

@test "selection options work as those of post; wrong ones are refused" {
  start 80 24 C.UTF-8 "post top --process other $made/app.nrm2"
  sees '2 ticks in '
  sees 'processes other (--process).'
  sees_no app:32
  run -255 post top --interval 0
  [[ $output == *"--interval takes a number of seconds from 1 to 3600, not '0'."* ]]
  run -255 post top --page
  run -255 post top -r a b
  [[ $output == *"named twice"* ]]
  run -0 post top --help
  [[ $output == *"PageUp"* ]]
  start 80 24 C.UTF-8 "post top --process nobody $made/app.nrm2; post top none.nrm2"
  sees 'none of the 10 ticks'
  sees 'cannot open the trace file none.nrm2'
  sees 'ended with 1'
}

@test "a real trace while it is being recorded" {
  export PITRACE_SOCKET=$BATS_TEST_TMPDIR/socket
  swtrace init -s 1 -t cont -f live.nrm2 --source perf >init.log 2>&1 || skip "needs perf events"
  swtrace enable tprof
  swtrace on
  head -c 200M /dev/zero | sha512sum >/dev/null
  # Other processes may have more ticks than fit on the screen.
  start 80 24 C.UTF-8 "post top live.nrm2 --interval 1 --process sha512sum"
  sees ', recording'
  # A section is written when it is full, or at the end.
  swtrace off
  swtrace free
  keys r
  sees 'sha512sum:'
  sees_no ', recording'
  keys q
  sees 'ended with 0'
}
