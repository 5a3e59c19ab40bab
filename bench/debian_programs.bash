# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Programs of Debian under names of their own, which have no frame pointers, and swtrace that records them; sourced by whole_stacks.sh and beside_perf.sh.
# Works in a folder of its own, which is removed at the end.
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
export PATH=${BUILD_DIR:-$root/build}/bin:/usr/bin:/bin LC_ALL=C
dir=$(mktemp -d)
trap 'swtrace free >/dev/null 2>&1 || true; rm -rf "$dir"' EXIT
cd "$dir" || exit
export PITRACE_SOCKET=$dir/socket

# Names that no other process has.
# shellcheck disable=SC2034
all_programs=(its_python3 its_xz its_cc1plus its_sqlite3 its_node its_javac)
for program in python3 xz sqlite3 node javac; do ln -s "/usr/bin/$program" "its_$program"; done
ln -s "$(g++ -print-prog-name=cc1plus)" its_cc1plus

# shellcheck source=bench/programs.sh
source "$root/bench/programs.sh"
make_work 2
g++ -E work.cpp -o work.ii

cat >run.sh <<'END'
case $1 in
  its_python3) exec ./its_python3 work.py ;;
  its_xz) exec ./its_xz -T1 -6 -k -c work.bin ;;
  its_cc1plus) exec ./its_cc1plus -quiet -O2 work.ii -o work.s ;;
  its_sqlite3) exec ./its_sqlite3 :memory: <work.sql ;;
  its_node) exec ./its_node work.js ;;
  its_javac) exec ./its_javac -d classes Work.java ;;
esac
END
# run PROGRAM: some seconds of it, without output.
run() { bash run.sh "$1" >/dev/null 2>&1; }

# start RATE STACKS-OPTION...: a recorder, whose process is $recorder, and the trace.
start() {
  recorder=$(swtrace init --source perf -s 128 | sed 's/.*recorder pid //')
  swtrace enable tprof >/dev/null
  swtrace setrate "$1" >/dev/null
  swtrace stacks "${@:2}"
  swtrace on
}
# Milliseconds of processor time of the recorder so far.
recorder_ms() { awk '{ print ($14 + $15) * 10 }' "/proc/$recorder/stat"; }

# Whole stacks are those with the function that calls main(), or starts a thread.
is_whole='(^|;)_*(start|libc_start_call_main|clone3?|start_thread)(;| )'
# perf_stacks FILE [PERF-OPTION...]: its stacks as folded lines, from the outermost frame.
perf_stacks() {
  perf script -i "$@" -F ip,sym 2>/dev/null | awk 'NF == 0 { if (line != "") print line; line = ""; next }
    { name = $2; sub(/_impl$/, "", name); if (name ~ /^\[unknown\]$/ || name == "") name = "?"; line = name (line == "" ? "" : ";" line) }
    END { if (line != "") print line }' | sort | uniq -c | awk '{ n = $1; $1 = ""; print substr($0, 2) " " n }'
}
# ticks_and_whole: of folded lines, "TICKS ticks, whole PERCENT %".
ticks_and_whole() {
  whole=$is_whole awk '{ all += $NF } $0 ~ ENVIRON["whole"] { whole += $NF }
    END { printf "%d ticks, whole %.2f %%", all, all ? 100 * whole / all : 0 }'
}
