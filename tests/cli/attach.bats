#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# pitrace-attach: wrong use, real Java virtual machines, and processes that attack the attaching process.

bats_require_minimum_version 1.5.0

setup() {
  # shellcheck source=tests/support/other_user.bash
  source "$SOURCE_DIR/tests/support/other_user.bash"
  PATH="$BUILD_DIR/bin:$PATH"
  cd "$BATS_TEST_TMPDIR" || return
  out=$BATS_TEST_TMPDIR/out
  mkdir "$out"
  pids=() left=() fake='' public=''
  echo "the super-user's" >secret
  chmod 600 secret
}

teardown() {
  local pid log
  ((${#pids[@]} == 0)) || kill -9 "${pids[@]}" 2>/dev/null || true
  for pid in "${pids[@]}"; do rm -f "/tmp/.java_pid$pid" "/tmp/.attach_pid$pid"; done
  for pid in "${pids[@]}"; do
    for log in /tmp/pitrace.*/log-jita2n_"$pid"; do
      if [ -e "$log" ] || [ -L "$log" ]; then rm -rf "${log%/*}"; fi
    done
  done
  ((${#left[@]} == 0)) || rm -rf "${left[@]}"
  [ -z "$public" ] || rm -rf "$public"
}

# note_left: notes the directories that pitrace-attach reports as left, so that teardown removes them.
note_left() { mapfile -O "${#left[@]}" -t left < <(grep -oE '/tmp/pitrace\.[0-9a-f]{16}' <<<"$output"); }

# remember PID: teardown kills this process.
remember() { pids+=("$1"); }

# again PID: makes this process the target of further attempts.
again() { fake=$1; }

need_root() { [ "$(id -u)" -eq 0 ] || skip "needs root to run an attacker as another user"; }

# hostile CASE [PATH]: starts the attacker as another user; its pid is in fake.
hostile() {
  need_root
  if [ -z "$public" ]; then make_public "$BUILD_DIR/tests/hostile_jvm"; fi
  mkfifo "ready-$1"
  as_nobody hostile_jvm "$1" "$public/home" "${2:-$BATS_TEST_TMPDIR/secret}" >"ready-$1" 3>&- &
  read -r fake <"ready-$1"
  pids+=("$fake")
}

# follow STATUS [TIMEOUT]: loads JProf into the process and detaches at once. These imitations of a JVM accept any file
# as JProf.
follow() {
  run "-$1" timeout 600 pitrace-attach --timeout "${2:-30}" --follow "$out" "$fake" "$(readlink -f "$BUILD_DIR/bin/pitrace-attach")" </dev/null
  note_left
}

# is_clean: the attempts have left no file, also not in the target's /tmp.
is_clean() {
  local found
  found=$(find /tmp -maxdepth 1 -name 'pitrace.*' -newer secret -user nobody)
  [ -z "$found" ] || { ls -la "$found"; return 1; }
  [ ! -f "/tmp/.attach_pid$fake" ]
}

@test "wrong use exits 255 and reports the error" {
  for words in '' 'x' '0' '1' '1 relative.so' '1 /a b c' '--timeout 0 1 /a' '--timeout x 1 /a' '--check 1 /a' \
    '--check --follow . 1 /a' '--follow . 1 /a options' '--nothing 1 /a'; do
    # shellcheck disable=SC2086
    run -255 pitrace-attach $words
    [[ $output == *"pitrace-attach: error: "* ]]
  done
}

@test "every option is in the manual" {
  pitrace-attach --help | grep -oE -- '--[a-z]+' | sort -u | while read -r option; do
    grep -qE "^\.It .*Fl -${option#--}\b" "$SOURCE_DIR/docs/man/pitrace-attach.1" || { echo "$option"; false; }
  done
}

@test "for a process that is not a Java virtual machine the status is 2, and no signal is sent" {
  sleep 100 3>&- &
  remember $!
  run -2 pitrace-attach --check $!
  run -2 pitrace-attach $! /a
  [[ $output == *"is not a Java virtual machine"* ]]
  kill -0 $!
  run -1 pitrace-attach 4194303 /a
}

@test "an agent is loaded, its answer is printed, JProf's logs are in the named directory" {
  command -v java >/dev/null && [ -e "$BUILD_DIR/lib/libjprof.so" ] || skip "needs a JDK"
  ! readelf -d "$BUILD_DIR/lib/libjprof.so" | grep -qE 'NEEDED.*lib(a|t|ub)san' || skip "needs a build without sanitizers"
  mkfifo in ready
  java -cp "$BUILD_DIR/tests/java" Steady <in >ready 3>&- &
  jvm=$!
  remember "$jvm"
  exec 5>in
  read -r word _ <ready
  [ "$word" = ready ]
  run -0 pitrace-attach --check "$jvm"
  run -0 pitrace-attach "$jvm" "$BUILD_DIR/lib/libjprof.so" "tprof,logpath=$PWD"
  [ "$output" = "return code: 0" ]
  run -1 pitrace-attach "$jvm" "$BUILD_DIR/lib/libjprof.so" nonsense
  [[ $output == *"return code: 1"* ]]
  run -0 pitrace-attach "$jvm" "$BUILD_DIR/lib/libjprof.so" detach
  grep -q '^# end .* detach$' "log-jita2n_$jvm"
  run -1 pitrace-attach "$jvm" /none.so
  [[ $output == *"/none.so was not loaded"* ]]
  # Also into a directory whose name the agent's options cannot contain.
  mkdir 'with blank'
  run -0 pitrace-attach --follow 'with blank' "$jvm" "$BUILD_DIR/lib/libjprof.so" </dev/null
  [ "$output" = attached ]
  grep -q '^# end .* detach$' "with blank/log-jita2n_$jvm"
  grep -q '^TNM: ' "with blank/log-jtnm_$jvm"
  # pitrace-attach does not wait for a stopped JVM.
  rm "/tmp/.java_pid$jvm"
  kill -STOP "$jvm"
  run -1 pitrace-attach "$jvm" "$BUILD_DIR/lib/libjprof.so" detach
  [[ $output == *"is stopped"* ]]
  kill -CONT "$jvm"
  exec 5>&-
  wait "$jvm"
}

@test "no file in the directory of the process's program is executed" {
  need_root
  make_public "$BUILD_DIR/tests/hostile_jvm"
  printf '#!/bin/sh\nid -u >%s\nprintf "return code: 0\\n"\n' "$public/home/executed" >"$public/jcmd"
  chmod 755 "$public/jcmd"
  hostile plants
  # The same calls as in run.tprof -p.
  run bash -c 'set -euo pipefail; here=$SOURCE_DIR/scripts bin=$BUILD_DIR/bin out=$1 scratch=$2 target=$3 java=auto me=run.tprof command=()
    source "$here/lib.sh"; source "$here/java.sh"
    find_agent() { agent=$(readlink -f "$bin/pitrace-attach"); }
    mkdir "$scratch"; attach_java; detach_java' - "$out" "$PWD/scratch" "$fake"
  echo "$output"
  note_left
  [ "$status" -eq 0 ]
  [[ $output == *"Java: added JProf to process $fake"* ]]
  [ ! -e "$public/home/executed" ]
  # Its own log is copied; the one that it wrote for process 4242 is not.
  [ "$(ls "$out")" = "log-jita2n_$fake" ]
}

@test "a process that does not catch SIGQUIT gets none" {
  hostile no-handler
  run -1 pitrace-attach --check "$fake"
  follow 1
  [[ $output == *"does not catch SIGQUIT"* ]]
  kill -0 "$fake"
  is_clean
}

@test "a FIFO or a link in place of the socket or the attach file ends the attempt at once" {
  for attack in fifo-socket link-socket fifo-attach; do
    hostile "$attack"
    follow 1
    [[ $output == *"a FIFO"* || $output == *"a symbolic link"* ]]
    is_clean
  done
}

@test "a socket of another user, or of another process of the same user, is refused" {
  hostile quiet
  quiet=$fake
  hostile serve "$quiet"
  again "$quiet"
  follow 1
  [[ $output == *"is served by process "* ]]
  chown daemon "/tmp/.java_pid$quiet"
  follow 1
  [[ $output == *"belongs to user $(id -u daemon)"* ]]
  # The attach file's name is taken by another user's file: pitrace-attach uses the other directory, and leaves no file there.
  rm "/tmp/.java_pid$quiet"
  mkfifo "/tmp/.attach_pid$quiet"
  follow 1 1
  [[ $output == *"does not answer"* ]]
  [ -p "/tmp/.attach_pid$quiet" ]
  [ ! -e "$public/home/.attach_pid$quiet" ]
  is_clean
}

@test "an answer that is too long, or the end of the process, ends the attempt" {
  hostile flood
  follow 1
  [[ $output == *"sent an answer of more than 65536 bytes"* ]]
  is_clean
  hostile dies
  follow 1
  [[ $output == *"has ended"* || $output == *"invalid reply"* ]]
  is_clean
}

# attempt NAME: the same as follow, in the background, for the process $fake.
attempt() {
  pitrace-attach --timeout 1 --follow "$out" "$fake" "$(readlink -f "$BUILD_DIR/bin/pitrace-attach")" \
    </dev/null >"$1.said" 2>&1 3>&- &
  attempts[$!]=$1
}

@test "a missing or slow answer, or a hanging file system, ends the attempt in time" {
  declare -A attempts
  need_root
  for attack in quiet mute backlog drip; do
    hostile "$attack"
    attempt "$attack"
  done
  mkfifo ready
  unshare -m "$public/hostile_jvm" hangs "$public/home" >ready 2>why 3>&- &
  server=$!
  if read -r pid <ready; then
    remember "$pid"
    again "$pid"
    attempt hangs
  else
    echo "no FUSE: $(cat why)" >&3
  fi
  for attempt in "${!attempts[@]}"; do
    result=0
    wait "$attempt" || result=$?
    [ "$result" -eq 1 ]
    said=$(<"${attempts[$attempt]}.said")
    echo "${attempts[$attempt]}: $said"
    case ${attempts[$attempt]} in
      hangs) [[ $said == *"the file system may hang"* ]] ;;
      *) [[ $said == *"does not answer in time"* ]] ;;
    esac
  done
  is_clean
  # The hanging child ends with the file system.
  pkill -9 -P "$server" || true
}

@test "control characters of an answer are shown as numbers" {
  hostile controls
  follow 1
  [[ $output == *'\x1b]0;owned\x07\x1b[2J\x9b31m'* && $output != *$'\e'* ]]
  is_clean
}

@test "a log that is a FIFO, a link, sparse or another process's is not copied" {
  for attack in fifo-log link-log sparse-log stranger-log two-faced-log; do
    hostile "$attack"
    follow 0
    echo "$attack: $output"
    [[ $output == *"log not copied: log-jita2n_$fake "* ]]
    [ -z "$(ls -A "$out")" ]
    is_clean
  done
}

@test "a log that is replaced all the time is copied whole or not at all" {
  hostile swap-log
  for _ in {1..6}; do
    follow 0
    run ! grep -r "super-user" "$out"
    rm -f "$out"/log-*
    [ -z "$(ls -A "$out")" ]
  done
}

@test "other files in the log directory are kept and reported" {
  hostile deep
  follow 0
  [[ $output == *"cannot remove /tmp/pitrace."*" of process $fake: Directory not empty"* ]]
  [ "$(ls "$out")" = "log-jita2n_$fake" ]
}

@test "when the target kills or stops the child process, only its own logs are lost" {
  for attack in kills stops; do
    hostile "$attack"
    follow 1 1
    [[ $output == *"No answer from the child process that acts as the user of process $fake"* ]]
    [ -z "$(ls -A "$out")" ]
  done
}

@test "the child process has the rights of the target's user, no descriptor of the caller, and cannot be inspected" {
  hostile mute
  exec 7<secret
  pitrace-attach --timeout 20 --follow "$out" "$fake" "$(readlink -f "$BUILD_DIR/bin/pitrace-attach")" </dev/null 3>&- &
  parent=$!
  until helper=$(pgrep -P "$parent" -u nobody) && [ -S "/tmp/.java_pid$fake" ]; do sleep 0.05; done
  exec 7<&-
  cat "/proc/$helper/status"
  awk '/^(Uid|Gid):/ { for (i = 2; i <= 5; i++) if ($i != 65534) bad++ }
    /^Groups:/ && NF > 1 { bad++ }
    /^Cap(Inh|Prm|Eff|Amb):/ && $2 !~ /^0+$/ { bad++ }
    /^NoNewPrivs:/ && $2 != 1 { bad++ }
    END { exit bad > 0 }' "/proc/$helper/status"
  # The only descriptor of the caller in the child is the library to copy.
  ls -l "/proc/$helper/fd"
  [ "$(find "/proc/$helper/fd" -lname "$BATS_TEST_TMPDIR/*" | wc -l)" -eq 0 ]
  run as_nobody ls "/proc/$helper/fd"
  [ "$status" -ne 0 ]
  kill "$fake"
  wait "$parent" || true
}
