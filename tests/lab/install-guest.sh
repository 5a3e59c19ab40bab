#!/bin/bash
# SPDX-License-Identifier: MIT
# Guest part of install.bats: loads, queries and unloads the driver; prints "ok NAME" or "not ok NAME" for each promise.
# Usage: install-guest.sh BIN COMMANDS, a file of lines of documented-commands.
set -u

bin=$1
documented=$2
BUILD_DIR=$(cd "$bin/.." && pwd)
SOURCE_DIR=$PWD
module=/run/lab/ctl/pitrace.ko
export PATH=$bin:$PATH

# shellcheck source=tests/lab/command_promises.bash
source "$(dirname "$0")/command_promises.bash"
# shellcheck source=tests/support/other_user.bash
source "$(dirname "$0")/../support/other_user.bash"
# shellcheck source=tests/support/advice.bash
source "$(dirname "$0")/../support/advice.bash"
# shellcheck source=tests/support/documented_commands.bash
source "$(dirname "$0")/../support/documented_commands.bash"
scripts=$(dirname "$(readlink -f "$bin/ddq")")
make_public "$scripts"/{ddq,tinstall,tuninstall,lib.sh,driver.sh} "$bin/swtrace" "$bin/../lib/libperfutil.so.0"

# Replaces a new log-in, so that advice can be followed.
as_member() {
  (cd "$public/home" && setpriv --reuid 65534 --regid 65534 --init-groups env LD_LIBRARY_PATH="$public" "$@")
}
as_root() { "$@"; }

# The advice for a user who may not open the device makes him a member of a group that may.
follow_device_advice() {
  follow_advice "group that may: " as_nobody swtrace init --source driver && as_member "$public/ddq"
}

# as_the_unit BUT: a recorder with perf events, as root with the capabilities of the unit pitrace-fleet but those.
as_the_unit() {
  local capabilities
  capabilities=$(sed -n 's/^CapabilityBoundingSet=//p' "$SOURCE_DIR/debian/pitrace.pitrace-fleet.service" | tr 'A-Z ' 'a-z,' | sed 's/cap_/+/g')
  setpriv --no-new-privs --bounding-set="-all,$capabilities$1" --inh-caps=-all swtrace init -s 1 --source perf && swtrace free
}

# The advice for a user who may not use perf gives the capability to the installed program, which still finds its library.
# At Debian's own level that capability is not enough.
follow_setcap_advice() {
  cp -L "$bin/../stage/bin/swtrace" /usr/local/bin/ && cp -L "$bin"/../stage/lib/libperfutil.so.0 /usr/local/lib/ || return
  local installed=(env -u LD_LIBRARY_PATH PITRACE_SOCKET="$public/home/recorder" /usr/local/bin/swtrace)
  sysctl -q kernel.perf_event_paranoid=3
  follow_advice "paranoid=2' and " as_nobody "${installed[@]}" init --source perf || return
  follow_advice "paranoid=-1'; " as_nobody "${installed[@]}" init --source perf || return
  as_nobody "${installed[@]}" init --source perf && as_nobody "${installed[@]}" free
}

# follow_remedies USER TOPIC...: each of these topics of 'swtrace check' has a remedy that works.
follow_remedies() {
  local user=$1 remedy topics
  shift
  topics=$(printf '%s\n' "$@" | jq -R . | jq -s .)
  "$user" swtrace check --json >"$public/before"
  jq -r --argjson topics "$topics" '.checks[] | select(.topic as $t | $topics | index($t)) | .remedy // empty' \
    "$public/before" >"$public/remedies"
  cat "$public/remedies"
  [[ $(wc -l <"$public/remedies") -eq $# ]] || return
  while read -r remedy; do eval "${remedy%%   (*}" || return; done <"$public/remedies"
  "$user" swtrace check --json >"$public/after"
  jq -e --argjson topics "$topics" 'all(.checks[] | select(.topic as $t | $topics | index($t)); .verdict == "ok")' "$public/after"
}

restrict_perf() {
  # 3 is Debian's own level.
  sysctl -q kernel.perf_event_paranoid=3 || sysctl -q kernel.perf_event_paranoid=2
  sysctl -q kernel.kptr_restrict=1 kernel.perf_event_mlock_kb=4
  follow_remedies as_nobody perf paranoid symbols mlock
}

switch_hooks_off() {
  local hooks=(kprobes)
  # 7.3 answers "not supported".
  if sysctl -q kernel.ftrace_enabled=0 2>/dev/null; then hooks+=(ftrace); fi
  echo 0 >/sys/kernel/debug/kprobes/enabled && follow_remedies as_root "${hooks[@]}"
}

hide_debugfs() {
  umount -R /sys/kernel/debug && follow_remedies as_root kprobes
}

load_as_advised() {
  follow_remedies as_root module && ddq -q
}

# Installs this module below /lib/modules; the index has only this module, since depmod for all takes minutes here.
install_module() {
  local folder
  folder=/lib/modules/$(uname -r)
  mkdir -p "$folder/updates" && cp "$module" "$folder/updates/" &&
    depmod "$(uname -r)" "$folder/updates/pitrace.ko" && [[ -s $folder/modules.dep ]]
}

# Another user names a group that does not exist, and only root can change the device's group.
follow_group_advice() {
  follow_advice "create it with: " tinstall --group tracers && follow_advice "try: " as_nobody tinstall --group tracers
}

# The documented commands that need the module, in a directory with the programs and files that they use. The first one
# loads the module.
run_documented() {
  mkdir -p /tmp/documented/work && cd /tmp/documented/work && make_directory || return
  cp "$BUILD_DIR/tests/doubling" . && cp "$BUILD_DIR/examples/example_hello_c" hello || return
  printf 'all:\n\ttrue\n' >Makefile
  PATH=$PWD/build/bin:$PATH
  run_commands < <(grep '^ddq' "$documented" && grep -v '^ddq' "$documented")
}

# The lab has loaded the module.
promise ddq-reports-a-loaded-driver 0 "pitrace version " ddq
promise no-process-uses-it 0 "In use by: no process" ddq
promise another-user-may-not-open-the-device 0 "You cannot open" as_nobody ddq
promise loading-twice-succeeds 0 "loaded already" tinstall
promise another-user-may-not-unload 1 "needs root" as_nobody tuninstall
swtrace init -s 1 --source driver >/dev/null 2>&1 || echo "not ok recorder"
promise a-driver-in-use-stays-loaded 1 "(swtrace)" tuninstall
promise ddq-names-the-process-that-uses-the-driver 0 "(swtrace)" ddq
swtrace free >/dev/null 2>&1
# A group that does not contain the other user.
promise the-group-of-a-loaded-driver-can-be-set 0 "members of group daemon" tinstall --group daemon
promise the-advice-for-the-device-works 0 "In use by" follow_device_advice
promise the-advice-for-perf-and-symbols-works 0 "true" restrict_perf
promise the-advice-for-one-program-works 0 "setcap" follow_setcap_advice
sysctl -q kernel.perf_event_paranoid=3
promise at-debians-level-the-unit-may-use-perf 0 "" as_the_unit ""
promise at-debians-level-root-is-told-which-capability-is-missing 1 "demand CAP_SYS_ADMIN" as_the_unit ,-sys_admin
promise unloads 0 "unloaded" tuninstall
promise ddq-reports-an-unloaded-driver 1 "not loaded" ddq
promise ddq-q-prints-nothing 1 "" ddq -q
promise unloading-twice-succeeds 0 "not loaded" tuninstall
# The module that the lab built is in build/kmod; build-module does not find the headers here.
promise the-advice-for-hooks-works 0 "true" switch_hooks_off
promise the-advice-for-debugfs-works 0 "true" hide_debugfs
promise the-advice-for-a-built-module-works 0 "true" load_as_advised
promise unloads-the-driver-loaded-by-the-advice 0 "unloaded" tuninstall
promise loads-the-built-module 0 "driver is loaded" tinstall
promise ddq-reports-the-loaded-driver-again 0 "pitrace version" ddq
promise unloads-again 0 "unloaded" tuninstall
promise loads-a-file-for-a-group 0 "driver is loaded" tinstall --module "$module" --group nogroup
promise members-of-the-group-may-open-the-device 0 "In use by" setpriv --reuid=65534 --regid="$(getent group nogroup | cut -d: -f3)" --clear-groups "$public/ddq"
promise unloads-the-third-time 0 "unloaded" tuninstall
echo garbage >/tmp/bad.ko
promise a-file-that-is-not-a-module-is-refused 1 "cannot load /tmp/bad.ko" tinstall --module /tmp/bad.ko
promise a-module-can-be-installed 0 "" install_module
promise the-advice-for-an-installed-module-works 0 "true" load_as_advised
promise unloads-the-installed-module 0 "unloaded" tuninstall
promise the-advice-without-a-module-works 0 "driver is loaded" follow_advice "Load it with " swtrace init --source driver
promise the-advice-for-a-group-works 0 "can now trace" follow_group_advice
promise the-advice-to-unload-as-root-works 0 "unloaded" follow_advice "try: " as_nobody tuninstall
promise the-advice-to-load-as-root-works 0 "driver is loaded" follow_advice "try: " as_nobody tinstall
promise unloads-for-the-documents 0 "unloaded" tuninstall
promise documented-commands-work 0 "" run_documented
echo "ok finished"
