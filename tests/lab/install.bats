#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# ddq, tinstall and tuninstall with a driver, and a trace of this machine analysed under another kernel.

# By default one kernel suffices: all other tests load the module in each. --single-thread: switching probes and perf events
# on and off patches kernel code, which QEMU emulates reliably only in one host thread. The guest uses this build with the same
# settings, since compiling the module in the guest takes minutes.
@test "tinstall loads the driver, ddq finds it and tuninstall unloads it; documented commands and advice work" {
  # shellcheck source=tests/support/documented_commands.bash
  source "$SOURCE_DIR/tests/support/documented_commands.bash"
  cd "$SOURCE_DIR"
  local name promised
  "$SOURCE_DIR/tests/support/documented-commands" "$BUILD_DIR/bin" |
    commands_of "$SOURCE_DIR/tests/support/documented_commands.table" lab/install >"$BATS_TEST_TMPDIR/commands"
  promised=$(sed -n 's/^promise \([^ ]*\) .*/\1/p' tests/lab/install-guest.sh)
  [[ $(wc -w <<<"$promised") -gt 15 ]]
  scripts/lab --kernel "${LAB_KERNELS:-6.12}" --single-thread --timeout 1200 -- env PITRACE_WERROR="${PITRACE_WERROR:-0}" tests/lab/install-guest.sh "$BUILD_DIR/bin" "$BATS_TEST_TMPDIR/commands" \
    >"$BATS_TEST_TMPDIR/said" 2>"$BATS_TEST_TMPDIR/console" || { cat "$BATS_TEST_TMPDIR"/{said,console} && false; }
  cat "$BATS_TEST_TMPDIR/said"
  for name in $promised finished; do grep -qx "ok $name" "$BATS_TEST_TMPDIR/said"; done
}

# bats test_tags=long
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
  # The vDSO and the kernel differ there; a separate root directory hides the files.
  other_machine "$BATS_TEST_TMPDIR/root" "$BUILD_DIR/bin/post"
  cp "$here/run.tar.zst" "$BATS_TEST_TMPDIR/root/work/"
  # shellcheck disable=SC2016 # the guest's shell expands it
  scripts/lab --kernel 6.1 --no-module --out "$there" -- bash -c '
    chroot "$0" /post/ld-linux-x86-64.so.2 --library-path /post /post/post -o /work -r /work/run.tar.zst \
      --json -clip 0 -off && cp "$0"/work/tprof.* "$LAB_OUT/"' "$BATS_TEST_TMPDIR/root"
  cmp "$here/tprof.out" "$there/tprof.out"
  cmp "$here/tprof.json" "$there/tprof.json"
}
