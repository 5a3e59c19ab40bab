#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# AboveIdle, compared with programs that use a known share of each CPU. PROOF_SOURCE is perf (on this machine, with
# /proc/stat) or driver (in the lab, with the module's hooks).

setup_file() { export PATH=${STAGE:?}/bin:${BUILD_DIR:?}/tests:$PATH; }
setup() { cd "$BATS_TEST_TMPDIR" || return; }

# stat_of_cpus: prints the idle and total times of each CPU so far, in clock ticks: "cpuN IDLE ALL".
stat_of_cpus() {
  awk '/^cpu[0-9]/ { all = 0; for (i = 2; i <= 9; i++) all += $i; print $1, $5 + $6, all }' /proc/stat
}

# Loads every CPU for SECONDS of samples, CPU i with the i-th PERCENT. Writes "CPU TRUTH ABOVE-IDLE STAT" in percent for
# each CPU to found: the load's CPU time, the time that swtrace ai reports as not idle, and the same from /proc/stat, read
# when the first and the last line arrived.
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

# judge: the results of duty_cycles are within a point, for NUMBER CPUs. Other load is not known for each CPU, but its sum
# is the difference of /proc/stat and the load; with a third argument, judge only checks that this sum is small.
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

# within_a_point SECONDS PERCENT: measures a load of PERCENT on the first CPU and 40 points more on each further one.
# /proc/stat is read when the line has arrived, a little after swtrace read it. A burst in between is in only one of the
# two, so the measurement is repeated if the machine has other load. If that load stays, the test only checks that no load
# is missing.
within_a_point() {
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
  within_a_point 4 50
}

# bats test_tags=long
@test "duty cycles of 10, 50 and 90 percent on every CPU are reported within a point" {
  local percent
  for percent in 10 50 90; do within_a_point 15 "$percent"; done
}

@test "every line adds up to 100 percent, and names the expected source" {
  swtrace ai 1 4 -sp >lines
  awk '/IDLE=/ { gsub(",", ""); n++; sum = $(NF - 4) + $(NF - 2) + $NF; if (sum < 99.995 || sum > 100.005) { print; bad = 1 } }
    END { exit bad || n < 8 }' lines
  if [[ $PROOF_SOURCE == driver ]]; then grep -q "^\*\* Source:.*hooks" lines; else grep -q "^\*\* Source:.*/proc/stat" lines; fi
}

# cost_of SAMPLES: the CPU seconds that swtrace ai uses for this number of samples.
cost_of() {
  local user system TIMEFORMAT='%U %S'
  { time swtrace ai 1 "$1" >/dev/null; } 2>cost
  read -r user system <cost
  awk -v user="$user" -v system_time="$system" 'BEGIN { print user + system_time }'
}

@test "swtrace ai uses less than one percent of a CPU" {
  local short long
  # The difference does not include its start, which takes a while on an emulated processor.
  short=$(cost_of 1) long=$(cost_of 6)
  echo "$short s for a sample, $long s for six"
  awk -v short="$short" -v long="$long" 'BEGIN { exit long - short >= 5 / 100 }'
}
