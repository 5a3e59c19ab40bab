#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Accuracy of the report: compared with a second profiler, for short processes and replaced libraries, and with buffers that
# are too small. PROOF_SOURCE is perf (on this machine) or driver (in the lab).

setup_file() {
  export PATH=${STAGE:?}/bin:$PATH
  export programs=${BUILD_DIR:?}/tests
}

# The lab's processor is emulated: an eighth of the work takes the same time there.
work() { # work ROUNDS
  if [[ $PROOF_SOURCE == driver ]]; then echo $(($1 / 8)); else echo "$1"; fi
}

setup() {
  # shellcheck source=tests/support/profile.bash
  source "$SOURCE_DIR/tests/support/profile.bash"
  # With locale rules, sorting hundreds of thousands of symbols takes minutes on an emulated processor.
  export LC_ALL=C
  out=$BATS_TEST_TMPDIR/out
  json=$out/tprof.json
}

profile() { # profile OPTION... -- COMMAND...
  run.tprof --source="${PROOF_SOURCE:?}" -o "$out" --lines=0 "$@"
}

# bats test_tags=lab:long
@test "perf record, run at the same time, reports the same symbols within two points" {
  sysctl -q kernel.perf_cpu_time_max_percent=0 kernel.perf_event_max_sample_rate=100000 2>/dev/null || true
  # Without build-ids: this version of perf fails for files whose id is longer than 20 bytes.
  perf record -q -B -N -a -F 2003 -e cpu-clock -o "$BATS_TEST_TMPDIR/perf.data" -- \
    run.tprof --source="$PROOF_SOURCE" -c 2000 -o "$out" --lines=0 --post='-clip 0' -- "$programs/mixed" 8
  compare_with_perf "$json" "$BATS_TEST_TMPDIR/perf.data" mixed 2
}

# bats test_tags=lab:long
@test "a thousand short-lived processes leave no tick without a process or a module" {
  # A fork with exec takes a tenth of a second in the lab: run a quarter of them there, each with four times the work.
  local count=1000 work
  work=$(work 4000000)
  if [[ $PROOF_SOURCE == driver ]]; then count=$((count / 4)) work=$((work * 4)); fi
  profile -c 5000 --post='-clip 0' -- "$programs/churn" "$count" "$work"
  jq -e '.unresolved.no_module == 0 and .losses.lost == 0' "$json"
  # Every process has a name; perf alone may report tasks after their release, as a row named ExitedProcess.
  jq -e '[.reports[] | select(.title == "Process") | .rows[].name] | all(startswith("pid_") | not)' "$json"
  if [[ $PROOF_SOURCE == driver ]]; then
    jq -e '[.reports[] | select(.title == "Process") | .rows[].name] | all(startswith("ExitedProcess") | not)' "$json"
  fi
  # Half of the processes only forked, half also called exec: both kinds of work have the program's name.
  process_symbols "$json" churn | awk '
    $2 == "forked_work" { forked += $1 }
    $2 == "execed_work" { execed += $1 }
    END { print forked, execed; exit !(forked > 500 && execed > 0.8 * forked && execed < 1.25 * forked) }'
}

# bats test_tags=lab:long
@test "a library mapped at the address of an unloaded one gets exactly its own ticks" {
  profile -c 5000 -- "$programs/reuse" "$programs/libfirst.so" "$programs/libsecond.so" 400 "$(work 8000000)" \
    >"$BATS_TEST_TMPDIR/truth"
  # The loader did map them at the same addresses.
  (($(awk '{print $4}' "$BATS_TEST_TMPDIR/truth" | sort -u | wc -l) <= 4))
  post -r "$out/swtrace.nrm2" -o "$out" -clip 0 --json -show
  jq -e '.unresolved.no_module == 0' "$json"
  check_reuse "$json" "$out/post.show" "$BATS_TEST_TMPDIR/truth" reuse
}

@test "a buffer that is too small: written and lost records add up to the produced ones" {
  export PITRACE_SOCKET=$BATS_TEST_TMPDIR/socket
  swtrace init -s 64K -sm 2 --source "$PROOF_SOURCE"
  swtrace enable tprof
  swtrace setrate 5000
  swtrace on
  "$programs/shares" 3
  swtrace off
  swtrace get "$BATS_TEST_TMPDIR/small.nrm2"
  swtrace free
  mkdir "$out"
  post -r "$BATS_TEST_TMPDIR/small.nrm2" -o "$out" --json
  check_accounts "$json"
  jq -e '.losses.full >= 1 and .losses.stopped > 1000 and .losses.lost == .losses.full + .losses.stopped' "$json"
  grep -q 'Buffer full' "$out/tprof.out"
  # A CPU's 64 KB have space for 2341 ticks of 28 bytes.
  jq -e '.records.tprof > 2000 and .records.tprof <= .trace.processors * 2341' "$json"
}

# record_alone FILE COMMAND...: makes a trace while the command runs; with perf of the command only, since this machine may
# have other load.
record_alone() {
  local -x PITRACE_SOCKET=$BATS_TEST_TMPDIR/recorder
  local file=$1 scope=() pid
  shift
  "$@" &
  pid=$!
  [[ $PROOF_SOURCE == driver ]] || scope=(--scope process --pid "$pid")
  swtrace init -s "${buffer:-16}" --source "$PROOF_SOURCE" "${scope[@]}"
  swtrace enable tprof
  swtrace setrate 4000
  swtrace on
  wait "$pid"
  swtrace off
  swtrace get "$file"
  swtrace free
}

@test "--diff finds the function that became slower, and no difference between two runs of one program" {
  # Between two traces of a whole system, idle time and other processes really differ.
  [[ $PROOF_SOURCE == perf ]] || skip "needs traces of one process, and the module traces the system"
  cd "$BATS_TEST_TMPDIR"
  record_alone before.nrm2 "$programs/shares" 3
  record_alone again.nrm2 "$programs/shares" 3
  record_alone after.nrm2 "$programs/shares" 3 10
  # Without the kernel, whose share depends on the interrupts that other programs cause.
  user=(--no-module vmlinux)
  post --diff before.nrm2 again.nrm2 --json "${user[@]}"
  jq -e '[.symbols[] | select(.module | endswith("/shares"))] | length >= 4 and all(.verdict == "noise" or
    (.change_points | fabs) < 2)' tprof.diff.json
  post --diff before.nrm2 after.nrm2 --json "${user[@]}"
  # ten had 10 of 100 parts and now has 20 of 110: 1.82 times its share; forty had 40 and has 0.91 times its
  # share.
  jq -e '.symbols | map(select(.module | endswith("/shares")) | {(.name): .}) | add
    | (.ten.b.percent / .ten.a.percent) as $ten | (.forty.b.percent / .forty.a.percent) as $forty
    | .ten.verdict == "more" and $ten > 1.6 and $ten < 2.3 and $forty > 0.8 and $forty < 1' tprof.diff.json
  jq -e '.symbols[0].name == "ten"' tprof.diff.json
  # A budget above the old share and below the new one.
  jq -r '.symbols[0].a.percent * 1.4 | "symbol ten:shares \(.)%"' tprof.diff.json >limits
  post -r before.nrm2 "${user[@]}" --budget limits
  post -r after.nrm2 "${user[@]}" --budget limits && status=0 || status=$?
  [[ $status == 4 ]]
}

# bats test_tags=lab:long
@test "run.tprof --strict returns 3 when records were lost, but never replaces the command's own status" {
  profile --strict -- sh -c 'exit 7' && status=0 || status=$?
  [[ $status == 7 ]]
  profile --strict -- true
  # Repeat with a longer run until records are lost, since a guest may get few ticks.
  local seconds lost=0
  for seconds in 3 12 48; do
    buffer=64K record_alone "$out/swtrace.nrm2" "$programs/shares" "$seconds"
    post -r "$out/swtrace.nrm2" -o "$BATS_TEST_TMPDIR" --json=lost.json >/dev/null
    lost=$(jq .losses.lost "$BATS_TEST_TMPDIR/lost.json")
    ((lost == 0)) || break
  done
  run.tprof -p -o "$out" --lines=0
  run.tprof -p -o "$out" --lines=0 --strict 2>"$BATS_TEST_TMPDIR/err" && status=0 || status=$?
  [[ $status == 3 ]]
  grep -q 'is not complete (--strict): [0-9]* records were lost' "$BATS_TEST_TMPDIR/err"
}

# bats test_tags=lab:long
@test "the report names the clocksource, and notes when the kernel changed it" {
  local sources=/sys/devices/system/clocksource/clocksource0 kept
  kept=$(cat $sources/current_clocksource)
  profile -- sleep 0.2
  grep -qx " Clock : CLOCK_MONOTONIC, kept by $kept" "$out/tprof.out"
  if [[ $PROOF_SOURCE != driver ]]; then return; fi
  # The lab's machine has three clocksources.
  profile -- sh -c "echo acpi_pm >$sources/current_clocksource"
  echo "$kept" >$sources/current_clocksource
  tr '\n' ' ' <"$out/tprof.out" | tr -s ' ' |
    grep -q "Note : The kernel changed its clocksource from $kept to acpi_pm during the trace\."
}

# bats test_tags=lab:long
@test "run.tprof passes the command's output and exit status on, and keeps older files" {
  profile -- sh -c 'echo to-stdout; exit 7' >"$BATS_TEST_TMPDIR/stdout" && status=0 || status=$?
  [[ $status == 7 ]]
  grep -qx to-stdout "$BATS_TEST_TMPDIR/stdout"
  profile -- true
  [[ -s $out/tprof.out.old && -s $out/tprof.json.old && -s $out/swtrace.nrm2.old ]]
  [[ $(stat -c %a "$out/swtrace.nrm2") == 600 ]]
}

# bats test_tags=lab:long
@test "a failed start leaves no trace and prints the reason" {
  run profile -m event -e nonsense -- true
  [ "$status" -eq 125 ]
  [[ "$output" == *"run.tprof: error: the trace could not be started: "*"'nonsense'"* ]]
  [[ "$output" != *"Trace initialised"* && "$output" != *"swtrace: error"* ]]
}
