#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# AboveIdle against programs that use a known part of each CPU. PROOF_SOURCE is perf (on this machine, where
# /proc/stat tells) or driver (in the lab, where the module's hooks do).

setup_file() { export PATH=${STAGE:?}/bin:${BUILD_DIR:?}/tests:$PATH; }
setup() { cd "$BATS_TEST_TMPDIR" || return; }

# The idle and all times of each CPU so far, in clock ticks: "cpuN IDLE ALL".
stat_of_cpus() {
  awk '/^cpu[0-9]/ { all = 0; for (i = 2; i <= 9; i++) all += $i; print $1, $5 + $6, all }' /proc/stat
}

# Load on every CPU for SECONDS of samples, CPU i the i-th PERCENT. Leaves "CPU TRUTH ABOVE-IDLE STAT" in percent for
# each CPU: what the load got, what swtrace ai says was not idle, and what /proc/stat does, read when the first and
# the last line came.
duty_cycles() { # duty_cycles SECONDS PERCENT...
  local seconds=$1 cpu=0 percent pids=() lines=0
  shift
  for percent; do
    duty "$cpu" "$percent" $((seconds + 4)) >"truth.$cpu" &
    pids+=("$!")
    cpu=$((cpu + 1))
  done
  sleep 1
  swtrace ai 1 $((seconds + 1)) --json | while read -r line; do
    lines=$((lines + 1))
    if ((lines == 1)); then stat_of_cpus >first; elif ((lines == seconds + 1)); then stat_of_cpus >last; fi
    printf '%s\n' "$line"
  done >ai.json
  wait "${pids[@]}"
  jq -r -s '.[1:] | [.[].cpus[]] | group_by(.cpu)[] | "\(.[0].cpu) \([.[] | .busy + .intr] | add / length)"' ai.json |
    while read -r cpu busy; do
      printf '%s %s %s ' "$cpu" "$(cat "truth.$cpu")" "$busy"
      awk -v cpu="cpu$cpu" '$1 == cpu { if (seen++) print 100 - 100 * ($2 - idle) / ($3 - all); idle = $2; all = $3 }' first last
    done >found
}

# judge: whether what duty_cycles found is within a point, for as many CPUs as NUMBER. What else ran is not known by CPU,
# but as a whole it is what /proc/stat has beyond the load; with a third argument, it only tells whether that was little.
judge() { # judge NUMBER FILE [LIMIT]
  awk -v cpus="$1" -v limit="${3:-}" '
    { truth[NR] = $2; busy[NR] = $3; stat[NR] = $4; others += $4 - $2 }
    END {
      if (limit != "") exit others > limit
      if (others < 0) others = 0
      for (i = 1; i <= NR; i++) {
        printf "CPU %d: true %.2f, found %.2f, /proc/stat %.2f, others on all %.2f\n", i - 1, truth[i], busy[i], stat[i], others
        if (busy[i] < truth[i] - 1 || busy[i] > truth[i] + others + 1) bad = 1
        if (busy[i] < stat[i] - 1 || busy[i] > stat[i] + 1) bad = 1
      }
      exit bad || NR != cpus
    }' "$2"
}

# told_within_a_point SECONDS PERCENT: of a load of PERCENT on the first CPU and 40 points more on each further one. /proc/stat
# is read here when the line has come, not at the very moment at which swtrace read it. What bursts in between is in one
# of them only, so a machine that is busy with something else is asked again. If it stays busy, only this is judged, that
# no load is missing.
told_within_a_point() {
  local cpus tries
  cpus=$(getconf _NPROCESSORS_ONLN)
  ((cpus <= 8)) || cpus=8
  for tries in 1 2 3; do
    # shellcheck disable=SC2046 # one word for each CPU
    duty_cycles "$1" $(for ((cpu = 0; cpu < cpus; cpu++)); do echo $((($2 + 40 * cpu) % 100)); done)
    ! judge "$cpus" found 4 || break
  done
  echo "$2 percent, measured for the ${tries}th time:"
  if judge "$cpus" found 4; then judge "$cpus" found; else awk '{ print; if ($3 < $2 - 1) bad = 1 } END { exit bad || !NR }' found; fi
}

# bats test_tags=lab:long
@test "duty cycles of 50 and 90 percent are reported within a point, and so is other load" {
  told_within_a_point 7 50
}

# bats test_tags=long
@test "duty cycles of 10, 50 and 90 percent on every CPU are reported within a point" {
  local percent
  for percent in 10 50 90; do told_within_a_point 15 "$percent"; done
}

@test "every line adds up to 100 percent, and the expected source is used" {
  swtrace ai 1 4 -sp >lines
  awk '/IDLE=/ { gsub(",", ""); n++; sum = $(NF - 4) + $(NF - 2) + $NF; if (sum < 99.995 || sum > 100.005) { print; bad = 1 } }
    END { exit bad || n < 8 }' lines
  if [[ $PROOF_SOURCE == driver ]]; then grep -q "^\*\* Source:.*hooks" lines; else grep -q "^\*\* Source:.*/proc/stat" lines; fi
}

# CPU seconds of its own that so many samples take.
cost_of() {
  local user system TIMEFORMAT='%U %S'
  { time swtrace ai 1 "$1" >/dev/null; } 2>cost
  read -r user system <cost
  awk -v user="$user" -v system_time="$system" 'BEGIN { print user + system_time }'
}

@test "swtrace ai uses less than one percent of a CPU" {
  local short long
  # Its start, which on an emulated processor takes a while, is in both.
  short=$(cost_of 1) long=$(cost_of 6)
  echo "$short s for a sample, $long s for six"
  awk -v short="$short" -v long="$long" 'BEGIN { exit long - short >= 5 / 100 }'
}
