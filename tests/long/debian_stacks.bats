#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Call stacks of programs of Debian, as a user records them: at least 99 % of 10,000 are whole. Java and node run code that they generate.

setup() {
  export PATH=${STAGE:-${BUILD_DIR:?}/stage}/bin:$PATH LC_ALL=C
  # shellcheck source=bench/programs.sh
  source "$SOURCE_DIR/bench/programs.sh"
  cd "$BATS_TEST_TMPDIR" || return
  make_work 10
}

# whole PROGRAM [OPTION]...: records the program's work, and checks its stacks.
whole() {
  local program=$1 line
  shift
  command -v "$program" >/dev/null || skip "needs $program"
  work_of "$program"
  run.tprof --source=perf --no-install -g -c 2000 --lines=0 -o trace "$@" -- "${work[@]}" <"$input" >/dev/null 2>messages ||
    { cat messages; false; }
  line=$(jq -r '.tree.stacks as $s | "\($s.with) \($s.whole) \($s.guessed) \($s.cut) \($s.broken)"' trace/tprof.json)
  echo "$program: $line" | tee -a "${WHOLE_STACKS_LOG:-/dev/null}"
  read -r with is_whole _ <<<"$line"
  ((with >= 10000 && is_whole * 100 >= with * 99))
}

@test "stacks of python3 are whole" { whole python3 --process 'python3*'; }

@test "stacks of gcc are whole" { whole gcc --process 'cc1plus*'; }

@test "stacks of xz are whole" { whole xz --process 'xz*'; }

@test "stacks of sqlite3 are whole" { whole sqlite3 --process 'sqlite3*'; }

@test "stacks of node are whole, through its built-in functions and generated code" { whole node --process 'node*'; }

@test "stacks of javac are whole, through interpreted and compiled methods" {
  whole javac --process 'javac*'
  grep -q 'Java: added -XX:+PreserveFramePointer to JAVA_TOOL_OPTIONS' messages
  # Compiled methods call each other, and the virtual machine's own functions start them.
  run.tprof -p --lines=0 -o trace -g --process 'javac*' >/dev/null
  grep -a 'JavaCalls[^;]*call_helper.*com/sun/tools/javac.*com/sun/tools/javac' trace/tprof.folded >/dev/null
}

# For comparison: such a process is noted, and its stacks are not said to be whole.
@test "a JVM without frame pointers is noted" {
  command -v javac >/dev/null || skip "needs javac"
  JAVA_TOOL_OPTIONS='' run.tprof --source=perf --no-install --no-java -g -c 1000 --lines=0 -o trace -- javac -d classes Work.java >/dev/null 2>&1
  grep -q 'keep no frame pointers' trace/tprof.out
  jq -e '.tree.stacks | .whole * 100 < .with * 90' trace/tprof.json >/dev/null
}
