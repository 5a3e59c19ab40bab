#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# An archive of a trace gives the identical report on a machine where the traced files are missing or differ.
# PROOF_SOURCE is perf (on this machine) or driver (in the lab).

bats_require_minimum_version 1.5.0

setup_file() {
  export PATH=${STAGE:?}/bin:$PATH
  export programs=${BUILD_DIR:?}/tests
  export made=$BATS_FILE_TMPDIR
  export LC_ALL=C
  export PITRACE_SOCKET=$made/socket
  cd "$made" || return
  # C, C++ and interpreted code, short processes, libraries that replace each other. The shell continues when the trace is
  # on. With perf, only this process and its children are traced: files of other programs may be replaced at any moment.
  mkfifo go
  # shellcheck disable=SC2016 # the inner shell expands it
  bash -c 'read -r _ <go
    "$programs/mixed" 3
    "$programs/churn" 40 400000
    "$programs/reuse" "$programs/libfirst.so" "$programs/libsecond.so" 20 400000 >/dev/null
    gzip -c "$programs/mixed" "$STAGE/bin/post" | gunzip | sha256sum >/dev/null' &
  local work=$! scope=()
  [[ ${PROOF_SOURCE:?} == driver ]] || scope=(--scope process --pid "$work")
  swtrace init --source "$PROOF_SOURCE" -s 16 "${scope[@]}"
  swtrace enable tprof
  swtrace setrate 2000
  swtrace on
  echo >go
  wait "$work"
  swtrace off
  swtrace get
  swtrace free
  post -r "$made/swtrace.nrm2" -o "$made" --archive --archive-files
}

setup() {
  # shellcheck source=tests/support/other_machine.bash
  source "$SOURCE_DIR/tests/support/other_machine.bash"
  cd "$BATS_TEST_TMPDIR" || return
  root=$BATS_TEST_TMPDIR/root
  other_machine "$root" "$STAGE/bin/post"
}

# same_report OPTION...: with these options, the trace's report here equals the archive's on the other machine.
same_report() {
  mkdir -p here
  post -r "$made/swtrace.nrm2" -o here --json "$@"
  cp "$made/swtrace.tar.zst" "$root/work/"
  on_other_machine "$root" -r /work/swtrace.tar.zst --json "$@"
  cmp here/tprof.out "$root/work/tprof.out"
  cmp here/tprof.json "$root/work/tprof.json"
}

@test "the trace without its archive gives a different report on another machine" {
  post -r "$made/swtrace.nrm2" -o . --json -clip 0
  # The trace has names that the other machine lacks, also those of the test programs.
  jq -r '.reports[] | select(.title == "Process_Module_Symbol") | .. | objects
      | select(.kind? == "symbol") | .name' tprof.json | sort -u >names
  cat names
  (($(wc -l <names) > 10))
  [[ $(grep -cxE 'user_work|library_work' names) -eq 2 ]]
  cp "$made/swtrace.nrm2" "$root/work/"
  on_other_machine "$root" -r /work/swtrace.nrm2 --json -clip 0
  run ! cmp -s tprof.json "$root/work/tprof.json"
}

@test "the report is identical if the traced files are missing, with any options" {
  same_report
  same_report -clip 0 -off
  same_report -clip 0 -demangle -pnm -tnm
  same_report -clip 0.5 -nsf -cpu -rsel 00100101
  same_report -clip 0 -anysym -a2nrdup -tmod
  same_report -clip 0 -a2nrng mixed main main everything
}

@test "the report is identical if other files have the names of the traced ones" {
  post -r "$made/swtrace.nrm2" -o . --json -clip 0
  other_files "$root" tprof.json
  [[ $(find "$root" -type f | wc -l) -gt 15 ]]
  same_report -clip 0 -off
}

@test "post -showxx lists the same records from the archive" {
  mkdir here
  post -r "$made/swtrace.nrm2" -o here -showxx
  cp "$made/swtrace.tar.zst" "$root/work/"
  on_other_machine "$root" -r /work/swtrace.tar.zst -showxx
  cmp here/post.show "$root/work/post.show"
}

@test "an archive made from the archive is identical" {
  post -r "$made/swtrace.nrm2" -o . --archive=first.tar.zst
  post -r first.tar.zst -o . --archive=second.tar.zst
  cmp first.tar.zst second.tar.zst
  mkdir here
  post -r "$made/swtrace.nrm2" -o here --json -clip 0
  cp second.tar.zst "$root/work/"
  on_other_machine "$root" -r /work/second.tar.zst --json -clip 0
  cmp here/tprof.json "$root/work/tprof.json"
}

@test "--archive-files packs the traced files" {
  tar -xf "$made/swtrace.tar.zst"
  cmp "files$(realpath "$programs/mixed")" "$programs/mixed"
  cmp trace.nrm2 "$made/swtrace.nrm2"
}

@test "symbols that genmsi saved give the same names as the files" {
  genmsi -r "$made/swtrace.nrm2" -o run.msi
  mkdir here
  post -r "$made/swtrace.nrm2" -o here -clip 0
  cp "$made/swtrace.nrm2" run.msi "$root/work/"
  on_other_machine "$root" -r /work/swtrace.nrm2 -lmrg /work/run.msi -clip 0
  # Hints name Debian packages of this machine, on the page and at the end; everything between is on names. Another test's Node may have
  # a map here.
  names() { sed -n '/^ Tprof Reports$/,$p' "$1" | awk '/^ Hint :/ { exit } /^ Symbols : \/tmp\/perf-/ { note = 1; next } note && /^ {12}/ { next } { note = 0; print }'; }
  [[ $(names here/tprof.out | wc -l) -gt 50 ]]
  diff <(names here/tprof.out) <(names "$root/work/tprof.out")
}
