#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What a fleet costs: bytes of the tables of a trace, a host's processor time and memory, seconds of a question about many host-days.
# Usage: bench/fleet.sh bytes TRACE...             post --fleet of each trace (or archive): bytes, and bytes a day at that rate
#        bench/fleet.sh host [SECONDS [TRACE_S]]   run.fleet for SECONDS (1200) beside whatever runs, in traces of TRACE_S (600)
#        bench/fleet.sh query FOLDER DAYS [DIR]    questions about DAYS host-days that are copies of FOLDER's tables, below DIR
# Programs come from build/bin (BUILD_DIR names another build); query needs PITRACE_DUCKDB, and root to drop the cache of the disk.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
bin=${BUILD_DIR:-$root/build}/bin
work=$(mktemp -d "${TMPDIR:-/var/tmp}/fleet-bench.XXXXXX")
copies=''
trap 'rm -rf "$work" "$copies"' EXIT

sizes() { # sizes FOLDER TABLE: bytes of all its files
  find "$1/$2" -name '*.parquet' -printf '%s\n' | awk '{ sum += $1 } END { printf "%d", sum }'
}

bytes() {
  local trace seconds table sum
  printf '%-24s %8s %9s %10s %10s %10s %10s %8s %9s %8s\n' trace seconds ticks records paths stacks frames MB/day 'CPU s' 'peak MB'
  for trace; do
    rm -rf "$work/fleet" "$work/json"
    mkdir "$work/json"
    /usr/bin/time -f '%U %S %M' -o "$work/time" "$bin/post" --fleet "$work/fleet" --json -o "$work/json" "$trace" 2>"$work/messages" || true
    seconds=$(jq -r .trace.trace_time_s "$work/json/tprof.json")
    sum=0
    for table in records paths stacks frames; do sum=$((sum + $(sizes "$work/fleet" "$table"))); done
    read -r user system peak < <(tail -n 1 "$work/time")
    printf '%-24s %8.0f %9d %10d %10d %10d %10d %8.1f %9.2f %8d\n' "$(basename "$trace")" "$seconds" "$(jq .ticks "$work/json/tprof.json")" \
      "$(sizes "$work/fleet" records)" "$(sizes "$work/fleet" paths)" "$(sizes "$work/fleet" stacks)" "$(sizes "$work/fleet" frames)" \
      "$(awk -v b="$sum" -v s="$seconds" 'BEGIN { print b / s * 86400 / 1e6 }')" \
      "$(awk -v u="$user" -v s="$system" 'BEGIN { print u + s }')" $((peak / 1024))
  done
}

# The most memory of processes of a name in a control group, in KB of their own (not shared with others), until it is killed. One process:
# each that it started would be recorded, too.
watch_memory() { # watch_memory GROUP FILE
  exec python3 - "$1" "$2" <<'END'
import os, sys, time
group, file = sys.argv[1:]
most = {}
while True:
    for pid in open(group + '/cgroup.procs').read().split():
        try:
            name = open(f'/proc/{pid}/comm').read().strip()
            own = sum(int(line.split()[1]) for line in open(f'/proc/{pid}/smaps_rollup') if line.startswith('Private_'))
        except OSError:
            continue
        most[name] = max(most.get(name, 0), own)
    with open(file + '.new', 'w') as out:
        out.writelines(f'{name} {own}\n' for name, own in most.items())
    os.rename(file + '.new', file)
    time.sleep(0.2)
END
}

# Of a control group of its own: all that run.fleet starts, also what ended.
host() {
  local seconds=$1 each=$2 top=/sys/fs/cgroup group busy_before busy_after pid watcher
  if [[ -e $top/unified/cgroup.procs ]]; then top=$top/unified; fi
  group=$top/fleet-bench.$$
  if ! mkdir "$group" 2>/dev/null || [[ ! -w $group/cgroup.procs ]]; then
    echo "needs control groups of version 2, and root" >&2
    exit 1
  fi
  printf '%s\n' "folder=$work/fleet" "spool=$work/spool" "seconds=$each" cpu_percent=1000 >"$work/config"
  busy() { awk '/^cpu / { print $2 + $3 + $4 + $7 + $8, $5 + $6 }' /proc/stat; }
  watch_memory "$group" "$work/memory" &
  watcher=$!
  busy_before=$(busy)
  # shellcheck disable=SC2016 # the inner shell expands it
  bash -c 'echo $$ >"$0/cgroup.procs"; exec "$@"' "$group" "$bin/run.fleet" --config "$work/config" 2>"$work/messages" &
  pid=$!
  sleep "$seconds"
  kill -TERM "$pid"
  wait "$pid" || true
  kill "$watcher"
  busy_after=$(busy)
  awk -v seconds="$seconds" -v before="$busy_before" -v after="$busy_after" 'BEGIN { split(before, a); split(after, b)
    printf "the host was busy for %.0f %% of its processors\n", 100 * (b[1] - a[1]) / (b[1] - a[1] + b[2] - a[2]) }'
  awk -v seconds="$seconds" '/^(usage|user|system)_usec/ { printf "run.fleet and all that it starts, %s: %.2f s, %.2f %% of one CPU\n", $1, $2 / 1e6, $2 / 1e4 / seconds }' "$group/cpu.stat"
  echo "memory of their own, KB at most:"
  sort -k 2 -rn "$work/memory"
  cat "$work/spool/status"
  awk -v seconds="$seconds" -v bytes="$(sizes "$work/fleet" .)" \
    'BEGIN { printf "tables: %d bytes, %.1f MB a day\n", bytes, bytes / seconds * 86400 / 1e6 }'
  rmdir "$group" || true
}

# The copies have other hosts and days in the names of their folders, which engines take instead of the column. A day has 48 files of each
# table, which are FOLDER's, again and again. Only sums by function are copied: these questions read no others. Twenty host-days have tables of
# traces; sums by day are made of these, and copied.
query() {
  local folder=$1 days=$2 place=${3:-$work} i k copy name
  local questions=("top --by service" "top --by function" report "diff --a host=node1* --b host=node2*")
  copies=$(mktemp -d "$place/fleet-days.XXXXXX")
  mapfile -t files < <(find "$folder/records" -name '*.parquet' | sort)
  folder_of() { printf 'date=%s/host=node%d' "$(date -u -d "2026-01-01 + $(($1 / 100)) days" +%F)" $(($1 % 100)); }
  for ((i = 0; i < 20 && i < days; i++)); do
    copy=$copies/records/$(folder_of "$i")
    mkdir -p "$copy"
    # Links, or copies on another disk.
    for ((k = 0; k < 48; k++)); do cp -l "${files[k % ${#files[@]}]}" "$copy/$k.parquet" 2>/dev/null || cp "${files[k % ${#files[@]}]}" "$copy/$k.parquet"; done
  done
  printf '%d host-days: %d files, %d MB of records\n' "$i" $((i * 48)) $(($(sizes "$copies" records) / 1000000))
  ask "${questions[@]}"
  ask compact
  rm -r "$copies/records"
  for ((; i < days; i++)); do
    name=$(folder_of "$i")
    mkdir -p "$copies/days/$name"
    cp "$copies/days/$(folder_of $((i % 20)))/day.parquet" "$copies/days/$name/"
  done
  printf '%d host-days: %d MB of sums by day\n' "$days" $(($(sizes "$copies" days) / 1000000))
  ask "${questions[@]}"
}

ask() { # ask QUESTION...: with the files in the cache
  local words
  for words; do
    # shellcheck disable=SC2086 # words
    /usr/bin/time -f "%e s, CPU %U + %S s, peak %M KB: $words" "$bin/pitrace-fleet" $words "$copies" >"$work/answer" 2>"$work/time" || true
    tail -n 1 "$work/time"
  done
}

case ${1-} in
  bytes) bytes "${@:2}" ;;
  host) host "${2:-1200}" "${3:-600}" ;;
  query) query "$2" "$3" "${4-}" ;;
  *)
    sed -n '3,7s/^# //p' "$0"
    exit 1
    ;;
esac
