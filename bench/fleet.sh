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
trap 'rm -rf "$work"' EXIT

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

# Of a control group of its own: all that run.fleet starts, also what ended.
host() {
  local seconds=$1 each=$2 group=/sys/fs/cgroup/fleet-bench.$$ busy_before busy_after pid
  [[ -w /sys/fs/cgroup/cgroup.procs ]] || { echo "needs control groups of version 2, and root" >&2; exit 1; }
  mkdir "$group"
  printf '%s\n' "folder=$work/fleet" "spool=$work/spool" "seconds=$each" cpu_percent=1000 >"$work/config"
  busy() { awk '/^cpu / { print $2 + $3 + $4 + $7 + $8, $5 + $6 }' /proc/stat; }
  busy_before=$(busy)
  # shellcheck disable=SC2016 # the inner shell expands it
  bash -c 'echo $$ >"$0/cgroup.procs"; exec "$@"' "$group" "$bin/run.fleet" --config "$work/config" 2>"$work/messages" &
  pid=$!
  sleep "$seconds"
  kill -TERM "$pid"
  wait "$pid" || true
  busy_after=$(busy)
  awk -v seconds="$seconds" -v before="$busy_before" -v after="$busy_after" 'BEGIN { split(before, a); split(after, b)
    printf "the host was busy for %.0f %% of its processors\n", 100 * (b[1] - a[1]) / (b[1] - a[1] + b[2] - a[2]) }'
  awk -v seconds="$seconds" '/^usage_usec/ { printf "run.fleet, recorder and post: %.2f s of processor time, %.2f %% of one CPU\n", $2 / 1e6, $2 / 1e4 / seconds }' "$group/cpu.stat"
  if [[ -r $group/memory.peak ]]; then printf 'memory, with the cache of their files: %d MB at most\n' $(($(<"$group/memory.peak") >> 20)); fi
  cat "$work/spool/status"
  awk -v seconds="$seconds" -v bytes="$(sizes "$work/fleet" .)" \
    'BEGIN { printf "tables: %d bytes, %.1f MB a day\n", bytes, bytes / seconds * 86400 / 1e6 }'
  rmdir "$group" || true
}

# The copies have other hosts and days in the names of their folders, which engines take instead of the column. A day has 48 files of each
# table, which are FOLDER's, again and again. Only sums by function are copied: these questions read no others.
query() {
  local folder=$1 days=$2 place=${3:-$work} day i k words cache files
  place=$(mktemp -d "$place/fleet-days.XXXXXX")
  trap 'rm -rf "$work" "$place"' EXIT
  mapfile -t files < <(find "$folder/records" -name '*.parquet' | sort)
  for ((i = 0; i < days; i++)); do
    day=$(date -u -d "2026-01-01 + $((i / 100)) days" +%F)
    mkdir -p "$place/records/date=$day/host=node$((i % 100))"
    for ((k = 0; k < 48; k++)); do cp "${files[k % ${#files[@]}]}" "$place/records/date=$day/host=node$((i % 100))/$k.parquet"; done
  done
  printf '%d host-days: %d files, %d MB of records\n' "$days" "$(find "$place" -name '*.parquet' | wc -l)" \
    $(($(sizes "$place" records) / 1000000))
  for words in "top --by function" "top --by service" "report" "diff --at 2026-01-06" "top --since 2026-01-04 --until 2026-01-05"; do
    for cache in cold warm; do
      if [[ $cache == cold ]]; then
        sync
        echo 1 2>/dev/null >/proc/sys/vm/drop_caches || continue
      fi
      # shellcheck disable=SC2086 # words
      /usr/bin/time -f "%e s, CPU %U + %S s, peak %M KB: $words ($cache)" "$bin/pitrace-fleet" $words "$place" >"$work/answer" 2>"$work/time" || true
      tail -n 1 "$work/time"
    done
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
