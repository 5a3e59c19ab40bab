#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Java and JavaScript by name: run.tprof of hellop, of a running process, and of Node.js. PROOF_SOURCE is perf (on this
# machine) or driver (in the lab).

setup_file() {
  export PATH=${STAGE:?}/bin:$PATH
  if type -P javac >/dev/null; then
    mkdir "$BATS_FILE_TMPDIR/classes"
    javac -d "$BATS_FILE_TMPDIR/classes" "$SOURCE_DIR/tests/progs/java/"{hellop,Tree}.java
  fi
}

setup() {
  # shellcheck source=tests/support/profile.bash
  source "$SOURCE_DIR/tests/support/profile.bash"
  # shellcheck source=tests/support/known_stacks.bash
  source "$SOURCE_DIR/tests/support/known_stacks.bash"
  export LC_ALL=C PITRACE_SOCKET=$BATS_TEST_TMPDIR/socket
  out=$BATS_TEST_TMPDIR/out
  json=$out/tprof.json
  cd "$BATS_TEST_TMPDIR" || return
  classes=$BATS_FILE_TMPDIR/classes
}

teardown() {
  if [[ -n ${jvm:-} ]]; then kill "$jvm" 2>/dev/null || true; fi
  swtrace free >/dev/null 2>&1 || true
}

profile() { run.tprof --source="${PROOF_SOURCE:?}" -c 2000 -o "$out" --lines=0 --post='-clip 0' "$@"; }

# Attaching takes a minute in the emulated lab, and does not depend on the source of records.
need_host() { [[ $PROOF_SOURCE == perf ]] || skip "on this machine only"; }

need_java() { [[ -e $classes/hellop.class ]] || skip "there is no JDK"; }

# wait_for_jvm: waits until the JVM accepts attach requests.
wait_for_jvm() {
  until pitrace-attach --check "$jvm" 2>/dev/null; do
    kill -0 "$jvm"
    sleep 0.1
  done
}

# no_jcmd: prints a directory for PATH with a jcmd that fails.
no_jcmd() {
  mkdir "$BATS_TEST_TMPDIR/no"
  printf '#!/bin/sh\nexit 1\n' >"$BATS_TEST_TMPDIR/no/jcmd"
  chmod 755 "$BATS_TEST_TMPDIR/no/jcmd"
  echo "$BATS_TEST_TMPDIR/no"
}

# named_methods: the rows of process java in JIT-compiled methods.
named_methods() { process_symbols "$json" java hellop. | awk '$3 == "JITCODE"'; }

check_hellop() {
  named_methods | head -20
  # myC runs three times as long as myA, which may be compiled into main. In the emulated lab the JVM's start takes longer
  # than that, so there only compiled code is counted.
  process_symbols "$json" java hellop. | awk -v source="$PROOF_SOURCE" '
    source == "perf" || $3 == "JITCODE" { all += $1 }
    $3 == "JITCODE" && $2 ~ /^hellop\.(myC\(I\)I|myA\(I\)I|main\(\[Ljava\/lang\/String;\)V)$/ { mine += $1 }
    END { printf "%d of %d ticks in hellop\n", mine, all; exit !(mine > 100 && mine > 0.7 * all) }'
}

@test "the methods and threads of hellop are named, with each garbage collector" {
  need_java
  local collectors=(Serial G1)
  # Two runs of the JVM take half a minute in the emulated lab.
  if [[ $PROOF_SOURCE == driver ]]; then collectors=(G1); fi
  for collector in "${collectors[@]}"; do
    profile -- java "-XX:+Use${collector}GC" -cp "$classes" hellop 2500 >"$BATS_TEST_TMPDIR/said"
    grep -q hello "$BATS_TEST_TMPDIR/said"
    check_hellop
    jq -e '[.reports[] | select(.title == "Process_Thread") | .rows[].children[]?.name | select(test("^tid_main_"))]
      | length >= 1' "$json"
  done
}

@test "hellop has the same shares as in perf with a perf-map" {
  need_java
  need_host
  profile -- java -XX:-TieredCompilation -cp "$classes" hellop 4000 >/dev/null
  perf record -q -F 2000 -e cpu-clock -o "$BATS_TEST_TMPDIR/perf.data" -- \
    java -XX:-TieredCompilation -XX:+UnlockDiagnosticVMOptions -XX:+DumpPerfMapAtExit -cp "$classes" hellop 4000 >/dev/null
  # Shares of all ticks: hellop; generated code (methods and other code that the JVM generates); libjvm; the kernel.
  perf report -q -i "$BATS_TEST_TMPDIR/perf.data" --sort dso,symbol --stdio -t '|' 2>/dev/null | awk -F '|' '
    { kind = $3 ~ /^\[k\]/ ? "kernel" : $2 ~ /^(perf-.*\.map|\[JIT\])/ ? "generated" : $2 ~ /^libjvm/ ? "libjvm" : "other"
      sum[kind] += $1 }
    /hellop/ { sum["hellop"] += $1 }
    END { print sum["hellop"] + 0, sum["generated"] + 0, sum["libjvm"] + 0, sum["kernel"] + 0 }' >"$BATS_TEST_TMPDIR/theirs"
  process_symbols "$json" java hellop. | awk '
    { kind = $NF == "JITCODE" || $NF == "GENERATED_CODE" ? "generated" : $NF ~ /libjvm\.so$/ ? "libjvm" : $NF ~ /^vmlinux|\.ko/ ? "kernel" : "other"
      sum[kind] += $1; all += $1 }
    $2 ~ /^hellop\./ { sum["hellop"] += $1 }
    END { print 100 * sum["hellop"] / all, 100 * sum["generated"] / all, 100 * sum["libjvm"] / all, 100 * sum["kernel"] / all }' \
    >"$BATS_TEST_TMPDIR/ours"
  echo "hellop, generated code, libjvm, kernel: perf $(cat "$BATS_TEST_TMPDIR/theirs"), here $(cat "$BATS_TEST_TMPDIR/ours") %"
  paste -d' ' "$BATS_TEST_TMPDIR/theirs" "$BATS_TEST_TMPDIR/ours" | awk '
    { bad = $1 < 50 || $3 <= 0 || $4 <= 0
      for (i = 1; i <= 4; i++) if ($i - $(i + 4) > 4 || $(i + 4) - $i > 4) bad = 1
      exit bad }'
}

@test "an inlined method has the same share as when it is not inlined" {
  need_java
  need_host
  share() { awk '/hellop\.myC/ { callee += $1 } /hellop\.myA/ { caller += $1 } END { print 100 * callee / (callee + caller) }'; }
  profile -- java '-XX:CompileCommand=dontinline,hellop::*' -cp "$classes" hellop 3000 >/dev/null
  apart=$(process_symbols "$json" java hellop. | share)
  profile --post=-inline -- java -cp "$classes" hellop 3000 >/dev/null
  process_symbols "$json" java hellop. | grep 'hellop.myC(I)I (inlined) JITCODE'
  inlined=$(process_symbols "$json" java hellop. | share)
  echo "myC: $apart % called, $inlined % inlined"
  # How much faster than myA myC is depends on the version of the compiler: 80 % with JDK 17, 20 % with 21.
  awk -v a="$apart" -v b="$inlined" 'BEGIN { exit !(a > 10 && a < 95 && a - b < 3 && b - a < 3) }'
}

# interpret SECONDS JAVA...: traces Tree, which begins when the trace is on, alone where that is possible, and makes post's reports.
interpret() {
  local scope=() seconds=$1
  shift
  mkfifo go
  bash -c 'read -r _ <go; exec "$@"' bash "$@" -Xint -XX:+PreserveFramePointer -cp "$classes" Tree "$seconds" &
  jvm=$!
  if [[ $PROOF_SOURCE == perf ]]; then scope=(--scope process --pid "$jvm"); fi
  swtrace init --source "$PROOF_SOURCE" -s 64 "${scope[@]}"
  swtrace enable tprof
  swtrace setrate 2000
  swtrace stacks both -depth 1023
  swtrace on
  echo >go
  wait "$jvm"
  jvm=''
  swtrace off
  swtrace get
  swtrace free
  post -folded -clip 0 --json
  # Why names are missing, for example since a table took an emulated processor too long.
  jq -r '.trace.notes[]' tprof.json
  rm go
}

# tree_has_names JAVA...: the methods of Tree have their names, and the shares of their calls.
tree_has_names() {
  # An emulated processor does not run the same instructions at the same speed everywhere, and has few ticks on a busy host.
  local points=2 ticks=2500 lengths=(2 5 10) seconds
  if [[ $PROOF_SOURCE == driver ]]; then points=4 ticks=1500 lengths=(3 20 120); fi
  # Other load takes time from the program, unequally from its parts: then again for longer.
  for seconds in "${lengths[@]}"; do
    interpret "$seconds" "$@"
    # Tree.beta(LTree$Call\x3b)V (interpreted), as beta is known.
    sed -E 's/\([^;]*\)V \(interpreted\)//g' tprof.folded >folded
    own_frames java folded >frames
    ! has_shares "$points" "$ticks" <frames >/dev/null || break
  done
  has_shares "$points" "$ticks" <frames
  # The thread itself is in one of the methods, but for a few ticks between two of them.
  grep -E ';Tree\.work(;| )' folded | awk '
    { all += $NF } /;(Interpreter|\[anon\]|\[unknown\]) [0-9]+$/ { between += $NF }
    END { print between + 0 " of " all " between methods"; exit between > 0.02 * all }'
  grep -E '^ +SYM +[0-9]+ +[0-9.]+ +Tree\.shared\(I\)V \(interpreted\)$' tprof.out
}

@test "interpreted methods have their names and the shares of their calls in stacks, without JProf" {
  need_java
  tree_has_names java
}

# java_of VERSION: sets other to the command of that version of Java: of this machine, or of the root of Debian 13 that
# tests/long/trixie.bats makes.
java_of() {
  local root=${PITRACE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/pitrace}/roots/trixie path
  for path in /usr/lib/jvm/*-"$1"-*/bin/java; do
    if [[ -x $path ]]; then other=("$path") && return; fi
  done
  path=/usr/lib/jvm/java-$1-openjdk-amd64/bin/java
  [[ -x $root$path && $EUID -eq 0 ]] || skip "there is no JDK $1, nor a root of Debian 13 with it"
  other=("$SOURCE_DIR/scripts/lab.d/in-root" "$root" "$BATS_RUN_TMPDIR" -- "$path")
}

@test "the same with JDK 21" {
  need_java
  java_of 21
  tree_has_names "${other[@]}"
}

@test "the same with JDK 25" {
  need_java
  java_of 25
  tree_has_names "${other[@]}"
}

@test "JProf attaches to a running JVM and detaches" {
  need_java
  need_host
  java -cp "$classes" hellop 600000 >/dev/null &
  jvm=$!
  wait_for_jvm
  # Attaching needs no program of the JDK.
  PATH=$(no_jcmd):$PATH profile -r 3 -p "$jvm"
  check_hellop
  [[ -e $out/log-jita2n_$jvm ]]
  grep -q '^# end .* detach$' "$out/log-jita2n_$jvm"
}

@test "programs of a JDK get JProf through JAVA_TOOL_OPTIONS, other programs do not" {
  need_java
  need_host
  run profile -- javac -version
  [[ $status -eq 0 && $output == *"Java: added -agentpath:"*" to JAVA_TOOL_OPTIONS"* ]]
  # Also not if there is a directory named java next to them.
  mkdir -p "$BATS_TEST_TMPDIR/bin/java"
  cp "$(type -P true)" "$BATS_TEST_TMPDIR/bin/work"
  run profile -- "$BATS_TEST_TMPDIR/bin/work"
  [[ $status -eq 0 && $output != *"Java: added"* ]]
}

@test "root profiles another user's JVM and fetches its logs" {
  need_java
  need_host
  ((EUID == 0)) || skip "needs root"
  # shellcheck source=tests/support/other_user.bash
  source "$SOURCE_DIR/tests/support/other_user.bash"
  make_public "$classes"
  as_nobody java -cp "$public/classes" hellop 600000 >/dev/null &
  until jvm=$(pgrep -u nobody -n java); do sleep 0.1; done
  wait_for_jvm
  profile -r 3 -p "$jvm"
  check_hellop
  [[ -e $out/log-jita2n_$jvm ]]
  kill "$jvm"
  wait
  rm -r "$public"
  # Nothing of it is left in that user's log directory.
  [[ -z $(find /tmp -maxdepth 1 -name 'pitrace.*' -user nobody) ]]
}

@test "a JVM in a container is profiled" {
  need_java
  need_host
  unshare -pfm true 2>/dev/null || skip "needs root to create namespaces"
  # The container has its own files, without JProf.
  # shellcheck disable=SC2016 # expanded by the inner shell
  unshare -pfm --mount-proc sh -c 'mount --bind "$1" /mnt && mount -t tmpfs none /tmp && mount -t tmpfs none "$2" &&
    exec java -cp /mnt hellop 600000' - "$classes" "$(readlink -f "$STAGE/lib")" >/dev/null &
  until jvm=$(pgrep -n -x -f 'java -cp /mnt hellop 600000'); do sleep 0.1; done
  wait_for_jvm
  profile -r 3 -p "$jvm"
  check_hellop
  # Named by the pid in the trace: another process might have the id 1 here.
  [[ -e $out/log-jita2n_$jvm && ! -e $out/log-jita2n_1 ]]
  [[ -z $(find "/proc/$jvm/root/tmp" -maxdepth 1 -name 'pitrace*') ]]
}

# check_node FUNCTION: most ticks of JavaScript functions are in this one: on a slow machine Node.js itself takes longer to start
# than the function runs. The words before a function's name differ between versions of Node.js.
check_node() {
  process_symbols "$json" node | awk -v function_name="$1" '
    $2 ~ /^(JS|LazyCompile|Function):/ { all += $1 }
    $2 ~ "^(JS|LazyCompile|Function):.*" function_name && $NF == "JITCODE" { mine += $1 }
    END { printf "%d of %d\n", mine, all; exit !(mine > 100 && mine > 0.6 * all) }'
}

# bats test_tags=lab:long
@test "Node.js functions are named from perf-PID.map, and the report names that source as least certain" {
  type -P node >/dev/null || skip "there is no Node.js"
  cat >"$BATS_TEST_TMPDIR/work.js" <<'END'
function busyWork(n) { let s = 0; for (let i = 0; i < n; i++) s = (s * 31 + i) | 0; return s; }
const end = Date.now() + 2500; let t = 0; while (Date.now() < end) t += busyWork(100000); console.log(t);
END
  (cd "$BATS_TEST_TMPDIR" && profile -- node --perf-basic-prof "$BATS_TEST_TMPDIR/work.js")
  process_symbols "$json" node | head -5
  check_node busyWork
  tr -s ' \n' ' ' <"$out/tprof.out" | grep -q 'least certain'
}

# bats test_tags=lab:long
@test "Node.js functions are named from the jitdump file" {
  type -P node >/dev/null || skip "there is no Node.js"
  cat >"$BATS_TEST_TMPDIR/work.js" <<'END'
function dumpedWork(n) { let s = 0; for (let i = 0; i < n; i++) s = (s * 31 + i) | 0; return s; }
const end = Date.now() + 2500; let t = 0; while (Date.now() < end) t += dumpedWork(100000); console.log(t);
END
  (cd "$BATS_TEST_TMPDIR" && profile -- node --perf-prof "$BATS_TEST_TMPDIR/work.js")
  process_symbols "$json" node | head -5
  check_node dumpedWork
}
