#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# ddq, tinstall and tuninstall with a driver, and a trace of this machine analysed under another kernel.

# In one kernel: that the module loads in each is seen in all other tests. Switching probes and perf events on and off
# patches the kernel's code again and again, which only one thread of the host emulates surely. The guest has what was built here, if it asks for the
# same: to compile it there takes minutes.
@test "tinstall loads the driver, ddq finds it and tuninstall unloads it" {
  cd "$SOURCE_DIR"
  local name promised
  promised=$(sed -n 's/^promise \([^ ]*\) .*/\1/p' tests/lab/install-guest.sh)
  [[ $(wc -w <<<"$promised") -gt 15 ]]
  scripts/lab --kernel 6.12 --single-thread --timeout 1200 -- env PITRACE_WERROR="${PITRACE_WERROR:-0}" tests/lab/install-guest.sh "$BUILD_DIR/bin" \
    >"$BATS_TEST_TMPDIR/said" 2>"$BATS_TEST_TMPDIR/console" || { cat "$BATS_TEST_TMPDIR"/{said,console} && false; }
  cat "$BATS_TEST_TMPDIR/said"
  for name in $promised finished; do grep -qx "ok $name" "$BATS_TEST_TMPDIR/said"; done
}

@test "the archive of a trace gives the identical report under another kernel" {
  # shellcheck source=tests/support/other_machine.bash
  source "$SOURCE_DIR/tests/support/other_machine.bash"
  cd "$SOURCE_DIR"
  local here=$BATS_TEST_TMPDIR/here there=$BATS_TEST_TMPDIR/there
  PATH=$BUILD_DIR/bin:$PATH
  mkdir -p "$here" "$there"
  export PITRACE_SOCKET=$BATS_TEST_TMPDIR/socket
  swtrace init -s 8 --source perf
  swtrace enable tprof
  swtrace on
  "$BUILD_DIR/tests/mixed" 2
  swtrace off
  swtrace get "$here/run.nrm2"
  swtrace free
  post -r "$here/run.nrm2" -o "$here" --json -clip 0 -off
  post -r "$here/run.nrm2" -o "$here" --archive
  grep -q mixed "$here/tprof.out"
  # Its vdso and its kernel are others there; the files are hidden by a root of its own.
  other_machine "$BATS_TEST_TMPDIR/root" "$BUILD_DIR/bin/post"
  cp "$here/run.tar.zst" "$BATS_TEST_TMPDIR/root/work/"
  # shellcheck disable=SC2016 # the guest's shell expands it
  scripts/lab --kernel 6.1 --no-module --out "$there" -- bash -c '
    chroot "$0" /post/ld-linux-x86-64.so.2 --library-path /post /post/post -o /work -r /work/run.tar.zst \
      --json -clip 0 -off && cp "$0"/work/tprof.* "$LAB_OUT/"' "$BATS_TEST_TMPDIR/root"
  cmp "$here/tprof.out" "$there/tprof.out"
  cmp "$here/tprof.json" "$there/tprof.json"
}
