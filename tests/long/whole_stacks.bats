#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Whole stacks where they are hard to get: tables that come late, threads that die, programs that start another one, waits, and
# ticks of events; with perf events on this machine, and with the module in guests of two kernels.

setup_file() {
  [ "$(id -u)" -eq 0 ] || skip "needs root to trace the system"
  cd "$BATS_FILE_TMPDIR" || return
  mkdir programs
  local each options=(-O2 -fomit-frame-pointer -fno-optimize-sibling-calls -I"$SOURCE_DIR/tests/progs")
  for each in die_young exec_itself wait_and_fault; do
    gcc "${options[@]}" -o "programs/$each" "$SOURCE_DIR/tests/long/whole_stacks/$each.c" -pthread || return
  done
  # At fixed addresses: the registers of the old program fit the code of the new one.
  gcc "${options[@]}" -static -no-pie -o programs/exec_static "$SOURCE_DIR/tests/long/whole_stacks/exec_itself.c"
}

setup() { cd "$BATS_FILE_TMPDIR" || return; }

# stacks_of PROGRAM FOLDER: its folded stacks, without the process.
stacks_of() { sed -n "s/^$1_[0-9a-f]*;//p" "$2/tprof.folded"; }

# all_but PERCENT WHAT [COUNTED]: of the input, folded stacks, all but so many percent, and ticks that the trace counts as such,
# match the pattern.
all_but() {
  what=$2 awk -v points="$1" -v counted="${3:-0}" 'BEGIN { what = ENVIRON["what"] }
    $0 ~ what { good += $NF } $0 !~ what { print } { all += $NF }
    END { print good + 0 " of " all + 0 " ticks: " what; exit !(all >= 100 && all - good <= all * points / 100 + counted) }'
}

# Tables of Python and its libraries are made while ticks wait. Stacks that were unwound without one are counted.
late_tables() {
  local late
  jq '.trace.notes, .tree.stacks' "$1/late/tprof.json"
  late=$(jq '[.trace.notes[] | capture("^(?<n>[0-9]+) user stack.*without a table").n | tonumber] | add // 0' "$1/late/tprof.json")
  echo "$late late"
  # An emulated processor of a busy host may take longer for a table than is allowed; the file is noted then.
  if jq -e '.trace.notes | any(contains("its compiler does not answer"))' "$1/late/tprof.json"; then return 0; fi
  stacks_of python3 "$1/late" | all_but 1 '^(_start|_rtld_|_dl_start|\[cut\]|\[ld-)' "$late"
}

dying_threads() {
  stacks_of die_young "$1/dying" | grep -E ';in_thread[; ]' | all_but 1 '^(clone3?;)?(start_thread|\[libc[^;]*);thread;in_thread'
  stacks_of die_young "$1/dying" | grep -E ';in_child[; ]' | all_but 1 '^(_start|__libc_start_call_main);(.*;)?main;child;in_child'
}

# A tick while a program is being replaced: its user's frames begin with the system call. They are a stack below main(), or marked.
exec_stacks() {
  local kind
  for kind in itself static; do
    stacks_of "exec_$kind" "$1/exec_$kind" | awk '
      { ticks = $NF; user = $0; sub(/ [0-9]+$/, "", user); gsub(/;[^;]*_\[k\]/, "", user); all += ticks }
      user ~ /(^|;)(__)?execve$/ {
        calls += ticks
        if (user ~ /^\[(broken|cut)\]/) marked += ticks
        else if (user ~ /main;again;(__)?execve$/) good += ticks
        else { print; bad += ticks }
      }
      END { print good + 0 " whole, " marked + 0 " marked, " bad + 0 " wrong, of " calls + 0 " in the call, of " all
            exit !(calls >= 10 && good > 0 && !bad) }'
  done
}

# The waits in sleeper() have its callers.
waits() {
  jq -r '.off_cpu.threads[] | select(.process | startswith("wait_and_fault")) | .waits[]
    | "\(.blocked_ns) \(.frames | map(select(contains("vmlinux") | not) | sub(":.*"; "")) | join(";"))"' "$1/waits/tprof.json" |
    awk '$2 !~ /;sleeper;/ { next } { all += $1 } $2 ~ /;sleeper;one_round;main;/ && $2 !~ /\[(broken|cut)\]/ { good += $1; next } { print }
      END { printf "%.1f of %.1f ms\n", good / 1e6, all / 1e6; exit !(all > 1e9 && good > 0.99 * all) }'
}

# A tick for every tenth fault; the program's first faults are not of this function.
faults() {
  stacks_of wait_and_fault "$1/faults" | grep -E ';toucher[; ]' >"$1/in_toucher"
  all_but 0 '^_start;.*;main;one_round;toucher[; ]' <"$1/in_toucher"
  awk '{ all += $NF } END { print all " ticks"; exit all < 995 || all > 1005 }' "$1/in_toucher"
}

# checked FOLDER: all of the above.
checked() {
  late_tables "$1" && dying_threads "$1" && exec_stacks "$1" && waits "$1" && faults "$1"
}

@test "stacks are whole with perf events" {
  "$SOURCE_DIR/tests/long/whole_stacks/record.sh" perf "${STAGE:-$BUILD_DIR/stage}" "$PWD/programs" "$PWD/perf"
  checked perf
}

in_guest() {
  cd "$SOURCE_DIR" || return
  # shellcheck disable=SC2016
  scripts/lab --kernel "$1" --single-thread --timeout 1800 --out "$BATS_FILE_TMPDIR/$1" -- \
    bash -c 'tests/long/whole_stacks/record.sh driver "$1" "$2" "$LAB_OUT"' bash "${STAGE:-$BUILD_DIR/stage}" "$BATS_FILE_TMPDIR/programs"
  cd "$BATS_FILE_TMPDIR" || return
  checked "$1"
}

@test "stacks are whole with the module in 6.1" { in_guest 6.1; }

@test "stacks are whole with the module in 6.12" { in_guest 6.12; }
