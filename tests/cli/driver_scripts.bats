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
  for words in "ddq -x" "ddq stray" "tinstall stray" "tinstall --module" "tinstall --module=" "tinstall --help=no" \
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
  # shellcheck source=scripts/lib.sh
  source "$SOURCE_DIR/scripts/lib.sh"
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

# A made-up kernel folder: what its Makefile compiles uses an interface of each kind in an old form, so that the messages are
# those of the real compiler.
@test "a module that does not build names the kernel's interfaces that have changed" {
  local kernel=$BATS_TEST_TMPDIR/kernel release=9.9.9-made-up-$$ line
  mkdir -p "$kernel/include/generated" "$kernel/driver"
  printf '#define UTS_RELEASE "%s"\n' "$release" >"$kernel/include/generated/utsrelease.h"
  cat >"$kernel/driver/a.c" <<'END'
struct task { int pid; };
void check_trace_callback_type_sched_process_exit(void (*probe)(void *, int));
static void probe(void *data, int task, int more) {}
int two(int a, int b);
int all(struct task *task)
{
  check_trace_callback_type_sched_process_exit(probe);
  task->exec_state = 1;
  return gone(1) + two(1) + VM_GONE;
}
END
  printf '#include <asm/gone.h>\n' >"$kernel/driver/b.c"
  cat >"$kernel/Makefile" <<'END'
modules: a b
a b:
	@echo 'ERROR: modpost: "not_exported_$@" [pitrace.ko] undefined!' >&2
	$(CC) -Werror=implicit-function-declaration -Werror=incompatible-pointer-types -c driver/$@.c -o /dev/null
END
  run -1 "$SOURCE_DIR/scripts/build-module" --kernel-dir "$kernel"
  rm -rf "$SOURCE_DIR/build/kmod/${release:?}"
  for line in 'tracepoint sched_process_exit: other arguments (driver/a.c:7)' \
    'member exec_state of struct task: does not exist (driver/a.c:8)' 'function gone: does not exist (driver/a.c:9)' \
    'function two: other parameters (driver/a.c:9)' 'name VM_GONE: does not exist (driver/a.c:9)' \
    'header asm/gone.h: does not exist (driver/b.c:1)' 'function not_exported_a: not exported to modules'; do
    grep -qFx "    $line" <<<"$output"
  done
  [[ $output == *"does not build for kernel $release"*"interfaces above in another form"*docs/contributing.md* ]]
}

@test "a build of the module that fails for another reason shows its log" {
  local kernel=$BATS_TEST_TMPDIR/kernel release=9.9.8-made-up-$$
  mkdir -p "$kernel/include/generated"
  printf '#define UTS_RELEASE "%s"\n' "$release" >"$kernel/include/generated/utsrelease.h"
  printf 'modules:\n\t@echo the disk is full >&2; exit 1\n' >"$kernel/Makefile"
  run -1 "$SOURCE_DIR/scripts/build-module" --kernel-dir "$kernel"
  rm -rf "$SOURCE_DIR/build/kmod/${release:?}"
  [[ $output == *"the disk is full"*"does not build for kernel $release"* && $output != *interfaces* ]]
}
