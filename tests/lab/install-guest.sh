#!/bin/bash
# SPDX-License-Identifier: MIT
# Runs in the lab's guest: loads, asks for and unloads the driver; says "ok NAME" or "not ok NAME".
# Usage: install-guest.sh BIN
set -u

bin=$1
module=/run/lab/ctl/pitrace.ko
export PATH=$bin:$PATH

# promise NAME STATUS TEXT COMMAND...: the command exits so, and TEXT is in its output.
promise() {
  local name=$1 expected=$2 text=$3 output status=0
  shift 3
  output=$("$@" 2>&1) || status=$?
  if [[ $status == "$expected" && $output == *"$text"* ]]; then
    echo "ok $name"
  else
    echo "not ok $name"
    printf '# status %s: %s\n' "$status" "$output"
  fi
}
# shellcheck source=tests/support/other_user.bash
source "$(dirname "$0")/../support/other_user.bash"
scripts=$(dirname "$(readlink -f "$bin/ddq")")
make_public "$scripts"/{ddq,tuninstall,lib.sh,driver.sh} "$bin/swtrace" "$bin/../lib/libperfutil.so.0"

# sudo and a new log-in, for advice that is followed here.
sudo() { "$@"; }
as_member() {
  (cd "$public/home" && setpriv --reuid 65534 --regid 65534 --init-groups env LD_LIBRARY_PATH="$public" "$@")
}
as_root() { "$@"; }

# follow_advice PATTERN COMMAND...: does what the command's message has in quotes behind the pattern.
follow_advice() {
  local pattern=$1 commands
  # shellcheck disable=SC2034 # the advice has it
  local USER=nobody
  shift
  commands=$("$@" 2>&1 | tr '\n' ' ' | sed -n "s/.*$pattern'\([^']*\)'.*/\1/p")
  echo "advised: $commands"
  [[ -n $commands ]] && eval "$commands"
}

# What a user who may not open the device is advised makes him a member of a group that may.
follow_device_advice() {
  follow_advice "group that may: " as_nobody swtrace init --source driver && as_member "$public/ddq"
}

# What a user who may not use perf is advised gives it to the installed program, which finds its library.
follow_setcap_advice() {
  cp -L "$bin/../stage/bin/swtrace" /usr/local/bin/ && cp -L "$bin"/../stage/lib/libperfutil.so.0 /usr/local/lib/ || return
  local installed=(env -u LD_LIBRARY_PATH PITRACE_SOCKET="$public/home/recorder" /usr/local/bin/swtrace)
  sysctl -q kernel.perf_event_paranoid=2
  follow_advice "paranoid=-1'; " as_nobody "${installed[@]}" init --source perf || return
  as_nobody "${installed[@]}" init --source perf && as_nobody "${installed[@]}" free
}

# follow_remedies USER TOPIC...: each of these topics of 'swtrace check' has a remedy, and it helps.
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
  # 3 is Debian's own.
  sysctl -q kernel.perf_event_paranoid=3 || sysctl -q kernel.perf_event_paranoid=2
  sysctl -q kernel.kptr_restrict=1 kernel.perf_event_mlock_kb=4
  follow_remedies as_nobody perf paranoid symbols mlock
}

switch_hooks_off() {
  sysctl -q kernel.ftrace_enabled=0 && echo 0 >/sys/kernel/debug/kprobes/enabled && follow_remedies as_root kprobes ftrace
}

hide_debugfs() {
  umount -R /sys/kernel/debug && follow_remedies as_root kprobes
}

load_as_advised() {
  follow_remedies as_root module && ddq -q
}

# The module of this kernel, below /lib/modules; the index has it alone, that of all modules takes minutes here.
install_module() {
  local folder
  folder=/lib/modules/$(uname -r)
  mkdir -p "$folder/updates" && cp "$module" "$folder/updates/" &&
    depmod "$(uname -r)" "$folder/updates/pitrace.ko" && [[ -s $folder/modules.dep ]]
}

# The lab has loaded it.
promise present 0 "pitrace version " ddq
promise nobody-uses-it 0 "In use by: no process" ddq
promise others-may-not-open-it 0 "You cannot open" as_nobody ddq
promise loading-twice-is-fine 0 "loaded already" tinstall
promise others-may-not-unload 1 "needs root" as_nobody tuninstall
swtrace init -s 1 --source driver >/dev/null 2>&1 || echo "not ok recorder"
promise stays-while-in-use 1 "(swtrace)" tuninstall
promise tells-who-uses-it 0 "(swtrace)" ddq
swtrace free >/dev/null 2>&1
# Not one of the other user.
promise a-loaded-driver-takes-a-group 0 "members of group daemon" tinstall --group daemon
promise the-advice-for-the-device-works 0 "In use by" follow_device_advice
promise the-advice-for-perf-and-symbols-works 0 "true" restrict_perf
promise the-advice-for-one-program-works 0 "setcap" follow_setcap_advice
promise unloads 0 "unloaded" tuninstall
promise absent 1 "not loaded" ddq
promise absent-quietly 1 "" ddq -q
promise unloading-twice-is-fine 0 "not loaded" tuninstall
# What the lab built for this kernel lies in build/kmod; its headers are not where build-module looks.
promise the-advice-for-hooks-works 0 "true" switch_hooks_off
promise the-advice-for-debugfs-works 0 "true" hide_debugfs
promise the-advice-for-a-built-module-works 0 "true" load_as_advised
promise unloads-what-was-advised 0 "unloaded" tuninstall
promise loads-what-is-built 0 "driver is loaded" tinstall
promise present-again 0 "pitrace version" ddq
promise unloads-again 0 "unloaded" tuninstall
promise loads-a-file-for-a-group 0 "driver is loaded" tinstall --module "$module" --group nogroup
promise its-members-may-open-it 0 "In use by" setpriv --reuid=65534 --regid="$(getent group nogroup | cut -d: -f3)" --clear-groups "$public/ddq"
promise unloads-at-last 0 "unloaded" tuninstall
echo garbage >/tmp/bad.ko
promise what-is-no-module-is-refused 1 "cannot load /tmp/bad.ko" tinstall --module /tmp/bad.ko
promise a-module-can-be-installed 0 "" install_module
promise the-advice-for-an-installed-module-works 0 "true" load_as_advised
promise unloads-the-installed-one 0 "unloaded" tuninstall
promise the-advice-without-a-module-works 0 "driver is loaded" follow_advice "Load it with " swtrace init --source driver
echo "ok finished"
