#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Reports on a part of a real trace: a selection has exactly the numbers that the report on the whole trace has for it, and
# together with the opposite selection it has all ticks.

bats_require_minimum_version 1.5.0

setup_file() {
  export PATH="$BUILD_DIR/bin:$PATH"
  export made=$BATS_FILE_TMPDIR PITRACE_SOCKET=$BATS_FILE_TMPDIR/socket
  cd "$made" || return
  swtrace init -s 8 --source perf >init.log 2>&1 || { echo "no perf events here" >no-perf && return; }
  swtrace enable tprof dispatch
  swtrace setrate 1000
  swtrace on
  # Processes of three generations, with names that no other program has.
  cp "$(type -P bash)" family
  # shellcheck disable=SC2016 # the inner shells expand
  ./family -c 'echo $$ >family.pid; ./family -c "sha512sum $BUILD_DIR/bin/* >/dev/null; :"; "$BUILD_DIR/tests/calls" 1; :'
  sha256sum "$BUILD_DIR/bin/post" >/dev/null
  swtrace off
  swtrace get run.nrm2
  swtrace free
  post -r run.nrm2 -clip 0 --json -show -showt
  # As an archive with the symbols, which halves the time of each run of post.
  post -r run.nrm2 --archive
}

setup() {
  [[ ! -e $made/no-perf ]] || skip "needs perf events"
  cd "$BATS_TEST_TMPDIR" || return
}

# ticks OPTION...: prints the number of selected ticks; 0 if none.
ticks() {
  post -r "$made/run.tar.zst" -clip 0 --json "$@" >log 2>&1 || { grep -q 'none of the .* is selected' log && echo 0 && return; }
  jq .ticks tprof.json
}

# rows TITLE FILTER: prints the ticks of those rows of the report on all ticks that the jq filter
# selects.
rows() {
  jq --arg title "$1" "[.reports[] | select(.title == \$title) | .rows[] | $2 | .ticks] | add // 0" "$made/tprof.json"
}

# shown CONDITION: prints the number of ticks in post.show for which the awk condition on cpu and
# seconds is true.
shown() {
  awk "\$4 == \"10\" { cpu = \$3; seconds = \$7; if ($1) n++ } END { print n + 0 }" "$made/post.show"
}

# halves KIND WORD EXPECTED: the option must select EXPECTED ticks, and the opposite option the rest.
halves() {
  local all taken left
  all=$(jq .ticks "$made/tprof.json") taken=$(ticks "--$1" "$2") left=$(ticks "--no-$1" "$2")
  echo "$1 $2: $taken and $left of $all, expected $3"
  ((taken == $3 && taken + left == all && taken > 0 && left > 0))
}

@test "processes, threads, modules and symbols: a selection has the ticks of its rows, the opposite selection the rest" {
  halves process 'calls' "$(rows Process 'select(.name | test("^calls_[0-9a-f]+$"))')"
  halves process 'sha*sum' "$(rows Process 'select(.name | test("^sha[0-9]+sum_[0-9a-f]+$"))')"
  halves thread calls "$(rows Process_Thread '.children[] | select(.name | test("^tid_calls_[0-9a-f]+$"))')"
  halves module calls "$(rows Module 'select(.name | endswith("/calls"))')"
  halves module vmlinux "$(rows Module 'select(.name == "vmlinux")')"
  # No demangled name of a function ends in this letter.
  halves symbol '*e' "$(rows Module_Symbol '.children[] | select(.name | test("e$"))')"
}

@test "a command selects the process and its descendants" {
  local pid family before
  pid=$(<"$made/family.pid")
  family=$(jq --argjson root "$pid" -r '.processes as $all | def below($pids):
    ([$all[] | select(.parent as $p | $pids | index($p)) | .pid]) as $next
    | $pids + (if $next == [] then [] else below($next) end); below([$root])[]' "$made/tprof.json" |
    xargs printf '_%04x$|')
  (($(tr -cd '|' <<<"$family" | wc -c) >= 4)) # and the two programs
  halves command "$pid" "$(rows Process "select(.name | test(\"${family%|}\"))")"
  # The name applies from the exec on; programs that it executes later have other names.
  before=$(rows Process "select(.name | test(\"^(?!family_).*$(printf '_%04x' "$pid")\$\"))")
  (($(ticks --command "$pid") == $(ticks --command family) + before))
  (($(ticks --command family --process sha512sum) == $(ticks --process sha512sum)))
  [[ $(ticks --command family --process sha256sum) == 0 ]]
}

@test "seconds and CPUs: a selection has the ticks that post.show has there, the opposite selection the rest" {
  halves time 0.05-0.3 "$(shown 'seconds >= 0.05 && seconds < 0.3')"
  halves time -0.2 "$(shown 'seconds < 0.2')"
  halves time 0.2- "$(shown 'seconds >= 0.2')"
  (($(getconf _NPROCESSORS_ONLN) > 1)) || return 0
  halves cpus 0 "$(shown 'cpu == 0')"
  halves cpus 1- "$(shown 'cpu >= 1')"
  post -r "$made/run.nrm2" -showx --time 0.05-0.3 --no-cpus 0
  [[ $(awk '$4 == "10"' post.show | wc -l) == "$(shown 'seconds >= 0.05 && seconds < 0.3 && cpu != 0')" ]]
}

@test "options of different kinds must all match" {
  local both
  both=$(rows Process_Module 'select(.name | test("^calls_")) | .children[] | select(.name == "vmlinux")')
  (($(ticks --process calls --module vmlinux) == both))
  (($(ticks --process calls --no-module vmlinux) + both == $(ticks --process calls)))
  (($(ticks --process calls --process sha512sum) == $(ticks --process calls) + $(ticks --process sha512sum)))
}

@test "times off the CPU: the selected threads have the same times as in the report on all" {
  post -r "$made/run.nrm2" -offcpu -clip 0 --json=all.json
  post -r "$made/run.nrm2" -offcpu -clip 0 --json=some.json --command family
  post -r "$made/run.nrm2" -offcpu -clip 0 --json=rest.json --no-command family
  jq -S '.off_cpu.threads | sort_by(.process, .thread)[]' all.json >all
  jq -S -n '[inputs.off_cpu.threads[]] | sort_by(.process, .thread)[]' some.json rest.json >both
  cmp all both
  jq -s -e '.[0].off_cpu.dispatches == .[1].off_cpu.dispatches + .[2].off_cpu.dispatches
    and all(.[].off_cpu.dispatches; . > 0)' all.json some.json rest.json
  # Two ranges of time have together all dispatches, and all time except for the moment between
  # them.
  post -r "$made/run.nrm2" -offcpu -clip 0 --json=first.json --time -0.2
  post -r "$made/run.nrm2" -offcpu -clip 0 --json=last.json --time 0.2-
  jq -s -e 'def sum(f): [.off_cpu.threads[] | f] | add;
    (.[0].off_cpu.dispatches == .[1].off_cpu.dispatches + .[2].off_cpu.dispatches)
    and ((.[0] | sum(.running_ns)) - (.[1] | sum(.running_ns)) - (.[2] | sum(.running_ns)) | . >= 0 and . < 50e6)' \
    all.json first.json last.json
}

@test "a name that matches nothing is reported with similar names, and no report is made" {
  run post -r "$made/run.nrm2" --process cals
  [[ $status == 1 && ! -e tprof.out ]]
  [[ $output == *"error: none of the "*" ticks in "*" is selected"*"--process cals matches nothing in the trace; similar: "*calls* ]]
  run post -r "$made/run.nrm2" --process calls --symbol '*' --time 1000-
  [[ $status == 1 && $output == *"none of the "* ]]
  run post -r "$made/run.nrm2" -offcpu --process cals
  [[ $status == 1 && $output == *"no dispatches that are selected"*"--process cals matches nothing"* ]]
  run post -r "$made/run.nrm2" --process calls --no-process bogus
  [[ $status == 0 && $output == *"warning: --no-process bogus matches nothing"* ]]
  grep -q '^ Selects nothing : --no-process bogus' tprof.out
}

@test "the selection applies to both traces of --diff, and not to reports" {
  post -r "$made/run.nrm2" --json=some.json --process calls -clip 0
  run post --diff "$made/run.nrm2" "$made/run.nrm2" --process calls
  [[ $status == 0 && $output == *"Only : processes calls (--process)."* ]]
  [[ $output == *"TOTAL TICKS $(jq .ticks some.json | xargs printf '%17s %17s' "$(jq .ticks some.json)")"* ]]
  run post --diff some.json "$made/run.nrm2" --process calls
  [[ $status == 1 && $output == *"some.json is a report"* ]]
  # A report on a part is not compared as if it were on all ticks.
  run post --diff some.json "$made/run.nrm2" -clip 0
  [[ $status == 0 && $output == *"A contains part of the ticks: processes calls (--process)."* ]]
}

@test "run.tprof passes the options on, with unchanged blanks and wildcards" {
  cp "$made/run.nrm2" swtrace.nrm2
  # As in an installation, where it builds nothing.
  mkdir bin
  cp "$SOURCE_DIR"/scripts/{run.tprof,lib.sh,trace.sh,java.sh} bin
  ln -s "$BUILD_DIR/bin/post" bin/post
  run -0 bin/run.tprof -p -o . --process 'sha*sum' --no-process 'a name' --lines=0
  grep -q '^ Only : processes sha\*sum (--process).$' tprof.out
  grep -q '^ Only : all but processes a name (--no-process).$' tprof.out
  (($(jq .ticks tprof.json) == $(ticks --process 'sha*sum')))
  run bin/run.tprof -t --time 1-2 -- true
  [[ $status == 255 && $output == *"--time is about the report"* ]]
}
