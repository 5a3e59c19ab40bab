#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# ddq, tinstall and tuninstall without a loaded driver; lab/install.bats tests them with one.

bats_require_minimum_version 1.5.0

setup() {
  [[ ! -d /sys/module/pitrace ]] || skip "the driver is loaded on this machine"
  PATH="$BUILD_DIR/bin:$PATH"
}

@test "help and version go to the standard output and exit 0" {
  for program in ddq tinstall tuninstall; do
    for form in -h --help '-?'; do
      run -0 --separate-stderr "$program" "$form"
      [[ $output == "Usage: $program"* && -z $stderr ]]
    done
    run -0 --separate-stderr "$program" --version
    [[ $output == "$program (pitrace)"* && -z $stderr ]]
  done
}

@test "help and manual of tinstall say that it loads the module and installs no files" {
  run -0 tinstall --help
  [[ $output == *"Loads the driver (the pitrace module) into the running kernel."*"installs no files"* ]]
  manual=$(<"$SOURCE_DIR/docs/man/tinstall.1")
  [[ $manual == *".Nd load the driver into the kernel"*"it installs no files"* ]]
}

@test "wrong use exits 255 and reports the error" {
  for words in "ddq -x" "ddq stray" "tinstall stray" "tinstall --module" "tinstall --module=" \
    "tinstall --group no-such-group" "tuninstall -f" "tuninstall stray"; do
    # shellcheck disable=SC2086 # several words
    run -255 --separate-stderr $words
    [[ -z $output && $stderr == "${words%% *}: error:"* ]]
  done
}

@test "without the driver ddq exits 1 and names tinstall" {
  run -1 --separate-stderr ddq
  [[ -z $output && $stderr == *"not loaded"*tinstall* ]]
  run -1 --separate-stderr ddq -q
  [[ -z $output && -z $stderr ]]
}

@test "unloading a driver that is not loaded is not an error" {
  run -0 tuninstall
  [[ $output == *"not loaded"* ]]
}

@test "a driver that cannot be loaded is reported with the reason" {
  run -1 tinstall --module "$BATS_TEST_TMPDIR/none.ko"
  [[ $output == *"tinstall: error:"* ]]
  if [[ ! -e /proc/modules ]]; then [[ $output == *"no loadable modules"* ]]; fi
}

@test "without root tinstall fails and names sudo" {
  ((EUID == 0)) || skip "needs root to become another user"
  # shellcheck source=tests/support/other_user.bash
  source "$SOURCE_DIR/tests/support/other_user.bash"
  make_public "$SOURCE_DIR"/scripts/{tinstall,lib.sh,driver.sh}
  run -1 as_nobody tinstall
  rm -rf "$public"
  [[ $output == *sudo* ]]
}

@test "tinstall, tuninstall and ddq only print the help and the version, also if they cannot" {
  local word
  for word in --help --version; do
    for script in tinstall tuninstall ddq; do
      run bash -c '"$1" "$2" >/dev/full' bash "$script" "$word"
      [ "$status" -ne 0 ]
      [[ $output != *driver* && $output != *module* ]]
    done
  done
}

@test "control characters in names of processes that use the driver are shown as numbers" {
  cd "$BATS_TEST_TMPDIR"
  # shellcheck source=scripts/driver.sh
  source "$SOURCE_DIR/scripts/driver.sh"
  # shellcheck disable=SC2034 # driver_users reads it
  driver_device=$PWD/device
  : >device
  for name in $'\e[31m\xff\n\xc2\x9bx' $'a\xe2\x80\xaeb' 'größe 1'; do
    cp /bin/sleep "$name"
    "./$name" 60 4<device 3>&- &
    pids+=" $!"
    while [[ $(readlink "/proc/$!/exe") != "$PWD/$name" ]]; do sleep 0.02; done
  done
  run -0 driver_users
  # shellcheck disable=SC2086 # several words
  kill $pids
  [[ $output == *'(\x1b[31m\xff\x0a\xc2\x9bx)'* && $output == *'(a\xe2\x80\xaeb)'* && $output == *'(größe 1)'* ]]
}
