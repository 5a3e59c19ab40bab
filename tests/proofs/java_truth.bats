#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Each tick in JIT-compiled code must have the name of the method that was there at that time. HotSpot's own probes, read
# with the kernel's uprobes in the trace's clock, show which one that was. In both programs methods replace each other all
# the time: javac with many classes and a code cache that is far too small, and Replace, which does only that.

setup_file() {
  export PATH=${STAGE:?}/bin:$PATH
  [[ ${PROOF_SOURCE:?} == perf ]] || skip "on this machine only"
  # tracefs is not mounted on some machines.
  [[ -e /sys/kernel/tracing/uprobe_events ]] || mount -t tracefs tracefs /sys/kernel/tracing || true
  [[ -w /sys/kernel/tracing/uprobe_events ]] || skip "the kernel's uprobes cannot be used"
  type -P javac >/dev/null || skip "there is no JDK"
  export LC_ALL=C
  record_programs '' 150 600
}

# record_programs SUFFIX CLASSES REPLACEMENTS: records javac and Replace in the directories javacSUFFIX and replaceSUFFIX.
record_programs() {
  local made=$BATS_FILE_TMPDIR/made$1
  # shellcheck source=tests/support/classes.bash
  source "$SOURCE_DIR/tests/support/classes.bash"
  mkdir -p "$made/sources" "$made/classes"
  make_classes "$2" "$made/sources"
  # The compiler's own program, so that the process is the one that run.tprof starts.
  record "javac$1" -XX:ReservedCodeCacheSize=16m -m jdk.compiler/com.sun.tools.javac.Main -nowarn \
    -d "$made/classes" "$made"/sources/*.java
  record "replace$1" -XX:ReservedCodeCacheSize=4m -XX:-SegmentedCodeCache -cp "$BUILD_DIR/tests/java" Replace "$3"
}

# record NAME JAVA-ARGUMENT...: writes the trace and the probes' events to the directory NAME.
record() {
  local directory=$BATS_FILE_TMPDIR/$1 group=pitrace_truth_$$
  shift
  mkdir "$directory"
  # shellcheck source=tests/support/jvm_probes.bash
  source "$SOURCE_DIR/tests/support/jvm_probes.bash"
  # shellcheck disable=SC2064 # this group
  trap "probes_off $group" EXIT
  probes_on "$group"
  run.tprof --source=perf -c 5000 -b 64 -o "$directory/out" --lines=0 --post='-clip 0' -- \
    java -XX:+PrintCodeCache "$@" >"$directory/cache"
  probe_loads "$group" >"$directory/loads"
  probe_unloads "$group" >"$directory/unloads"
  probes_off "$group"
  trap - EXIT
}

setup() {
  export LC_ALL=C
  support=$SOURCE_DIR/tests/support
}

check_run() { # check_run NAME: enough loads, and enough of them at reused addresses
  cd "$BATS_FILE_TMPDIR/$1" || return
  pid=$(basename out/log-jita2n_*)
  pid=${pid##*_}
  local reused all
  reused=$(awk '{ if (seen[$2]++) n++ } END { print n + 0 }' loads)
  all=$(wc -l <loads)
  echo "$all loads, $reused at an address used before"
  ((all > 2000 && reused > all / 20))
}

# compare [POST-OPTION]...: prints check_owners' result for the trace.
compare() {
  local bounds
  bounds=$(grep -o 'bounds \[0x[0-9a-f]*, 0x[0-9a-f]*, 0x[0-9a-f]*\]' cache | tr -d '[],' | awk '{ print $2, $4 }')
  "$BUILD_DIR/tests/tick_names" out/swtrace.nrm2 "$pid" "$@" >"$BATS_TEST_TMPDIR/ticks"
  gawk -f "$support/hotspot_names.awk" -f "$support/check_owners.awk" -v begin="${bounds% *}" -v end="${bounds#* }" \
    loads unloads out/log-jita2n_* "$BATS_TEST_TMPDIR/ticks" | tee "$BATS_TEST_TMPDIR/found"
}

found() { grep -o "\b$1=[0-9]*" "$BATS_TEST_TMPDIR/found" | cut -d= -f2; }

check_log() {
  gawk -f "$support/hotspot_names.awk" -f "$support/check_log.awk" loads unloads out/log-jita2n_* |
    tee "$BATS_TEST_TMPDIR/found"
  (($(found loads) > 2000 && $(found unloads) > 1000 && $(found different) == 0))
}

check_names() {
  compare
  (($(found ticks) > 2000 && $(found unnamed) == 0 && $(found wrong) == 0))
  (($(found right) > 10 * $(found undecided) && $(found right) > 1000 * $(found undelivered)))
  # Without times there must be wrong names, else the test proves nothing.
  echo "Without times:"
  compare -nv
  (($(found wrong) > 0))
}

@test "javac: JProf logs exactly the loads and unloads that HotSpot's probes report" {
  check_run javac
  check_log
}

@test "javac: each tick has the method that was at its address then; without times many have a wrong one" {
  check_run javac
  check_names
}

@test "constantly replaced code: JProf logs exactly the loads and unloads that HotSpot's probes report" {
  check_run replace
  check_log
}

@test "constantly replaced code: each tick has the method that was at its address then; without times many have a wrong one" {
  check_run replace
  check_names
}

# bats test_tags=long
@test "the same for javac with 400 classes and for 1500 replacements" {
  local name
  record_programs -long 400 1500
  for name in javac-long replace-long; do
    check_run "$name"
    check_log
    check_names
  done
}
