#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# AboveIdle against programs that use a known part of each CPU. PROOF_SOURCE is perf (on this machine, where
# /proc/stat tells) or driver (in the lab, where the module's hooks do).

setup_file() { export PATH=${STAGE:?}/bin:${BUILD_DIR:?}/tests:$PATH; }
setup() { cd "$BATS_TEST_TMPDIR" || return; }

# Busy percent of every CPU in SECONDS, with the truth of PERCENT... beside it: CPU i gets the i-th.
duty_cycles() { # duty_cycles SECONDS PERCENT...
  local seconds=$1 cpu=0 percent pids=()
  shift
  for percent; do
    duty "$cpu" "$percent" $((seconds + 4)) >"truth.$cpu" &
    pids+=("$!")
    cpu=$((cpu + 1))
  done
  sleep 1
  swtrace ai "$seconds" 1 --json >ai.json
  wait "${pids[@]}"
}

# What else ran on the CPUs in that time is not known, but can only add: at least the truth less a point and,
# in one of three attempts, when nothing else ran, at most the truth and a point.
@test "duty cycles of 10, 50 and 90 percent on every CPU are told within a point" {
  local cpus percent cpu truth close
  cpus=$(getconf _NPROCESSORS_ONLN)
  ((cpus <= 8)) || cpus=8
  for percent in 10 50 90; do
    for _ in 1 2 3; do
      # shellcheck disable=SC2046 # one word for each CPU
      duty_cycles 20 $(for ((cpu = 0; cpu < cpus; cpu++)); do echo $(((percent + 40 * cpu) % 100)); done)
      close=1
      for ((cpu = 0; cpu < cpus; cpu++)); do
        truth=$(cat "truth.$cpu")
        jq -c --argjson cpu "$cpu" --argjson truth "$truth" '.cpus[$cpu] + {truth: $truth}' ai.json
        # Interrupts are the program's in getrusage, unless the kernel measures them.
        jq -e --argjson cpu "$cpu" --argjson truth "$truth" \
          '.cpus[$cpu] | .busy + .intr > $truth - 1' ai.json >/dev/null
        jq -e --argjson cpu "$cpu" --argjson truth "$truth" \
          '.cpus[$cpu] | .busy + .intr < $truth + 1' ai.json >/dev/null || close=0
      done
      ((close)) && break
    done
    ((close))
  done
}

@test "every line adds up to 100 percent, and the source is the one that was to be" {
  swtrace ai 1 5 -sp >lines
  awk '/IDLE=/ { gsub(",", ""); n++; sum = $(NF - 4) + $(NF - 2) + $NF; if (sum < 99.995 || sum > 100.005) { print; bad = 1 } }
    END { exit bad || n < 10 }' lines
  if [[ $PROOF_SOURCE == driver ]]; then grep -q "^\*\* Source:.*hooks" lines; else grep -q "^\*\* Source:.*/proc/stat" lines; fi
}

@test "it costs less than one percent of a CPU" {
  local seconds=10 user system
  # user and system seconds of its own
  TIMEFORMAT='%U %S'
  { time swtrace ai 1 "$seconds" >/dev/null; } 2>cost
  read -r user system <cost
  awk -v used="$user $system" -v seconds="$seconds" 'BEGIN { split(used, t, " "); exit !(t[1] + t[2] < seconds / 100) }'
}
