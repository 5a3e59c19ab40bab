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
make_public "$scripts"/{ddq,tuninstall,lib.sh,driver.sh}

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
