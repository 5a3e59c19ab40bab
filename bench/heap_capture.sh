#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A heap dump by JProf (hdf) beside one by jcmd GC.heap_dump of the same JVM, alternating: processor time of the JVM, the elapsed time,
# the pause of the program by the JVM's own log, and the size of the file.
# Usage: bench/heap_capture.sh BUILD-DIR [SESSIONS [ROUNDS [DIRECTORY]]]; by default 900000 (1 GB), 5, and /var/tmp
set -euo pipefail
build=$(realpath "$1") sessions=${2:-900000} rounds=${3:-5}
source=$(realpath "$(dirname "$0")")
work=$(mktemp -d "${4:-/var/tmp}/heap-capture.XXXXXX")
jvm=''
finish() {
  if [[ -n $jvm ]]; then kill "$jvm" 2>/dev/null || true; fi
  rm -rf "$work"
}
trap finish EXIT
cd "$work"
export PITRACE_JVMS=$work/jvms
javac -d . "$source/HeapToDump.java"
mkfifo input
java -Xms3g -Xmx3g "-Xlog:safepoint:file=$work/pauses" -agentpath:"$build/lib/libjprof.so=hd,nostart,nopidx" -cp . HeapToDump "$sessions" <input >output &
jvm=$!
exec 9>input
until grep -qx ready output; do
  kill -0 "$jvm"
  sleep 0.2
done
jcmd "$jvm" GC.class_histogram | tail -1

# jiffies FIELD: processor time of the JVM in user (14) or system mode (15).
jiffies() { awk -v field="$1" '{ sub(/.*\) /, ""); print $(field - 2) }' "/proc/$jvm/stat"; }

measure() { # measure KIND COMMAND...: kind, user ms, system ms, elapsed ms, pause ms, MB
  local kind=$1 user system begin
  shift
  user=$(jiffies 14) system=$(jiffies 15) begin=$(date +%s%3N)
  : >pauses
  "$@" >answer
  local elapsed=$(($(date +%s%3N) - begin)) tick=$((1000 / $(getconf CLK_TCK)))
  local file
  file=$(find . -name 'log-hd.*' -o -name 'jcmd.hprof')
  awk -v kind="$kind" -v us=$((($(jiffies 14) - user) * tick)) -v sy=$((($(jiffies 15) - system) * tick)) -v elapsed="$elapsed" \
    -v size="$(stat -c %s "$file")" '
    /"HeapDumper"/ && match($0, /Total: *[0-9]+/) { total = substr($0, RSTART, RLENGTH); sub(/.* /, "", total); pause += total }
    END { print kind, us, sy, elapsed, pause / 1e6, size / 1e6 }' pauses
  rm "$file"
}
for ((round = 0; round <= rounds; round++)); do
  measure hdf "$build/bin/rtdriver" --pid "$jvm" -c hdf
  measure jcmd jcmd "$jvm" GC.heap_dump "$work/jcmd.hprof"
  measure jcmd-gz jcmd "$jvm" GC.heap_dump -gz=1 "$work/jcmd.hprof"
done | tail -n +4 | tee rows >&2 # the first round loads classes and fills the cache
for kind in hdf jcmd jcmd-gz; do
  for column in 2 3 4 5 6; do
    awk -v kind="$kind" -v column="$column" '$1 == kind { print $column }' rows | sort -n | awk '{ all[NR] = $1 } END { printf " %.0f", all[int((NR + 1) / 2)] }'
  done | awk -v kind="$kind" '{ printf "%-8s %d + %d ms of processor time, %d ms, of which the program was stopped for %d, %d MB\n", kind, $1, $2, $3, $4, $5 }'
done
