#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Programs whose profile is known. PROOF_SOURCE is perf (on this machine) or driver (in the lab, where time is counted in
# instructions: of the host's time a busy host gives one function more than another).

setup_file() { export PATH=${STAGE:?}/bin:$PATH programs=${BUILD_DIR:?}/tests; }

setup() {
  # shellcheck source=tests/support/profile.bash
  source "$SOURCE_DIR/tests/support/profile.bash"
  out=$BATS_TEST_TMPDIR/out
  json=$out/tprof.json
  if [[ ${PROOF_SOURCE:?} == driver ]]; then keep_awake; fi
}

teardown() { if [[ $PROOF_SOURCE == driver ]]; then kill "$awake"; fi; }

@test "programs of known shares are reported with these shares, over 10,000 ticks each" {
  local seconds=4 rate=4000 points=2 ticks=0 least
  # One processor for both programs there, and nothing but them.
  if [[ ${PROOF_SOURCE:?} == driver ]]; then seconds=3 rate=8000 points=1; fi
  # A machine that is busy with other things gives a program less of its time: then once more, for longer.
  for _ in 1 2 3; do
    run.tprof --source="$PROOF_SOURCE" -o "$out" --lines=0 -c "$rate" --post='-clip 0' -- \
      sh -c '"$programs/shares" $0 & "$programs/doubling" $0; wait $!' "$seconds"
    ticks=$(process_ticks "$json" shares) least=$(process_ticks "$json" doubling)
    ((least < ticks)) || least=$ticks
    ((least < 10000)) || break
    seconds=$((seconds * 11500 / (least + 500) + 1))
  done
  ((least >= 10000))
  check_shares "$json" shares "$points" ten=10 twenty=20 thirty=30 forty=40
  check_shares "$json" doubling "$points" One=1.587 Two=3.175 Four=6.349 Eight=12.698 Sixteen=25.397 ThirtyTwo=50.794
  check_accounts "$json"
  jq -e '.unresolved.no_module == 0 and .losses.lost == 0' "$json"
}
