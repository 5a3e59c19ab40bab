#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# JProf in real Java virtual machines: options, loading at start and later, detaching, and errors.

setup() {
  agent=$BUILD_DIR/lib/libjprof.so
  classes=$BUILD_DIR/tests/java
  if ! command -v java >/dev/null || [ ! -e "$agent" ]; then skip "needs a JDK"; fi
  ! readelf -d "$agent" | grep -qE 'NEEDED.*lib(a|t|ub)san' || skip "needs a build without sanitizers"
  cd "$BATS_TEST_TMPDIR" || return
  unset JPROFOPTS jprofopts JAVA_TOOL_OPTIONS _JAVA_OPTIONS
  check=$SOURCE_DIR/tests/support/check-jit-log
  pids=()
}

teardown() {
  ((${#pids[@]} == 0)) || kill -9 "${pids[@]}" 2>/dev/null || true
}

# wait_for TEXT FILE: waits until FILE contains TEXT; fails if the JVM ends.
wait_for() {
  local tries
  for ((tries = 0; tries < 6000; tries++)); do
    ! grep -qe "$1" "$2" || return 0
    kill -0 "$jvm" || return 1
    sleep 0.1
  done
  return 1
}

# steady OPTION...: starts a JVM that works until steady_end; its pid is in jvm, its output in out and err.
steady() {
  mkfifo in
  java "$@" -cp "$classes" Steady <in >out 2>err &
  jvm=$!
  pids+=("$jvm")
  exec 5>in
  wait_for ready out
}

steady_end() {
  exec 5>&-
  wait "$jvm"
  rm -f in
  grep -q '^done ' out
}

# attach OPTIONS: prints the agent's return code.
attach() {
  "$BUILD_DIR/bin/pitrace-attach" "$jvm" "$agent" "$1" >attached 2>&1 || true
  sed -n 's/.*return code: //p' attached
}
# attach_with_jcmd OPTIONS: the same with the JDK's program. Quotes keep it from taking words with "=" as its own options.
attach_with_jcmd() {
  jcmd "$jvm" JVMTI.agent_load "$agent" "\"$1\"" >attached
  sed -n 's/^return code: //p' attached
}

# entries DIRECTORY: the number of entries.
entries() { find "$1" -mindepth 1 -maxdepth 1 | wc -l; }

# found KEY: a number that check-jit-log printed.
found() { awk -v key="$1" '$1 == key { print $2 }' found; }

# found_at_least KEY NUMBER...
found_at_least() {
  while (($#)); do
    [ "$(found "$1")" -ge "$2" ] || {
      echo "$1: $(found "$1"), expected $2 at least"
      return 1
    }
    shift 2
  done
}

@test "help, allhelp and version print on stderr, and the JVM continues" {
  java -agentpath:"$agent"=help,version -cp "$classes" Replace 1 >out 2>err
  grep -q '^sum ' out
  grep -q '^  TPROF | ITRACE  *JITA2N' err
  grep -qE '^JProf [0-9]+\.[0-9]+\.[0-9]+$' err
  grep -q RTARCF err && return 1
  java -agentpath:"$agent"=ALLHELP -cp "$classes" Replace 1 >out 2>err
  grep -q RTARCF err
}

@test "the manual lists exactly the options that are refused" {
  java -agentpath:"$agent"=allhelp -version 2>err
  sed '1,/^Options of Performance Inspector/d' err | grep -E '^  [A-Z]' | tr -s ' ' '\n' | sort -u | grep . >refused
  [ "$(wc -l <refused)" -gt 60 ]
  sed '1,/that are refused/d; /^.Ss Attaching/,$d' "$SOURCE_DIR/docs/man/jprof.7" | sed -n 's/^\.It Cm //p' |
    tr ' ' '\n' | sort -u >manual
  diff refused manual
  # The manual also has all supported options.
  sed -n '/^  TPROF/,/^  VERSION/p' err | awk '{ print $1; if ($2 == "|") print $3 }' | sed 's/[[]*=.*//' | sort >known
  while read -r word; do grep -qE "^\.It Cm .*\b$word\b" "$SOURCE_DIR/docs/man/jprof.7"; done <known
}

@test "an unknown option is named and stops the JVM; so do a refused one, a bad value, and DETACH" {
  for bad in tprof,frobnicate scs_debug logpath= config=/none detach; do
    run java -agentpath:"$agent"="$bad" -cp "$classes" Replace 1
    echo "$output"
    [ "$status" -ne 0 ]
    [[ $output != *"sum "* ]]
    [[ $output == *"JProf: wrong options: the JVM is stopped"* ]]
  done
  run java -agentpath:"$agent"=tprof,frobnicate,also -cp "$classes" Replace 1
  [[ $output == *"'frobnicate'"*"'also'"* ]]
  # The terminal shows what it is, and does not do it.
  JPROFOPTS=$'tprof,\e]0;title\anew\nline' run java -agentpath:"$agent" -cp "$classes" Replace 1
  [[ $output == *"'\\x1b]0;title\\x07new\\x0aline'"* ]]
  compgen -G 'log-*' && return 1
  true
}

@test "-Xrunjprof is refused with the right form" {
  LD_LIBRARY_PATH=$BUILD_DIR/lib run java -Xrunjprof:tprof,logpath=/x -cp "$classes" Replace 1
  echo "$output"
  [ "$status" -ne 0 ]
  [[ $output == *"-agentlib:jprof=tprof,logpath=/x"* ]]
}

@test "without an option that records something JProf reports that, and the JVM continues" {
  LD_LIBRARY_PATH=$BUILD_DIR/lib run java -agentlib:jprof -cp "$classes" Replace 1
  [ "$status" -eq 0 ]
  [[ $output == *"no option says what to record"* ]]
}

@test "JPROFOPTS and an options file add options; later ones override earlier ones" {
  mkdir logs
  printf '// a comment\nlogpath=%s\nnothreadinfo, LOGPREFIX=mine\n' "$PWD/none" >options
  JPROFOPTS=logpath=$PWD/logs,nopidx,verbose LD_LIBRARY_PATH=$BUILD_DIR/lib \
    java -agentlib:jprof=tprof,config=options -cp "$classes" Replace 1 2>err
  [ "$(ls logs)" = mine-jita2n ]
  "$check" logs/mine-jita2n
  grep -q "JProf: the JVM ends; logs: '$PWD/logs/mine-jita2n': [0-9]* events" err
}

# one_linker: replaces names of method handles' linkers by the one that JProf writes.
one_linker() { sed -E 's/(java.lang.invoke.MethodHandle)\.(invokeBasic|linkTo[A-Z][a-z]*)\(.*/\1.<linker>/'; }

@test "with another user's rights JPROFOPTS is ignored" {
  [ "$(id -u)" -eq 0 ] || skip "needs root"
  java_home=$(java -XshowSettings:properties -version 2>&1 | sed -n 's/^ *java.home = //p')
  install -o nobody "$classes/launches" usual
  install -m 4755 -o nobody "$classes/launches" privileged
  chmod a+rx .
  for program in usual privileged; do
    JPROFOPTS=help jprofopts=help "./$program" "$java_home/lib/server/libjvm.so" "-agentpath:$agent=version" >out 2>"$program.err"
    [ "$(cat out)" = started ]
    grep -q '^JProf [0-9]' "$program.err"
  done
  grep -q CALLTREE usual.err
  [ "$(wc -l <privileged.err)" -eq 1 ]
}

@test "compiled code in the log equals the JVM's own log of compilations" {
  java -Xbatch -Xcheck:jni -XX:+UnlockDiagnosticVMOptions -XX:+LogCompilation -XX:LogFile=compilations \
    -agentpath:"$agent"=tprof,nopidx -cp "$classes" Replace 60 >out 2>err
  grep -v '^sum\|^round' out err && return 1
  "$check" log-jita2n log-jtnm >found
  cat found
  [ "$(found lost)" -eq 0 ]
  [ "$(found heads)" -eq 2 ]
  [ "$(found ends)" -eq 2 ]
  found_at_least compiled 150 dynamic 300 unloads 10 inlined 100 starts 4
  # Offsets are relative to the nmethod's header; the code ends where the first table begins.
  grep -oE "^<nmethod [^>]*>" compilations | gawk '
    function value(key,  parts) { return match($0, " " key "=.([^'\'']*)", parts) ? parts[1] : "" }
    function nearest(end, offset) { return offset != "" && offset + 0 > start && offset + 0 < end ? offset + 0 : end }
    { split(value("method"), method, " ")
      start = value("insts_offset") + 0
      end = nearest(nearest(nearest(value("size") + 0, value("metadata_offset")), value("oops_offset")), value("consts_offset"))
      printf "%x %x %s.%s%s\n", strtonum(value("address")) + start, end - start, gensub(/\./, "/", "g", method[1]), method[2],
        method[3] }' | sed -E 's/&lt;/</g; s/&gt;/>/g; s/&amp;/\&/g; s|/(0x[0-9a-f]+\.)|.\1|' | one_linker | sort >truth
  awk 'NF == 6 && $1 ~ /^[0-9a-f]{8}$/ && ($5 == 1 || $5 == 5) { print $3, $4, $6 }' log-jita2n | sort >ours
  [ "$(wc -l <truth)" -gt 150 ]
  diff truth ours >differences || { head -40 differences && false; }
}

@test "lines and inlined frames equal those of the class files" {
  java -Xbatch -agentpath:"$agent"=tprof,nopidx -XX:CompileCommand=quiet -XX:CompileCommand=inline,Steady.inner \
    -XX:CompileCommand=inline,Steady.middle -cp "$classes" Steady </dev/null
  "$check" log-jita2n log-jtnm
  # Lines as "BCI:LINE" for each method of Steady, from javap.
  javap -c -l -p -cp "$classes" Steady | gawk '
    /^  [a-z].*\(.*\).*;$/ { match($0, /([a-z]+)\(/, name) }
    /^ +line [0-9]+: [0-9]+$/ { printf "%s %x:%d\n", name[1], $3, $2 }' | sort >truth
  gawk '$2 == "method" && $5 ~ /^Steady\./ { match($5, /\.([a-z]+)\(/, name); names[$3] = name[1]; file[$4] }
    $2 == "lines" && $3 in names { for (i = 4; i <= NF; i++) print names[$3], $i }
    END { for (f in file) if (f != "Steady.java") print "wrong file", f }' log-jita2n | sort >ours
  [ "$(grep -c . ours)" -ge 8 ]
  # Methods that were never compiled are not in the log.
  awk 'NR == FNR { methods[$1]; next } $1 in methods' ours truth | diff - ours
  # outer, compiled by C2, contains code of inner, which middle calls at the same bytecode index as in javap; outer calls middle.
  javap -c -p -cp "$classes" Steady | gawk '/^  [a-z].*\(.*\).*;$/ { match($0, /([a-z]+)\(/, name) }
    /invokestatic.*Method (inner|middle):/ { printf "%s>%s@%x\n", name[1], gensub(/.*Method ([a-z]+):.*/, "\\1", 1), $1 }' |
    grep -E '^(outer|middle)>' | sort -u >truth
  gawk '$2 == "method" { name[$3] = gensub(/.*\.([^.(]*)\(.*/, "\\1", 1, $5) }
    NF == 6 && $1 ~ /^[0-9a-f]{8}$/ { within = $6 ~ /^Steady\.outer\(/; n = 0 }
    $2 == "frames" && within { for (i = 3; i <= NF; i++) {
        split($i, f, ":"); n++; method[n] = name[f[2]]; bci[n] = f[3]
        if (f[1] != "0") { p = strtonum("0x" f[1]); print method[p] ">" method[n] "@" bci[p] } } }' log-jita2n | sort -u >ours
  cat ours
  diff truth ours
}

@test "method names are written in UTF-8, converted from Java's modified UTF-8" {
  steady -agentpath:"$agent"=jita2n,nopidx
  steady_end
  # shellcheck disable=SC2016 # the name of a nested class
  grep -q ' Steady$Area\.面𠮷(J)J$' log-jita2n
  grep -qE '^[0-9a-f]{64}$' log-jita2n && return 1
  [ ! -e log-jtnm ]
}

# threads_of_jvm: "TID NAME" of the JVM's Java threads, from the JVM itself, without those that it hides from agents. The id is
# hexadecimal up to JDK 20.
threads_of_jvm() {
  jcmd "$jvm" Thread.print | grep -E '^".*" #[0-9]+ ' | grep -vE '^"(Attach Listener|Service Thread|Monitor Deflation Thread|Sweeper thread|C[12] CompilerThread[0-9]+)"' |
    sed -E 's/^"(.*)" #[0-9]+ .* nid=((0x)?[0-9a-f]+) .*/\2 \1/' | gawk '{ tid = sprintf("%x", strtonum($1)); sub(/^[^ ]* /, ""); gsub(/[ "]/, "_")
      print tid, $0 == "" || $0 == tid ? "_" : $0 }' | sort
}

@test "after late loading all compiled code and all threads are in the logs" {
  steady
  [ "$(attach_with_jcmd tprof,nopidx)" = 0 ]
  jcmd "$jvm" Compiler.codelist >list
  threads_of_jvm >truth
  [ "$(attach_with_jcmd detach)" = 0 ]
  "$check" log-jita2n log-jtnm >found
  cat found
  found_at_least compiled 60 existing 400 inlined 10 starts 8
  grep -q ' attached=late ' log-jita2n
  # Code that was compiled meanwhile may be in only one of the lists; code from before JProf was loaded is in both, with few
  # exceptions that were discarded meanwhile.
  awk 'NF == 6 && $1 ~ /^[0-9a-f]{8}$/ && $5 == 5 { print $3, $6 }' log-jita2n | sort >existing
  # "ID LEVEL STATE METHOD(ARGUMENTS)RESULT [HEADER, CODE - END]"
  sed -nE 's/^[0-9]+ +[0-9] +-?[0-9]+ ([^ ]+) \[0x[0-9a-f]+, 0x0*([0-9a-f]+) - .*/\2 \1/p' list | one_linker | LC_ALL=C grep -v '[^ -~]' | sort >list.now
  [ "$(wc -l <list.now)" -gt 50 ]
  awk 'NF == 6 && $1 ~ /^[0-9a-f]{8}$/ && ($5 == 5 || $5 == 1) { print $3 }' log-jita2n | sort -u >logged
  cut -d' ' -f1 list.now | sort -u | comm -23 - logged >missing
  head -20 missing
  [ ! -s missing ]
  # The same names: the JVM's list has dots between packages, signatures have slashes.
  awk 'NR == FNR { name[$1] = $2; next } $1 in name { a = name[$1]; b = $2; gsub(/\./, "/", a); gsub(/\./, "/", b); if (a != b) print a, b }' \
    list.now existing >wrong
  [ "$(wc -l <wrong)" -le 3 ] || { head -20 wrong && false; }
  awk '$5 == "START" { print $3, $4 }' log-jtnm | grep -v ' Attach_Listener$' | sort >ours
  diff truth ours
  grep -q '^[0-9a-f]* worker__one__of_two$' ours
  steady_end
}

@test "loading JProf again changes nothing, with other options it is refused; DETACH twice is not an error" {
  steady -agentpath:"$agent"=tprof,nopidx
  [ "$(attach tprof,nopidx)" = 0 ]
  [ "$(attach TPROF,nopidx,logpath="$PWD")" = 0 ]
  [ "$(attach tprof,nopidx,logpath=/tmp)" = 3 ]
  grep -q "JProf is already active.*'$PWD/log-jita2n'" err
  [ "$(attach jita2n,nopidx)" = 3 ]
  [ "$(attach detach)" = 0 ]
  [ "$(attach detach)" = 0 ]
  [ "$(attach tprof,nopidx)" = 0 ]
  steady_end
  "$check" log-jita2n log-jtnm >found
  [ "$(found heads)" -eq 4 ]
  [ "$(found ends)" -eq 4 ]
  [ "$(grep -o ' attached=[a-z]*' log-jita2n | tr -d '\n')" = ' attached=start attached=late' ]
}

@test "after loading and detaching twenty times no thread, no file and no event is left" {
  steady
  [ "$(attach tprof)" = 0 ]
  [ "$(attach detach)" = 0 ]
  threads=$(entries "/proc/$jvm/task") files=$(entries "/proc/$jvm/fd")
  java -cp "$classes" Attach "$jvm" "$agent" 19 jita2n,threadinfo detach
  [ "$(entries "/proc/$jvm/fd")" -le "$files" ]
  [ "$(entries "/proc/$jvm/task")" -le $((threads + 1)) ]
  size=$(stat -c %s log-jita2n_$jvm)
  steady_end
  [ "$(stat -c %s log-jita2n_$jvm)" -eq "$size" ]
  "$check" log-jita2n_$jvm log-jtnm_$jvm >found
  cat found
  [ "$(found heads)" -eq 40 ]
  [ "$(found ends)" -eq 40 ]
  [ "$(found lost)" -eq 0 ]
  # The same code is in the log after each loading.
  gawk '/^# head/ { n++ } / Steady\.outer\(I\)J$/ && NF == 6 { seen[n] } END { print length(seen); exit length(seen) != 20 }' log-jita2n_$jvm
}

@test "wrong options on attaching change nothing in the JVM" {
  steady
  # On the first attach the JVM opens files for itself.
  [ "$(attach version)" = 0 ]
  files=$(entries "/proc/$jvm/fd")
  for bad in frobnicate tprof,scs_debug logprefix=a/b config=/none; do
    [ "$(attach "$bad")" = 1 ]
  done
  grep -q "JProf: there is no option 'frobnicate'" err
  grep -q "JProf: option 'scs_debug' was for debugging the sampling" err
  [ "$(grep -c 'wrong options: nothing is changed' err)" -eq 4 ]
  [ "$(entries "/proc/$jvm/fd")" -le "$files" ]
  compgen -G 'log-*' && return 1
  steady_end
}

@test "a log directory that is missing or not writable is reported, and the JVM continues" {
  java -agentpath:"$agent=tprof,logpath=$PWD/none" -cp "$classes" Replace 1 >out 2>err
  grep -q '^sum' out
  grep -q "JProf: '$PWD/none/log-jita2n_[0-9]*' cannot be written: No such file or directory.*LOGPATH" err
  java -agentpath:"$agent"=tprof,logpath=/proc -cp "$classes" Replace 1 >out 2>err
  grep -q '^sum' out
  grep -q "JProf: '/proc/log-jita2n_[0-9]*' cannot be written" err
  steady
  [ "$(attach tprof,logpath="$PWD/none")" = 2 ]
  grep -q "$PWD/none/log-jita2n_$jvm' cannot be written" err
  [ "$(attach tprof)" = 0 ]
  steady_end
  "$check" log-jita2n_$jvm
}

@test "without permission to write the message names the remedy" {
  [ "$EUID" -eq 0 ] || skip "needs root to become another user"
  # shellcheck source=tests/support/other_user.bash
  source "$SOURCE_DIR/tests/support/other_user.bash"
  make_public "$agent"
  mkdir "$public/closed"
  run as_nobody java -agentpath:"$public/libjprof.so=tprof,logpath=$public/closed" -version
  rm -r "$public"
  echo "$output"
  [ "$status" -eq 0 ]
  [[ $output == *"cannot be written: Permission denied. Choose a directory that the user of this process may write to"* ]]
}

@test "a full disk is reported once and costs only names; the log marks the loss and continues when there is space" {
  unshare -m true 2>/dev/null || skip "needs root to mount a small file system"
  mkdir disk
  cat >script <<END
set -e
mount -t tmpfs -o size=2m none disk
dd if=/dev/zero of=disk/filler bs=1024 count=1700 status=none
java -agentpath:"$agent"=tprof,nopidx,logpath=disk -cp "$classes" Replace 400 >out 2>err &
until grep -q 'cannot be written (No space left on device)' err; do kill -0 \$! || exit 1; sleep 0.1; done
sleep 1
rm disk/filler
wait
cp disk/log-* .
END
  timeout 600 unshare -m bash script
  grep -q '^sum' out
  "$check" log-jita2n log-jtnm >found
  cat found err
  found_at_least lost 1 ends 1
  grep -q '^# lost ' log-jita2n
}

@test "a removed log is reported once, and the JVM continues" {
  mkdir gone
  steady -agentpath:"$agent"=jita2n,logpath=gone
  rm -r gone
  [ "$(attach nonsense)" = 1 ]
  steady_end
  [ "$(grep -c 'was removed: names from now on are lost' err)" -eq 1 ]
}

@test "the log of a killed JVM is complete except for its last line" {
  for pause in 0.5 1; do
    rm -f log-* out
    java -agentpath:"$agent"=tprof,nopidx -cp "$classes" Replace 100000 >out 2>err &
    jvm=$!
    pids+=("$jvm")
    wait_for 'round 50$' out
    sleep "$pause"
    kill -9 "$jvm"
    wait "$jvm" || true
    "$check" -v cut=1 log-jita2n >found
    cat found
    found_at_least compiled 150 unloads 1
    [ "$(found ends)" -eq 0 ]
    "$check" -v cut=1 log-jtnm
  done
}

@test "two JVMs in one directory write separate logs" {
  java -agentpath:"$agent"=tprof -cp "$classes" Replace 60 >out1 &
  first=$!
  java -agentpath:"$agent"=tprof -cp "$classes" Replace 60 >out2 &
  second=$!
  wait $first
  wait $second
  for pid in $first $second; do
    "$check" "log-jita2n_$pid" "log-jtnm_$pid" >found
    [ "$(found ends)" -eq 2 ]
    grep -q " Process_Number_ID=$pid\$" "log-jita2n_$pid"
    grep -q " pid=$pid pidns=$(stat -Lc %i /proc/self/ns/pid) " "log-jtnm_$pid"
  done
}

@test "the log of a JVM in a container has its namespace's ids; another JVM with the same id does not overwrite it" {
  unshare -pf true 2>/dev/null || skip "needs root to create namespaces"
  mkfifo in
  unshare -pf --mount-proc java -agentpath:"$agent"=tprof -cp "$classes" Steady <in >out 2>err &
  jvm=$!
  exec 5>in
  wait_for ready out
  inside=$(pgrep -P "$jvm")
  pids+=("$inside")
  unshare -pf --mount-proc java -agentpath:"$agent"=tprof -cp "$classes" Replace 1 >out2 2>err2
  grep -q '^sum' out2
  grep -q "log-jita2n_1' is being written by another process" err2
  [ "$(sed -n 's/^# head.* pid=1 pidns=\([0-9]*\) .*/\1/p' log-jita2n_1)" = "$(stat -Lc %i "/proc/$inside/ns/pid")" ]
  # Thread ids are those of the inner namespace.
  awk '$5 == "START" { print strtonum("0x" $3) }' log-jtnm_1 | sort -n >ours
  for task in /proc/"$inside"/task/*; do awk '$1 == "NSpid:" { print $NF }' "$task/status"; done | sort -n >truth
  [ "$(comm -13 <(sort truth) <(sort ours) | wc -l)" -eq 0 ]
  exec 5>&-
  wait "$jvm"
  "$check" log-jita2n_1 log-jtnm_1
}

@test "times are in the trace's clock, in a time namespace too" {
  unshare -T true 2>/dev/null || skip "needs root to create namespaces"
  clock() { java -cp "$classes" Steady </dev/null | sed -n 's/^ready //p'; }
  before=$(clock)
  java -agentpath:"$agent"=tprof,nopidx -cp "$classes" Steady </dev/null >out
  unshare -T --monotonic 100000 java -agentpath:"$agent"=tprof,nopidx,logprefix=inside -cp "$classes" Steady </dev/null >out2
  after=$(clock)
  grep -q ' clock=CLOCK_MONOTONIC offset=0 ' log-jita2n
  grep -q ' clock=CLOCK_MONOTONIC offset=100000000000000 ' inside-jita2n
  for log in log-jita2n inside-jita2n; do
    begun=$((16#$(sed -n 's/^# head.* begun=\([0-9a-f]*\) .*/\1/p' $log)))
    ended=$((16#$(sed -n 's/^# end \([0-9a-f]*\) \([0-9a-f]*\) exit$/\1\2/p' $log)))
    echo "$before $begun $ended $after"
    ((before < begun && begun < ended && ended < after))
  done
  # By the JVM's own clock: "ready" is after the log's beginning, "done" before its end.
  begun=$((16#$(sed -n 's/^# head.* begun=\([0-9a-f]*\) .*/\1/p' log-jita2n)))
  ended=$((16#$(sed -n 's/^# end \([0-9a-f]*\) \([0-9a-f]*\) exit$/\1\2/p' log-jita2n)))
  (($(sed -n 's/^ready //p' out) > begun && $(sed -n 's/^done //p' out) < ended))
}

@test "the agent depends only on the C library and exports only the functions that a JVM and hookit look for" {
  readelf -d "$agent" | grep NEEDED | grep -vE '\[(libc\.so\.6|libm\.so\.6|ld-linux-x86-64\.so\.2)\]' && return 1
  local probes='Java_java_lang_PitraceProbe_enter Java_java_lang_PitraceProbe_exit Java_java_lang_PitraceProbe_exitByException'
  [ "$(nm -D --defined-only "$agent" | awk '{ print $3 }' | sort | tr '\n' ' ')" = "Agent_OnAttach Agent_OnLoad JVM_OnLoad $probes pitrace_call_flow_1 " ]
}
