#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Stacks of one known call tree in Rust, Go, Go with a part in C, and C with musl (static and dynamic), -O2 and without frame pointers: with perf events on this
# machine, and with the module in a guest. A language whose compiler is missing is skipped.

programs=(in_rust in_go in_cgo in_musl in_musl_static)

# compile: what can be compiled here, into $BATS_FILE_TMPDIR/programs; a file PROGRAM.missing has the reason for another.
compile() {
  local sources=$SOURCE_DIR/tests/long/languages to=$BATS_FILE_TMPDIR/programs
  mkdir -p "$to"
  if command -v rustc >/dev/null; then
    rustc --edition 2021 -C opt-level=2 -C force-frame-pointers=no -o "$to/in_rust" "$sources/tree.rs"
  else
    echo 'needs rustc' >"$to/in_rust.missing"
  fi
  if command -v go >/dev/null; then
    GO111MODULE=off GOCACHE=$BATS_FILE_TMPDIR/go-cache GOFLAGS='' CGO_ENABLED=0 go build -o "$to/in_go" "$sources/tree.go"
    GO111MODULE=off GOCACHE=$BATS_FILE_TMPDIR/go-cache GOFLAGS='' CGO_ENABLED=1 CGO_CFLAGS='-O2 -fomit-frame-pointer' \
      go build -o "$to/in_cgo" "$sources/tree.go" "$sources/part_in_c.go"
  else
    tee "$to/in_go.missing" >"$to/in_cgo.missing" <<<'needs golang-go'
  fi
  if command -v musl-gcc >/dev/null; then
    local options=(-O2 -fomit-frame-pointer -fno-optimize-sibling-calls -DREST -I"$SOURCE_DIR/tests/progs")
    musl-gcc "${options[@]}" -o "$to/in_musl" "$SOURCE_DIR/tests/progs/calls.c"
    musl-gcc "${options[@]}" -static -o "$to/in_musl_static" "$SOURCE_DIR/tests/progs/calls.c"
  else
    tee "$to/in_musl.missing" >"$to/in_musl_static.missing" <<<'needs musl-tools'
  fi
}

setup_file() {
  export PATH=${STAGE:-${BUILD_DIR:?}/stage}/bin:$PATH LC_ALL=C PITRACE_SOCKET=$BATS_FILE_TMPDIR/socket
  compile
}

setup() {
  # shellcheck source=tests/support/known_stacks.bash
  source "$SOURCE_DIR/tests/support/known_stacks.bash"
  cd "$BATS_FILE_TMPDIR" || return
}

teardown() { swtrace free >/dev/null 2>&1 || true; }

# whole PROGRAM FOLDED: of the stacks below work(), 99 % reach the start of their thread, and none has a guessed frame.
whole() {
  sed -n "s/^$1_[0-9a-f]*;//p" "$2" | awk '
    /work/ { all += $NF; if (/\[(broken|cut)\]/ || /_\[g\]/) { print; marked += $NF } }
    END { print marked + 0 " of " all " marked"; exit !all || marked > 0.01 * all }'
}

# record PROGRAM SECONDS: traces it alone, since this machine may have other load. The shell becomes the program when the trace is on.
record() {
  rm -f go
  mkfifo go
  bash -c 'read -r _ <go; exec "$@"' bash "programs/$1" "$2" &
  local pid=$!
  swtrace init --source perf -s 64 --scope process --pid "$pid"
  swtrace enable tprof
  swtrace setrate 4000
  swtrace stacks both -depth 1023
  swtrace on
  echo >go
  wait "$pid"
  swtrace off
  swtrace get
  swtrace free
  post -o "perf-$1" -folded -tree -demangle -clip 0
}

# with_perf PROGRAM: traces it here; where other load takes time from the program, unequally from its parts, again for longer.
with_perf() {
  local program=$1 seconds
  if [ -e "programs/$program.missing" ]; then skip "$(<"programs/$program.missing")"; fi
  mkdir -p "perf-$program"
  for seconds in 4 10 20; do
    record "$program" "$seconds"
    own_frames "$program" "perf-$program/tprof.folded" >"$program.frames"
    ! has_shares 2 3000 <"$program.frames" >/dev/null || break
  done
  has_shares 2 3000 <"$program.frames"
  whole "$program" "perf-$program/tprof.folded"
}

@test "stacks of a Rust program have the shares of its calls, with perf events" { with_perf in_rust; }

@test "stacks of goroutines have the shares of their calls, and end at goexit, with perf events" {
  with_perf in_go
  sed -n 's/^in_go_[0-9a-f]*;//p' perf-in_go/tprof.folded | awk '
    /main\.work/ { all += $NF; if (/^runtime\.goexit[^;]*;/) good += $NF; else print }
    END { print good " of " all; exit good < 0.99 * all }'
}

@test "stacks of a Go program with a part in C have the shares of its calls, with perf events" {
  with_perf in_cgo
  readelf -SW programs/in_cgo | grep -cE ' \.(eh_frame|debug_frame) ' | grep -x 2
  # C's code is called on a stack of the runtime, not that of the goroutine.
  sed -n 's/^in_cgo_[0-9a-f]*;//p' perf-in_cgo/tprof.folded | awk '
    /leaf_in_c( |;)/ { all += $NF; if (/^\[cut\];runtime\.asmcgocall[^;]*;[^;]*part_in_c;leaf_in_c( |;)/) good += $NF; else print }
    END { print good " of " all; exit !(all >= 200 && good >= 0.99 * all) }'
}

@test "stacks of a program with musl have the shares of its calls, with perf events" { with_perf in_musl; }

@test "stacks of a static program with musl have the shares of its calls, with perf events" { with_perf in_musl_static; }

@test "the same shares are in stacks of the module, in a guest" {
  local program found=()
  for program in "${programs[@]}"; do
    if [ -e "programs/$program" ]; then found+=("$BATS_FILE_TMPDIR/programs/$program"); fi
  done
  if ((!${#found[@]})); then skip "needs rustc, golang-go or musl-tools"; fi
  cd "$SOURCE_DIR"
  scripts/lab --kernel 6.12 --single-thread --timeout 1800 --out "$BATS_FILE_TMPDIR/out" -- \
    tests/long/languages-guest.sh "${STAGE:-$BUILD_DIR/stage}" "${found[@]}"
  for program in "${found[@]}"; do
    program=${program##*/}
    echo "$program"
    # An emulated processor does not run the same instructions at the same speed everywhere.
    own_frames "$program" "$BATS_FILE_TMPDIR/out/$program.folded" | has_shares 4 1500
    whole "$program" "$BATS_FILE_TMPDIR/out/$program.folded"
  done
}
