#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Call stacks of a program whose calls are known (progs/calls.c), compared with perf record -g in the same run.
# PROOF_SOURCE is perf (on this machine) or driver (in the lab).

# Kills the program if it still waits for a trace that could not be started.
teardown_file() { kill "$(cat "$BATS_FILE_TMPDIR/pid")" 2>/dev/null || true; }

setup() { cd "$BATS_FILE_TMPDIR" || return; }

# of_program FILTER: applies FILTER to each function of the program; prints "NAME RESULT", without the module.
of_program() {
  jq -r "(.name | sub(\":.*\"; \"\")) + \" \\($1)\"" of_calls
}

# check_points [POINTS]: each input line "NAME EXPECTED FOUND", in percent, differs by at most POINTS (default 2).
check_points() {
  awk -v points="${1:-2}" '{ printf "%s: %.2f %%, true %.2f %%\n", $1, $3, $2
    if ($3 < $2 - points || $3 > $2 + points) bad = 1 } END { exit bad || !NR }'
}

# true_shares: true if functions, callers and recursion levels have the shares that the program gives them, within a tolerance.
true_shares() {
  # An emulated processor does not run the same instructions at the same speed everywhere.
  local points=2
  if [[ $PROOF_SOURCE == driver ]]; then points=4; fi
  of_program '.inclusive) \(.exclusive' | awk '
    BEGIN { true["work"] = "100 0"; true["alpha"] = "20 10"; true["beta"] = "40 20"; true["shared"] = "30 30"; true["recurse"] = "40 40" }
    $1 == "main" { all = $2 }
    { inclusive[$1] = $2; exclusive[$1] = $3 }
    END { for (f in true) { split(true[f], t, " ")
        print f "-inclusive", t[1], 100 * inclusive[f] / all; print f "-exclusive", t[2], 100 * exclusive[f] / all } }' | check_points "$points" || return
  jq -r 'select(.name | startswith("shared:")) | .inclusive as $all | .callers[]
    | select(.name | test("^(alpha|beta):")) | "\(.name) \(if .name[:5] == "alpha" then 33.333 else 66.667 end) \(100 * .ticks / $all)"' \
    of_calls | check_points "$points" || return
  awk '{ ticks = $NF; levels = gsub(/;recurse/, "", $1); if (levels) { all += ticks; level[levels] += ticks } }
    END { for (l = 1; l <= 4; l++) print "level-" l, 25, 100 * level[l] / all }' stacks | check_points "$points"
}

# record RATE SECONDS: makes the trace and perf's recording, and post's reports of the trace.
record() {
  local rate=$1 seconds=$2 scope=()
  rm -f go control answer
  # The shell becomes the program when both traces are on.
  mkfifo go control answer
  bash -c 'read -r _ <go; exec "$@"' bash "${BUILD_DIR:?}/tests/calls" "$seconds" &
  local calls=$!
  echo "$calls" >pid
  # In the lab perf records only for the test of the tag lab:long.
  local perf=''
  if [[ $PROOF_SOURCE == perf || -n ${LAB_TAGS:-} ]]; then
    perf record -q -g -B -N -p "$calls" -F $((rate + 3)) -e cpu-clock -o perf.data -D -1 --control fifo:control,answer 2>perf.err &
    perf=$!
    timeout 300 sh -c 'echo enable >control; read -r _ <answer' || { cat perf.err && return 1; }
  fi
  # With perf, only the program is traced, since this machine may have other load.
  [[ $PROOF_SOURCE == driver ]] || scope=(--scope process --pid "$calls")
  swtrace init --source "$PROOF_SOURCE" -s 32 "${scope[@]}"
  swtrace enable tprof
  swtrace setrate "$rate"
  swtrace stacks both
  swtrace on
  echo >go
  wait "$calls"
  swtrace off
  swtrace get
  swtrace free
  [[ -z $perf ]] || wait "$perf" || { cat perf.err && return 1; }
  post -tree -folded --json -clip 0
  # The program's functions, since jq needs seconds for the whole file on an emulated processor, and its stacks, each followed by
  # its ticks.
  jq -c '.tree.functions[] | select(.name | endswith("/calls"))' tprof.json >of_calls
  sed -n 's/^calls_[0-9a-f]*;//p' tprof.folded >stacks
}

# Fewer ticks suffice for the wider tolerance in the lab.
enough_ticks() {
  local ticks wanted=10000
  if [[ $PROOF_SOURCE == driver && -z ${LAB_TAGS:-} ]]; then wanted=3000; fi
  ticks=$(of_program .inclusive | awk '$1 == "main" { print $2 }')
  echo "$ticks ticks"
  ((ticks >= wanted))
}

setup_file() {
  export PATH=${STAGE:?}/bin:$PATH LC_ALL=C PITRACE_SOCKET=$BATS_FILE_TMPDIR/socket
  cd "$BATS_FILE_TMPDIR" || return
  # An emulated processor is too slow for the higher rate.
  local rate=4000 seconds=5 try
  if [[ ${PROOF_SOURCE:?} == driver ]]; then rate=1000 seconds=13; fi
  if [[ $PROOF_SOURCE == driver && -z ${LAB_TAGS:-} ]]; then seconds=5; fi
  sysctl -q kernel.perf_cpu_time_max_percent=0 kernel.perf_event_max_sample_rate=100000 2>/dev/null || true
  # Other load on the machine takes time from the program, and not equally from its parts: then repeat it, for a longer
  # time.
  for try in 1 2 3; do
    record "$rate" $((seconds * try)) || return
    ! { enough_ticks && true_shares; } >/dev/null || break
  done
}

@test "every tick has a stack and is in the tree once" {
  jq -e '.ticks as $ticks | .tree.ticks == $ticks and .tree.stacks.with == $ticks and .tree.stacks.without == 0' tprof.json
  # A row's inclusive ticks are its own plus those of the rows that it contains.
  jq -r '.ticks, (.tree.rows[] | "\(.depth) \(.inclusive) \(.exclusive)")' tprof.json | awk '
    function end_of(depth) {
      for (; top >= depth; top--) if (inclusive[top] != exclusive[top] + below[top]) { print "row " NR; bad = 1 }
    }
    NR == 1 { ticks = $1; top = -1; next }
    { end_of($1); top = $1; inclusive[top] = $2; exclusive[top] = $3; below[top] = 0; below[top - 1] += $2; all += $3 }
    END { end_of(0); exit bad || all != ticks || below[-1] != ticks }'
  [ "$(awk '{ sum += $NF } END { print sum }' tprof.folded)" = "$(jq .ticks tprof.json)" ]
}

@test "inclusive and exclusive ticks follow from the stacks, and recursion counts once" {
  of_program '.inclusive) \(.exclusive' | sort >functions
  cat functions
  awk '{
      ticks = $NF; n = split($1, frame, ";"); split("", seen)
      for (i = 1; i <= n; i++) if (!(frame[i] in seen)) { seen[frame[i]]; inclusive[frame[i]] += ticks }
      exclusive[frame[n]] += ticks
    }
    END { for (f in inclusive) if (f ~ /^(main|work|alpha|beta|shared|recurse)$/) print f, inclusive[f], exclusive[f] + 0 }' \
    stacks | sort >expected
  grep -xf expected functions >same || true
  diff expected same
  [ "$(wc -l <expected)" = 6 ]
}

@test "every tick of the program is below main, in a stack that its calls can make" {
  # The caller is missing only in a function's first and last instructions, where its frame is not set up.
  awk '{
      ticks = $NF; text = ";" $1
      if (text !~ /;(main|work|alpha|beta|shared|recurse)(;|$)/) next
      all += ticks
      gsub(/;[^;]*_\[k\]/, "", text)
      if (text !~ /;main(;|$)/ && text !~ /^;[^;]*;work$/) { print "without main: " $0; bad = 1 }
      sub(/^.*;main/, "main", text)
      if (text ~ /^main(;work(;alpha(;shared)?|;beta(;shared)?|(;recurse)+)?)?(;clock_gettime[^;]*(;__vdso_clock_gettime)?)?$/) good += ticks
      else print "other: " $0
      levels = gsub(/;recurse/, "", text)
      if (levels > 4) { print "too deep: " $0; bad = 1 }
    }
    END { print good " of " all; exit bad || !all || good < 0.99 * all }' stacks
}

@test "shares of functions, callers and recursion levels equal those of the program, over thousands of ticks" {
  enough_ticks
  true_shares
}

# bats test_tags=lab:long
@test "perf record -g, run at the same time, reports the same shares within two points" {
  perf script -i perf.data --comm calls -F ip,sym 2>/dev/null | awk '
    function add(   f) {
      if (!("main" in seen)) { split("", seen); leaf = ""; return }
      for (f in seen) inclusive[f]++
      exclusive[leaf]++; split("", seen); leaf = ""
    }
    NF == 0 { add(); next }
    { if (leaf == "") leaf = $2; seen[$2] }
    END { add(); for (f in inclusive) if (f ~ /^(main|work|alpha|beta|shared|recurse)$/) print f, inclusive[f], exclusive[f] + 0 }' >theirs
  of_program '.inclusive) \(.exclusive' >ours
  awk '
    FILENAME == "theirs" { if ($1 == "main") perf = $2; them[$1] = $2; self[$1] = $3; next }
    $1 == "main" { all = $2 }
    { inclusive[$1] = $2; exclusive[$1] = $3 }
    END {
      print all " ticks, perf " perf >"/dev/stderr"
      if (perf < all / 2 || all < perf / 2) exit 1
      for (f in them) { print f "-inclusive", 100 * them[f] / perf, 100 * inclusive[f] / all
        print f "-exclusive", 100 * self[f] / perf, 100 * exclusive[f] / all }
    }' theirs ours >points
  [ "$(wc -l <points)" = 12 ]
  check_points <points
}

# run_programs DIRECTORY: profiles programs whose stacks end differently, in one run; on a machine with other load, which gives
# them less CPU time, for longer.
run_programs() {
  local seconds name all few
  for seconds in 1 6; do
    # shellcheck disable=SC2016
    run.tprof --source="$PROOF_SOURCE" --no-java -g fp -c 1000 --lines=0 --post='-clip 0' -o "$1" -- \
      sh -c 'cd "$1" && for name in starts framed unframed; do ./$name "$2" & done; wait' sh "$BUILD_DIR/tests" "$seconds"
    few=0
    for name in starts framed unframed; do
      read -r _ all < <(lines_of "$name" "$1" | ticks_of .)
      if ((all < 200)); then few=1; fi
    done
    ((few)) || return 0
  done
}

# lines_of PROGRAM [DIRECTORY]: the stacks in the program's own functions, which main() calls. The pattern excludes kernel
# functions whose names contain these.
lines_of() { sed -n "s/^$1_[0-9a-f]*;//p" "${2:-ends}/tprof.folded" | grep -E '(^|;)(in_thread|in_handler|[^;[]*total[^;[]*)[; ]'; }

# ticks_of PATTERN: prints the ticks of the matching input lines, and of all.
ticks_of() { awk -v pattern="$1" '$0 ~ pattern { some += $NF } { all += $NF } END { print some + 0, all + 0 }'; }

@test "stacks of the program are whole, though the C library keeps no frame pointers" {
  jq .tree.stacks tprof.json
  jq -e '.tree.stacks | .whole + .broken + .guessed + .cut == .with' tprof.json
  # The folded lines agree: marks are in stacks that are not whole, and only there.
  awk -v expected="$(jq '.tree.stacks | .broken + .cut' tprof.json)" '
    $1 ~ /;\[(broken|cut)\](_\[k\])?(;|$)/ { marked += $NF }
    END { print marked " of " expected; exit marked + 0 != expected }' tprof.folded
  awk '/\[(broken|cut)\]/ { print; marked += $NF } { all += $NF } END { exit marked > 0.01 * all }' stacks
}

@test "stacks by frame pointers: those of a C++ program are whole with them, and marked as broken without them" {
  local marked all
  run_programs ends
  jq -e '.tree.stacks | .whole + .broken + .guessed + .cut == .with' ends/tprof.json
  grep -q '^ Broken user stacks : ' ends/tprof.tree
  # Without the C library's own functions, which have no frame pointers in either program.
  read -r marked all < <(lines_of framed | ticks_of '\\[(broken|cut)\\]')
  echo "framed: $marked of $all"
  ((all >= 200 && marked == 0))
  read -r marked all < <(lines_of unframed | ticks_of '^\\[broken\\];')
  echo "unframed: $marked of $all"
  ((all >= 200 && marked * 100 > all * 95))
}

@test "stacks of threads and of signal handlers are whole" {
  local marked threads handlers all
  read -r marked all < <(lines_of starts | ticks_of '\\[(broken|cut)\\]')
  echo "$marked of $all"
  ((all >= 200 && marked * 100 < all))
  read -r threads all < <(lines_of starts | ticks_of '^((__)?clone3?;)?(start_thread|\\[libc[^;]*);thread;in_thread')
  read -r handlers all < <(lines_of starts | ticks_of ';main;thread;.*on_alarm;in_handler')
  echo "$threads in the thread, $handlers in the handler, of $all"
  ((threads * 5 > all && handlers > 0))
}

# The C library's own functions have names only on machines with its debug files.
@test "stacks are whole also without names for the C library's own functions" {
  local marked all
  [ "$(id -u)" -eq 0 ] || skip "needs root to hide debug files"
  mkdir -p unnamed
  # shellcheck disable=SC2016
  unshare -m sh -c 'if [ -d /usr/lib/debug ]; then mount -t tmpfs none /usr/lib/debug; fi; exec "$@"' sh \
    post -r ends/swtrace.nrm2 -o unnamed -folded -clip 0
  # The kernel has a function of that name too, marked with _[k].
  [ "$(grep -cE ';start_thread(;| )' unnamed/tprof.folded)" = 0 ]
  { lines_of starts unnamed && lines_of framed unnamed; } >unnamed/lines
  read -r marked all < <(ticks_of '\\[(broken|cut)\\]' <unnamed/lines)
  echo "$marked of $all"
  grep -E '\[(broken|cut)\]' unnamed/lines || true
  ((all >= 500 && marked * 100 < all))
}

# The program's own frames below main(), by the functions of its source; the C and C++ libraries' are left out.
own_frames() {
  sed -n 's/^whole_[0-9a-f]*;//p' whole/tprof.folded | awk '{
    ticks = $NF; sub(/ [0-9]+$/, ""); n = split($0, frame, ";"); path = ""; inside = 0
    for (i = 1; i <= n; i++) {
      name = frame[i]
      if (name == "main") inside = 1
      if (!inside) continue
      if (name ~ /Circle/) name = "Circle"
      if (name ~ /Square/) name = "Square"
      if (name ~ /lambda.*_M_invoke/) name = "lambda"
      sub(/\.cold$/, "", name)
      if (name ~ /^(main|work|Circle|Square|leaf|with_lambda|lambda|catcher|thrower|deep|sort_pair|compare)$/) path = path name " "
    }
    if (inside) print ticks, path
  }'
}

# profile DIRECTORY SECONDS BYTES COMMAND: profiles programs whose stacks need unwind tables, with so many bytes of each stack, and
# makes the reports. The shell command gets the folder of the programs and the seconds. On an emulated processor a table is made in
# seconds, for which stacks wait in limited memory: a first trace of the same recorder has them made.
profile() {
  local directory=$1 seconds=$2 bytes=$3 command=$4 rate=2000 each
  if ((bytes > 16384)); then rate=500; fi
  if [[ $PROOF_SOURCE == perf ]]; then
    run.tprof --source=perf --no-java -g --stack-bytes "$bytes" -c "$rate" --lines=0 --post='-clip 0' -o "$directory" -- \
      sh -c "$command" sh "$BUILD_DIR/tests" "$seconds"
    return
  fi
  mkdir -p "$directory"
  swtrace init --source driver -s 64
  swtrace enable tprof
  swtrace stacks both -depth 1023 -bytes "$bytes"
  for each in 1 "$seconds"; do
    swtrace setrate "$((each > 1 ? rate / 2 : 100))"
    swtrace on
    sh -c "$command" sh "$BUILD_DIR/tests" "$each"
    swtrace off
  done
  swtrace get "$directory/swtrace.nrm2"
  swtrace free
  post -r "$directory/swtrace.nrm2" -o "$directory" -folded -tree -clip 0
}

@test "stacks of a C++ program without frame pointers are whole: known callers only, shares within two points" {
  local seconds all=0 tries=(2 8)
  if [[ $PROOF_SOURCE == driver ]]; then tries=(6 20); fi
  for seconds in "${tries[@]}"; do
    # shellcheck disable=SC2016
    profile whole "$seconds" 16384 'cd "$1" && { ./starts "$2" & ./whole "$2"; wait; }'
    own_frames >own
    all=$(awk '{ all += $1 } END { print all + 0 }' own)
    ((all < 3000)) || break
  done
  echo "$all ticks"
  ((all >= 2000))
  # Its first ticks can be in the loader, before main().
  sed -n 's/^whole_[0-9a-f]*;//p' whole/tprof.folded | awk '
    /^\[(broken|cut)\]/ { print; marked += $NF } { all += $NF } END { exit marked > 0.01 * all }'
  awk '{
      for (i = 3; i <= NF; i++) pair[$(i - 1) " " $i] += $1
      split("", seen); for (i = 2; i <= NF; i++) seen[$i]; for (f in seen) inclusive[f] += $1
      all += $1
    }
    END {
      n = split("main work,work Circle,work Square,work with_lambda,work catcher,work deep,work sort_pair,Circle leaf," \
        "Square leaf,with_lambda lambda,catcher thrower,deep deep,sort_pair compare", allowed, ",")
      for (i = 1; i <= n; i++) known[allowed[i]]
      for (p in pair) if (!(p in known)) { print "never calls: " p " " pair[p] >"/dev/stderr"; bad = 1 }
      true["work"] = 100; true["Circle"] = 15; true["Square"] = 15; true["leaf"] = 15; true["with_lambda"] = 10
      true["lambda"] = 10; true["catcher"] = 10; true["thrower"] = 5; true["deep"] = 20; true["sort_pair"] = 10; true["compare"] = 10
      for (f in true) print f, true[f], 100 * inclusive[f] / all
      exit bad
    }' own >points
  check_points <points
  # All levels of the recursion are there, the innermost as often as the others.
  awk '{ levels = gsub(/deep/, ""); if (levels > 100) bad = 1; if (levels) { all += $1; if (levels > 50) deep += $1 } }
    END { print deep " of " all " in the inner half"; exit bad || deep < 0.4 * all || deep > 0.6 * all }' own
}

@test "stacks of threads and of signal handlers are whole by unwind tables" {
  local marked threads handlers all
  read -r marked all < <(lines_of starts whole | ticks_of '\\[(broken|cut)\\]')
  echo "$marked of $all"
  ((all >= 200 && marked * 100 < all))
  read -r threads all < <(lines_of starts whole | ticks_of '^((__)?clone3?;)?(start_thread|\\[libc[^;]*);thread;in_thread')
  read -r handlers all < <(lines_of starts whole | ticks_of ';main;thread;.*on_alarm;in_handler')
  echo "$threads in the thread, $handlers in the handler, of $all"
  ((threads * 5 > all && handlers > 0))
}

@test "the stacks of a thread are whole after the first thread of its process has ended" {
  local marked all
  # shellcheck disable=SC2016
  profile leave 2 16384 '"$1/starts" "$2" leave'
  read -r marked all < <(lines_of starts leave | ticks_of '\\[(broken|cut)\\]')
  echo "$marked of $all"
  ((all >= 100 && marked * 50 < all))
}

@test "below a signal handler with a stack of its own are the functions that it has interrupted" {
  local whole cut all marked='_\\[g\\]'
  # shellcheck disable=SC2016
  profile alternate 2 16384 '"$1/starts" "$2" alternate'
  sed -n '/;on_alarm;in_handler/s/^starts_[0-9a-f]*;//p' alternate/tprof.folded >handlers
  # The module copies the interrupted stack with the other one. With perf it is read after the tick, when the thread is usually
  # still in the handler: its frames are guesses.
  if [[ $PROOF_SOURCE == driver ]]; then marked=''; fi
  read -r whole all < <(ticks_of "(^|;)main$marked;thread$marked;.*on_alarm;in_handler" <handlers)
  read -r cut _ < <(ticks_of '^\\[cut\\]' <handlers)
  echo "$whole of $all ticks in the handler are below main, $cut are cut"
  ((all >= 100 && (whole + cut) * 50 >= all * 49))
  if [[ $PROOF_SOURCE == driver ]]; then
    ((whole * 50 >= all * 49))
  else
    # Those for which the handler had returned before the stack was read are cut.
    ((whole * 3 >= all))
  fi
}

@test "a recursion 200 or 1,000 deep has every level in each stack, below main" {
  local levels bytes seconds=2
  if [[ $PROOF_SOURCE == driver ]]; then seconds=6; fi
  for levels in 200 1000; do
    # A level needs 16 bytes.
    bytes=16384
    if ((levels == 1000)); then bytes=24576; fi
    # shellcheck disable=SC2016
    profile "levels$levels" "$seconds" "$bytes" "\"\$1/levels\" $levels \"\$2\""
    sed -n 's/^levels_[0-9a-f]*;//p' "levels$levels/tprof.folded" | awk -v wanted="$levels" '
      /;bottom[; ]/ {
        ticks = $NF; all += ticks; sub(/;bottom[; ].*/, ""); text = $0; levels = gsub(/;descend/, "", text)
        if (levels == wanted && text ~ /(^|;)main$/ && text !~ /\[(broken|cut)\]/) good += ticks
        else print levels " levels, " ticks " ticks: " text
      }
      END { print good + 0 " of " all + 0 " have " wanted " levels"; exit !(all >= 300 && good == all) }'
  done
}
