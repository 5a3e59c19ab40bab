#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Programs of Debian, which have no frame pointers, recorded by swtrace (stacks by tables) and by perf record --call-graph dwarf in
# the same run: whole stacks, bytes a tick, the ten functions with most inclusive ticks; and in runs of their own what recording
# costs: processor time of the program and of the recorder. Usage: beside_perf.sh [PERF_BYTES [RATE]]   (default 65528 1000). As root.
set -euo pipefail
perf_bytes=${1:-65528} rate=${2:-1000}
root=$(cd "$(dirname "$0")/.." && pwd)
export PATH=${BUILD_DIR:-$root/build}/bin:/usr/bin:/bin LC_ALL=C
dir=$(mktemp -d)
trap 'swtrace free >/dev/null 2>&1 || true; rm -rf "$dir"' EXIT
cd "$dir"
export PITRACE_SOCKET=$dir/socket
head -c 8000000 /usr/lib/x86_64-linux-gnu/libLLVM-14.so.1 >data
cat >work.py <<'END'
import json, re
def fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)
text = json.dumps([{"a": i, "b": str(i) * 3} for i in range(20000)])
for i in range(60):
    fib(22)
    json.loads(text)
    sorted(re.findall(r"\d+", text), key=len)
END
cat >big.cpp <<'END'
#include <algorithm>
#include <iostream>
#include <map>
#include <regex>
int main(int n, char** v) { std::map<std::string, int> m; std::regex r(n > 1 ? v[1] : "a"); m["x"] = 1; std::cout << std::regex_match("a", r) << m.size(); }
END
cat >run.sh <<'END'
case $1 in
  its_python3) exec ./its_python3 work.py ;;
  its_xz) exec ./its_xz -T1 -3 -c data ;;
  its_cc1plus) exec ./its_cc1plus -quiet -O2 big.ii -o big.s ;;
esac
END
# Names that no other process has.
ln -s /usr/bin/python3 its_python3
ln -s /usr/bin/xz its_xz
ln -s "$(g++ -print-prog-name=cc1plus)" its_cc1plus
g++ -E big.cpp -o big.ii
# cpu_of COMMAND...: runs it without output; processor time in ms of it and its children, in $cpu.
cpu_of() {
  cpu=$( { TIMEFORMAT='%U %S'; time "$@" >/dev/null 2>&1; } 2>&1 | awk '{ print int(1000 * ($1 + $2)) }')
}
start() {
  pid=$(swtrace init --source perf -s 128 | sed 's/.*recorder pid //')
  swtrace enable tprof >/dev/null
  swtrace setrate "$rate" >/dev/null
  swtrace stacks user -depth 1023 -by tables
  swtrace on
}
recorder_ms() { awk '{ print ($14 + $15) * 10 }' "/proc/$pid/stat"; }
# Stacks of perf script, as folded lines from the outermost frame.
perf_stacks() {
  perf script -i perf.data --comm "$1" -F ip,sym 2>/dev/null | awk 'NF == 0 { if (line != "") print line; line = ""; next }
    { name = $2; sub(/_impl$/, "", name); if (name ~ /^\[unknown\]$/ || name == "") name = "?"; line = name (line == "" ? "" : ";" line) }
    END { if (line != "") print line }' | sort | uniq -c | awk '{ n = $1; $1 = ""; print substr($0, 2) " " n }'
}
# inclusive: of folded lines, names without parameters with their share of ticks in percent, largest first.
inclusive() {
  awk '{ n = $NF; sub(/ [0-9]+$/, ""); all += n; split("", seen); k = split($0, f, ";")
      for (i = 1; i <= k; i++) sub(/\(.*/, "", f[i])
      for (i = 1; i <= k; i++) gsub(/ /, "", f[i])
      for (i = 1; i <= k; i++) if (f[i] !~ /^[[?]|_\[k\]$/ && !(f[i] in seen)) { seen[f[i]]; sum[f[i]] += n } }
    END { for (s in sum) printf "%.2f %s\n", 100 * sum[s] / all, s }' "$1" | sort -rn
}
for program in its_python3 its_xz its_cc1plus; do
  cpu_of bash run.sh "$program"
  alone=$cpu
  start
  before=$(recorder_ms)
  cpu_of bash run.sh "$program"
  ours=$(($(recorder_ms) - before))
  with_ours=$cpu
  swtrace off
  swtrace free
  cpu_of perf record -q -e cpu-clock -F "$rate" --call-graph "dwarf,$perf_bytes" -o perf.data -- bash run.sh "$program"
  echo "$program: alone $alone ms; with swtrace $with_ours ms, and its recorder $ours ms for the whole system; with perf record, itself included, $cpu ms"
  start
  perf record -q -e cpu-clock:u -F "$rate" --call-graph "dwarf,$perf_bytes" -o perf.data -- bash run.sh "$program" >/dev/null 2>&1
  swtrace off
  swtrace get >/dev/null
  swtrace free
  post -tree -folded -clip 0 -demangle --json --command "$program" >/dev/null 2>&1
  sed -n "s/^${program}_[0-9a-f]*;//p" tprof.folded >ours
  perf_stacks "$program" >theirs
  jq -r '.tree.stacks as $s | "  swtrace: \($s.with) ticks, whole \(10000 * $s.whole / $s.with | round / 100) %, cut \($s.cut), broken \($s.broken)"' tprof.json
  awk -v size="$(stat -c %s perf.data)" '{ all += $NF; if (/(^|;)(_start|__libc_start_call_main|clone3?|start_thread)(;| )/) whole += $NF }
    END { printf "  perf: %d ticks, whole %.2f %%, %.0f bytes a tick\n", all, 100 * whole / all, size / all }' theirs
  inclusive ours >our_shares
  inclusive theirs >their_shares
  awk 'FILENAME == "our_shares" { ours[$2] = $1; next } FNR <= 10 { all++; found += $2 in ours; d = $1 - ours[$2]; if (d < 0) d = -d; if (d > most) most = d
      printf "    %-40s perf %6.2f %%, swtrace %6.2f %%\n", substr($2, 1, 40), $1, ours[$2] }
    END { printf "    %d of %d are in both, largest difference %.2f points\n", found, all, most }' our_shares their_shares
done
