#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Every tick must have the right names, whichever way its process, thread or code was created. The programs names and places
# log the true ones (tests/progs/truth.h), and the report must equal the log. PROOF_SOURCE is perf (on this machine) or
# driver (in the lab).

setup_file() {
  export PATH=${STAGE:?}/bin:$PATH
  export programs=${BUILD_DIR:?}/tests
}

setup() {
  # shellcheck source=tests/support/profile.bash
  source "$SOURCE_DIR/tests/support/profile.bash"
  export LC_ALL=C
  out=$BATS_TEST_TMPDIR/out
  json=$out/tprof.json
  truth=$BATS_TEST_TMPDIR/truth
  links=$BATS_TEST_TMPDIR/links
  mkdir "$links"
}

teardown() {
  if [[ -e $BATS_TEST_TMPDIR/lingering.pid ]]; then kill "$(cat "$BATS_TEST_TMPDIR/lingering.pid")" 2>/dev/null || true; fi
  for mount_point in merged base; do
    if mountpoint -q "$BATS_TEST_TMPDIR/$mount_point"; then umount "$BATS_TEST_TMPDIR/$mount_point"; fi
  done
}

# profile [OPTION]... -- COMMAND...: profiles COMMAND, whose output is the truth.
profile() {
  run.tprof --source="${PROOF_SOURCE:?}" -c 5000 -o "$out" --lines=0 --post='-clip 0 -show' "$@" >"$truth"
  cat "$truth"
  jq -e '.losses.lost == 0' "$json" >/dev/null
}

# Longer in the lab, whose processor is emulated and shared.
milliseconds() { if [[ $PROOF_SOURCE == driver ]]; then echo 600; else echo 200; fi; }

names() { # names CASE [LINK]...
  local link
  for link in "${@:2}"; do ln -s "$programs/names" "$links/$link"; done
  profile -- "$programs/names" "$1" "$(milliseconds)" "$links"
}

places() { # places CASE LIBRARY [OTHER]
  profile -- "$programs/places" "$1" "$(milliseconds)" "${@:2}"
}

checked() { # checked [MIN-TICKS]
  check_names "$json" "$out/post.show" "$truth" "${1:-50}"
}

copy_library() { # copy_library NAME [DIRECTORY]
  cp "$programs/lib$1.so" "${2:-$BATS_TEST_TMPDIR}/lib$1.so"
  echo "${2:-$BATS_TEST_TMPDIR}/lib$1.so"
}

# ---- processes and threads ----

@test "vfork, then several execs in the same process: each program's ticks have its name" {
  names vfork chain-one chain-two a-name-longer-than-the-kernel-keeps
  checked
}

# bats test_tags=lab:long
@test "a process made by posix_spawn has its name" {
  names spawn spawned
  checked
}

# bats test_tags=lab:long
@test "exec in a thread that is not the first: the process keeps its id, and its threads end" {
  names exec-thread threaded
  checked
}

# bats test_tags=lab:long
@test "exec of a script: the process has the script's name, and the module is its interpreter" {
  printf '#!%s script\n' "$programs/names" >"$links/script.names"
  chmod +x "$links/script.names"
  profile -- "$links/script.names" "$(milliseconds)" "$links"
  checked
}

# bats test_tags=lab:long
@test "names that processes and threads change, give each other or inherit are correct at each time" {
  names rename
  checked
}

# bats test_tags=lab:long
@test "every process has its parent, also when the parent has ended" {
  names orphan
  checked
  check_parents "$json" "$truth"
}

# ---- other namespaces, other word size ----

# bats test_tags=lab:long
@test "processes and threads in new pid and mount namespaces have both of their ids" {
  profile -- unshare -pm --fork "$programs/names" inner 500 "$links"
  checked
  check_inner "$json" "$truth"
}

# bats test_tags=lab:long
@test "a file that exists only in the process's mount namespace has symbols while the process runs" {
  mkdir "$BATS_TEST_TMPDIR/private"
  linger unshare -m sh -c 'mount -t tmpfs private "$1" && cp "$2" "$1/libfirst.so" &&
    exec "$3" plain "$4" "$1/libfirst.so"' - "$BATS_TEST_TMPDIR/private" "$programs/libfirst.so" "$programs/places" \
    "$(milliseconds)"
  [[ ! -e $BATS_TEST_TMPDIR/private/libfirst.so ]]
  checked
}

# bats test_tags=lab:long
@test "a 32-bit program has its names, and is marked as 32-bit" {
  local range status=0
  sh -c '"$0" 1' "$programs/code32" 2>/dev/null || status=$?
  ((status != 126)) || skip "this kernel executes no 32-bit programs"
  range=$(nm -S "$programs/code32" | awk '/work_of_32_bits/ { printf "%s %x", $1, strtonum("0x" $1) + strtonum("0x" $2) }')
  profile -- sh -c '"$0" 300 & echo "code32 $!"; wait $!' "$programs/code32"
  pid=$(awk '/^code32/ { printf "%x", $2 }' "$truth")
  echo "stay 0 18446744073709551615 $pid $pid $range code32 code32 work_of_32_bits $programs/code32" >>"$truth"
  checked
  jq -e --argjson pid "$((16#$pid))" '.processes[] | select(.pid == $pid) | .bits == 32' "$json"
}

# ---- code from different kinds of files ----

# linger COMMAND...: profiles until COMMAND has written "done"; it stays alive until the test's end.
linger() {
  profile -- sh -c 'LINGER=1 "$@" >"$0" 2>&1 & echo $! >"$0.pid"
    until grep -qx done "$0" || ! kill -0 $!; do sleep 0.1; done; cat "$0"' "$BATS_TEST_TMPDIR/lingering" "$@"
}

# without_symbols: the truth for a file that has disappeared; the report must note that.
without_symbols() { # without_symbols MODULE
  sed -i 's/ library_work / NoSymbols /; s/ replacement_work / NoSymbols /' "$truth"
  checked
  jq -e --arg file "$1" '.symbol_notes | any(startswith($file))' "$json"
}

# bats test_tags=lab:long
@test "files of both layers of an overlay have their symbols" {
  mkdir "$BATS_TEST_TMPDIR"/{base,lower,upper,work,merged}
  mount -t tmpfs base "$BATS_TEST_TMPDIR/base"
  mkdir "$BATS_TEST_TMPDIR"/base/{lower,upper,work}
  copy_library first "$BATS_TEST_TMPDIR/base/lower"
  mount -t overlay -o "lowerdir=$BATS_TEST_TMPDIR/base/lower,upperdir=$BATS_TEST_TMPDIR/base/upper,workdir=$BATS_TEST_TMPDIR/base/work" \
    overlay "$BATS_TEST_TMPDIR/merged"
  # First a file of the lower layer, then one of the upper layer.
  places plain "$BATS_TEST_TMPDIR/merged/libfirst.so"
  checked
  copy_library second "$BATS_TEST_TMPDIR/merged"
  places plain "$BATS_TEST_TMPDIR/merged/libsecond.so"
  checked
}

out_of_view() { # out_of_view MODULE
  jq -e --arg file "$1" '.symbol_notes | any(startswith($file) and contains("its process saw other files"))' "$json"
}

# bats test_tags=lab:long
@test "a file in the mount namespace of an ended process has no symbols, and the report has the reason" {
  mkdir "$BATS_TEST_TMPDIR/private"
  profile -- unshare -m sh -c 'mount -t tmpfs private "$1" && cp "$2" "$1/libfirst.so" &&
    exec "$3" plain "$4" "$1/libfirst.so"' - "$BATS_TEST_TMPDIR/private" "$programs/libfirst.so" "$programs/places" \
    "$(milliseconds)"
  without_symbols "$BATS_TEST_TMPDIR/private/libfirst.so"
  out_of_view "$BATS_TEST_TMPDIR/private/libfirst.so"
}

# bats test_tags=lab:long
@test "a file in a chroot does not get symbols of the file with the same path outside" {
  local root=$BATS_TEST_TMPDIR/root file
  # Copies of the program's files, and at the library's path another library.
  mkdir -p "$root/proc"
  for file in "$programs/places" $(ldd "$programs/places" | grep -o '/[^ ]*'); do
    mkdir -p "$root${file%/*}" && cp -L "$file" "$root$file"
  done
  cp "$programs/libreplacement.so" "$BATS_TEST_TMPDIR/library.so"
  mkdir -p "$root$BATS_TEST_TMPDIR" && cp "$programs/libfirst.so" "$root$BATS_TEST_TMPDIR/library.so"
  profile -- unshare -m sh -c 'mount -t proc proc "$1/proc" && exec chroot "$@"' - \
    "$root" "$programs/places" plain "$(milliseconds)" "$BATS_TEST_TMPDIR/library.so"
  without_symbols "$BATS_TEST_TMPDIR/library.so"
  out_of_view "$BATS_TEST_TMPDIR/library.so"
}

# bats test_tags=lab:long
@test "code in two memfds with the same name has symbols while the process runs" {
  linger "$programs/places" memfd "$(milliseconds)" "$programs/libfirst.so" "$programs/libreplacement.so"
  checked
}

# bats test_tags=lab:long
@test "code in the memfd of an ended process: the report names the file and the reason for missing symbols" {
  places memfd "$programs/libfirst.so"
  without_symbols "/memfd:code (deleted)"
}

# bats test_tags=lab:long
@test "a file deleted after it was mapped has symbols while the process runs" {
  linger "$programs/places" deleted "$(milliseconds)" "$(copy_library first)"
  checked
}

# bats test_tags=lab:long
@test "a deleted file that an ended process had mapped has no symbols, and the report notes that" {
  file=$(copy_library first)
  places deleted "$file"
  without_symbols "$file"
}

# bats test_tags=lab:long
@test "a file replaced after it was mapped has the old file's symbols while the process runs" {
  linger "$programs/places" replaced "$(milliseconds)" "$(copy_library first)" "$(copy_library replacement)"
  checked
}

# bats test_tags=lab:long
@test "a replaced file that an ended process had mapped does not get symbols of the new file" {
  file=$(copy_library first)
  places replaced "$file" "$(copy_library replacement)"
  without_symbols "$file"
}

# bats test_tags=lab:long
@test "a file and its replacement that both run each have their own symbols" {
  linger "$programs/places" both "$(milliseconds)" "$(copy_library first)" "$(copy_library replacement)"
  checked
}

# bats test_tags=lab:long
@test "anonymous code is recorded only on request" {
  places anon -
  checked
  export PITRACE_SOCKET=$BATS_TEST_TMPDIR/socket
  swtrace init -s 4 -anon 0 --source "$PROOF_SOURCE"
  swtrace enable tprof
  swtrace setrate 5000
  swtrace on
  "$programs/places" anon "$(milliseconds)" - >"$truth"
  swtrace off
  swtrace get "$out/swtrace.nrm2"
  swtrace free
  post -r "$out/swtrace.nrm2" -o "$out" -clip 0 --json -show
  sed -i 's,//anon,NoModule,' "$truth"
  checked
}

@test "code in a mapping that mremap enlarges and then moves has its names" {
  if [[ $PROOF_SOURCE == perf ]]; then
    skip "perf has no event for mremap"
  fi
  places grow "$programs/libfirst.so"
  checked
}

# bats test_tags=lab:long
@test "munmap is recorded with process, address and size" {
  if [[ $PROOF_SOURCE == perf ]]; then
    skip "perf has no event for munmap"
  fi
  places unmap -
  checked
  check_unmapped "$out/post.show" "$truth"
}
