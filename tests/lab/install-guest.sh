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

# What a user who may not open the device is advised makes him a member of a group that may.
follow_device_advice() {
  local commands USER=nobody
  commands=$(as_nobody swtrace init --source driver 2>&1 | tr '\n' ' ' | sed -n "s/.*group that may: '\([^']*\)'.*/\1/p")
  echo "advised: $commands"
  [[ -n $commands ]] && eval "$commands" && as_member "$public/ddq"
}

# The remedies of "swtrace check" for perf and the kernel's symbols, in any order.
follow_check_remedies() {
  local remedy
  sysctl -q kernel.perf_event_paranoid=3 kernel.kptr_restrict=1 2>/dev/null ||
    sysctl -q kernel.perf_event_paranoid=2 kernel.kptr_restrict=1
  as_nobody swtrace check --json >"$public/before"
  jq -r '.checks[] | select(.topic == "perf" or .topic == "paranoid" or .topic == "symbols") | .remedy // empty' "$public/before" |
    sort -r >"$public/remedies"
  cat "$public/remedies"
  [[ $(wc -l <"$public/remedies") -eq 3 ]] || return
  while read -r remedy; do eval "${remedy%%   (*}" || return; done <"$public/remedies"
  as_nobody swtrace check --json |
    jq -e '.perf_system_works and all(.checks[] | select(.topic == "perf" or .topic == "paranoid" or .topic == "symbols"); .verdict == "ok")'
}

# The lab has loaded it.
promise present 0 "pitrace version " ddq
promise nobody-uses-it 0 "In use by: nobody" ddq
promise others-may-not-open-it 0 "You may not open" as_nobody ddq
promise loading-twice-is-fine 0 "loaded already" tinstall
promise others-may-not-unload 1 "needs root" as_nobody tuninstall
swtrace init -s 1 --source driver >/dev/null 2>&1 || echo "not ok recorder"
promise stays-while-in-use 1 "(swtrace)" tuninstall
promise tells-who-uses-it 0 "(swtrace)" ddq
swtrace free >/dev/null 2>&1
promise a-loaded-driver-takes-a-group 0 "members of group nogroup" tinstall --group nogroup
promise the-advice-for-the-device-works 0 "In use by" follow_device_advice
promise the-advice-for-perf-and-symbols-works 0 "true" follow_check_remedies
promise unloads 0 "unloaded" tuninstall
promise absent 1 "not loaded" ddq
promise absent-quietly 1 "" ddq -q
promise unloading-twice-is-fine 0 "not loaded" tuninstall
# What the lab built for this kernel lies in build/kmod; its headers are not where build-module looks.
promise loads-what-is-built 0 "driver is loaded" tinstall
promise present-again 0 "pitrace version" ddq
promise unloads-again 0 "unloaded" tuninstall
promise loads-a-file-for-a-group 0 "driver is loaded" tinstall --module "$module" --group nogroup
promise its-members-may-open-it 0 "In use by" setpriv --reuid=65534 --regid="$(getent group nogroup | cut -d: -f3)" --clear-groups "$public/ddq"
promise unloads-at-last 0 "unloaded" tuninstall
echo garbage >/tmp/bad.ko
promise what-is-no-module-is-refused 1 "cannot load /tmp/bad.ko" tinstall --module /tmp/bad.ko
insmod "$module"
echo "ok finished"
