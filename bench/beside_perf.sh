#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Programs of Debian, which have no frame pointers, recorded by swtrace (stacks by tables) and by perf record --call-graph dwarf in
# the same run, and by samply in one of its own: whole stacks, bytes a tick, the ten functions with most inclusive ticks; and in runs
# of their own what recording costs: processor time of the program and of the recorder.
# Usage: beside_perf.sh [PERF_BYTES [RATE [PROGRAM...]]]   (default 65528 1000 and all). As root. $SAMPLY: its program (default samply).
set -euo pipefail
# shellcheck source=bench/debian_programs.bash
source "$(dirname "$0")/debian_programs.bash"
perf_bytes=${1:-65528} rate=${2:-1000} samply=${SAMPLY:-samply} here=$root/bench
shift $(($# < 2 ? $# : 2))
programs=("$@")
((${#programs[@]})) || programs=("${all_programs[@]}")
if ! command -v "$samply" >/dev/null; then samply='' && echo "without samply, which is not found"; fi

# cpu_of COMMAND...: runs it without output; processor time in ms of it and its children, in $cpu.
cpu_of() {
  cpu=$( { TIMEFORMAT='%U %S'; time "$@" >/dev/null 2>&1; } 2>&1 | awk '{ print int(1000 * ($1 + $2)) }')
}
# inclusive: of folded lines, names without parameters and first underscores (samply omits one), but for those that samply makes of
# addresses and aliases, with their share of ticks in percent, largest first.
inclusive() {
  awk '{ n = $NF; sub(/ [0-9]+$/, ""); all += n; split("", seen); k = split($0, f, ";")
      for (i = 1; i <= k; i++) sub(/\(.*/, "", f[i])
      for (i = 1; i <= k; i++) gsub(/^_+| |_\[g\]/, "", f[i])
      for (i = 1; i <= k; i++) if (f[i] !~ /^[[?]|_\[k\]$|^fun_[0-9a-f]+$|_alias_/ && !(f[i] in seen)) { seen[f[i]]; sum[f[i]] += n } }
    END { for (s in sum) printf "%.2f %s\n", 100 * sum[s] / all, s }' "$1" | sort -rn
}
# compare NAME STACKS: the ten functions of these stacks with most inclusive ticks, with their shares in swtrace's.
compare() {
  inclusive "$2" >their_shares
  who=$1 awk 'FILENAME == "our_shares" { ours[$2] = $1; next } FNR <= 10 { all++; found += $2 in ours; d = $1 - ours[$2]; if (d < 0) d = -d; if (d > most) most = d
      printf "    %-40s %s %6.2f %%, swtrace %6.2f %%\n", substr($2, 1, 40), ENVIRON["who"], $1, ours[$2] }
    END { printf "    %d of %d are in both, largest difference %.2f points\n", found, all, most }' our_shares their_shares
}

for program in "${programs[@]}"; do
  cpu_of run "$program"
  echo "$program: alone $cpu ms"
  start "$rate" user -depth 1023 -by tables
  before=$(recorder_ms)
  cpu_of run "$program"
  echo "  with swtrace $cpu ms, and its recorder $(($(recorder_ms) - before)) ms for the whole system"
  swtrace off
  swtrace free
  cpu_of perf record -q -e cpu-clock -F "$rate" --call-graph "dwarf,$perf_bytes" -o perf.data -- bash run.sh "$program"
  echo "  with perf record, itself included, $cpu ms"
  if [[ $samply ]]; then
    cpu_of "$samply" record --save-only --unstable-presymbolicate -r "$rate" -o samply.json.gz -- bash run.sh "$program"
    echo "  with samply, itself and its look-up of symbols included, $cpu ms"
  fi
  start "$rate" user -depth 1023 -by tables
  perf record -q -e cpu-clock:u -F "$rate" --call-graph "dwarf,$perf_bytes" -o perf.data -- bash run.sh "$program" >/dev/null 2>&1
  swtrace off
  swtrace get >/dev/null
  swtrace free
  post -tree -folded -clip 0 -demangle --json --command "$program" >/dev/null 2>&1
  sed -n "s/^${program}_[0-9a-f]*;//p" tprof.folded >ours
  inclusive ours >our_shares
  jq -r '.tree.stacks as $s | "  swtrace: \($s.with) ticks, whole \(10000 * $s.whole / $s.with | round / 100) %, cut \($s.cut), broken \($s.broken), guessed \($s.guessed)"' tprof.json
  perf_stacks perf.data >theirs
  echo "  perf: $(ticks_and_whole <theirs), $(awk -v size="$(stat -c %s perf.data)" '{ all += $NF } END { printf "%.0f", size / all }' theirs) bytes a tick"
  compare perf theirs
  [[ $samply ]] || continue
  node "$here/samply_stacks.mjs" samply.json.gz "$program" >theirs
  echo "  samply: $(ticks_and_whole <theirs), $(awk -v size="$(stat -c %s samply.json.gz)" '{ all += $NF } END { printf "%.0f", size / all }' theirs) bytes a tick, compressed"
  compare samply theirs
done
