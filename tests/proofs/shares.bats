#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Programs whose profile is known. PROOF_SOURCE is perf (on this machine) or driver (in the lab, where instructions measure
# time: a host under load does not give each function the same share of its time).

setup_file() { export PATH=${STAGE:?}/bin:$PATH programs=${BUILD_DIR:?}/tests; }

setup() {
  # shellcheck source=tests/support/profile.bash
  source "$SOURCE_DIR/tests/support/profile.bash"
  out=$BATS_TEST_TMPDIR/out
  json=$out/tprof.json
  if [[ ${PROOF_SOURCE:?} == driver ]]; then keep_awake; fi
}

teardown() { if [[ $PROOF_SOURCE == driver ]]; then kill "$awake"; fi; }

@test "programs with known shares are reported with these shares, over 10,000 ticks each" {
  local seconds=4 rate=4000 points=2 ticks=0 min
  # In the lab one processor runs both programs and nothing else.
  if [[ ${PROOF_SOURCE:?} == driver ]]; then seconds=3 rate=8000 points=1; fi
  # Other load on the machine takes time from the program: then repeat it, for a longer time.
  for _ in 1 2 3; do
    run.tprof --source="$PROOF_SOURCE" -o "$out" --lines=0 -c "$rate" --post='-clip 0' -- \
      sh -c '"$programs/shares" $0 & "$programs/doubling" $0; wait $!' "$seconds"
    ticks=$(process_ticks "$json" shares) min=$(process_ticks "$json" doubling)
    ((min < ticks)) || min=$ticks
    ((min < 10000)) || break
    seconds=$((seconds * 11500 / (min + 500) + 1))
  done
  ((min >= 10000))
  check_shares "$json" shares "$points" ten=10 twenty=20 thirty=30 forty=40
  check_shares "$json" doubling "$points" One=1.587 Two=3.175 Four=6.349 Eight=12.698 Sixteen=25.397 ThirtyTwo=50.794
  check_accounts "$json"
  jq -e '.unresolved.no_module == 0 and .losses.lost == 0' "$json"
}
