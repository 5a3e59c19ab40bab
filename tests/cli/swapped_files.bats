#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# While root analyses a trace, another user replaces files that the trace names by links to other users' files, by pipes and
# by devices.

bats_require_minimum_version 1.5.0

setup() {
  [ "$(id -u)" -eq 0 ] || skip "needs root to run an attacker as another user"
  # shellcheck source=tests/support/other_user.bash
  source "$SOURCE_DIR/tests/support/other_user.bash"
  export PATH="$BUILD_DIR/bin:$BUILD_DIR/tests:$PATH"
  make_public "$BUILD_DIR/tests/swap_files"
  cd "$BATS_TEST_TMPDIR" || return
  swappers=()
  echo "the super-user's own text" >"$public/secret"
  chmod 600 "$public/secret"
  # The program that process 100 of the trace ran.
  cp "$(command -v genmap)" "$public/home/program"
  read -r offset address < <(readelf -lW "$public/home/program" | awk '/ LOAD .* R E / { print $2, $3; exit }')
  text_trace >run.nrm2 <<END
cpus 1
section mte 0
10 existing 100 1
10 name 100 program
10 module 100 $address 0x100000 $offset $public/home/program
10 new-thread 100 101
section trace 0
20 tick user 100 100 $((address + 0x40))
30 tick user 100 101 $((address + 0x80))
40 tick user 100 100 0x7f0000001010
END
  printf ' JitA2N\n BINARY DATA IN PRINTABLE HEX\n Linux x86_64\n Process_Number_ID=100\n%s' \
    $'00000000 00000001 7f0000001000 100 0 a.method()V\n' >"$public/home/log-jita2n_100"
  printf 'TNM: 0000000000000001 65 a_thread START\n' >"$public/home/log-jtnm_100"
  chown -R 65534:65534 "$public/home"
}

teardown() {
  ((${#swappers[@]} == 0)) || kill -9 "${swappers[@]}" 2>/dev/null || true
  [[ -z ${public:-} ]] || rm -rf "$public"
}

# swap FILE OTHER...: as the other user, exchanges the file with each OTHER repeatedly. FILE.seen contains the output of
# swap_files, which counts how often each OTHER was opened.
swap() {
  mkfifo "ready-$1"
  as_nobody swap_files "$@" > >(tee -p "$1.seen" >"ready-$1") 3>&- &
  read -r _ swapper <"ready-$1"
  swappers+=("$swapper")
}

pack() { timeout 60 post -r run.nrm2 -jdir "$public/home/log" "--archive=$1" --archive-files; }

@test "without an attack the files get into an archive" {
  pack run.tar.zst
  tar -tf run.tar.zst >list
  grep -qx 'logs/jita2n_100' list
  grep -qx 'logs/jtnm_100' list
  grep -qx "files$public/home/program" list
}

@test "a symbolic link does not put a file of root into root's archive" {
  local name n=0 packed=0
  for name in program log-jita2n_100 log-jtnm_100; do
    as_nobody ln -s "$public/secret" "link-$name"
    swap "$name" "link-$name"
  done
  # Each run opens three files, each of which is the right one half of the time.
  for ((n = 0; n < 15; n++)); do
    rm -f run.tar.zst
    pack run.tar.zst >>said 2>&1 || true
    [[ -e run.tar.zst ]] || continue
    packed=$((packed + 1))
    mkdir inside
    tar -xf run.tar.zst -C inside
    run -1 grep -rql "super-user's own" inside
    rm -r inside
  done
  [[ $packed -gt 0 ]]
}

@test "a pipe, socket or device in place of a file is never opened" {
  local name
  as_nobody python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind("socket")'
  # The device of /dev/ptmx: opening it creates a terminal.
  mknod "$public/home/device" c 5 2
  chmod 666 "$public/home/device"
  chown 65534:65534 "$public/home/device"
  for name in program log-jita2n_100 log-jtnm_100; do
    as_nobody mkfifo "$name-pipe"
    as_nobody ln "socket" "$name-socket"
    as_nobody ln "device" "$name-device"
    swap "$name" "$name-pipe" "$name-socket" "$name-device"
  done
  for ((n = 0; n < 10; n++)); do
    timeout 60 post -r run.nrm2 -jdir "$public/home/log" -inline >>said 2>&1 || [[ $? -ne 124 ]]
    pack run.tar.zst >>said 2>&1 || [[ $? -ne 124 ]]
  done
  kill "${swappers[@]}"
  for name in program log-jita2n_100 log-jtnm_100; do
    for ((n = 0; n < 600; n++)); do
      grep -q opened "$name.seen" && break
      sleep 0.1
    done
    cat "$name.seen"
    grep -qx "opened 0" "$name.seen"
  done
}

@test "links that another user created in the directory of -o do not make run.tprof read or overwrite root's files" {
  mkdir -p layout/bin layout/share/pitrace other
  cp "$SOURCE_DIR/scripts/run.tprof" layout/bin/
  cp "$SOURCE_DIR"/scripts/{lib.sh,trace.sh,java.sh} layout/share/pitrace/
  ln -s "$BUILD_DIR/bin/swtrace" "$BUILD_DIR/bin/post" layout/bin/
  again() { layout/bin/run.tprof -p -o "$public/home" --lines=0 "$@"; }
  cp run.nrm2 "$public/home/swtrace.nrm2"
  again
  rm "$public/home"/log-j*
  # -M neither writes through a link nor reads one.
  as_nobody ln -s "$public/secret" tprof_e.out
  as_nobody ln -s "$public/secret" log-jita2n_1
  as_nobody ln -s "$PWD/other" tprof.json.old
  again -M
  [ "$(cat "$public/secret")" = "the super-user's own text" ]
  [ ! -L "$public/home/tprof_e.out" ]
  grep -q 'Tprof Reports' "$public/home/tprof_e.out"
  run ! grep -q "the super-user's own text" "$public/home/tprof_e.out"
  # An old report replaces a link to a directory; it is not moved into that directory.
  [ -f "$public/home/tprof.json.old" ]
  [ ! -L "$public/home/tprof.json.old" ]
  [ -z "$(ls other)" ]
  rm "$public/home/tprof.out.old"
  as_nobody mkdir tprof.out.old
  run -125 again
  [[ $output == *"cannot rename $public/home/tprof.out to tprof.out.old; remove both, or choose another directory with -o" ]]
  [ -z "$(ls "$public/home/tprof.out.old")" ]
}

# attack_after_post SCRIPT: makes a run.tprof whose post runs SCRIPT as the other user in the directory of -o before it ends.
attack_after_post() {
  mkdir -p layout/bin layout/share/pitrace
  cp "$SOURCE_DIR/scripts/run.tprof" layout/bin/
  cp "$SOURCE_DIR"/scripts/{lib.sh,trace.sh,java.sh} layout/share/pitrace/
  ln -sf "$BUILD_DIR/bin/swtrace" layout/bin/
  cp run.nrm2 "$public/home/swtrace.nrm2"
  printf '%s\n' "$1" >"$public/attack"
  cat >layout/bin/post <<END
#!/bin/bash
# Without a trace run.tprof only lets it check options.
[[ "\$*" == *$public* ]] || exit 0
status=${2:-0}
$BUILD_DIR/bin/post "\$@"
cd $public/home && setpriv --reuid=65534 --regid=65534 --clear-groups sh $public/attack
exit \$status
END
  chmod +x layout/bin/post
}

@test "a pipe in place of a report does not stop run.tprof, and no escape sequence of a text in its place reaches the terminal" {
  attack_after_post 'rm -f tprof.out; mkfifo tprof.out'
  run -0 timeout 60 layout/bin/run.tprof -p --all -o "$public/home"
  rm "$public/home/tprof.out"
  attack_after_post 'rm -f tprof.out; printf " Tprof Reports\n\033]2;x\007\n" >tprof.out'
  run -0 timeout 60 layout/bin/run.tprof -p --all -o "$public/home"
  [[ $output == *'\x1b]2;x\x07'* && $output != *$'\x1b'* ]]
}

@test "a link to a directory in place of a report does not move an earlier report into that directory" {
  mkdir other
  : >"$public/home/tprof.out"
  # Without tprof.json the run fails, and the earlier report gets its name back.
  attack_after_post "rm -f tprof.out tprof.json; ln -s $PWD/other tprof.out" 1
  run -125 layout/bin/run.tprof -p -o "$public/home"
  [ -z "$(ls other)" ]
  [ -f "$public/home/tprof.out" ]
  [ ! -L "$public/home/tprof.out" ]
}
