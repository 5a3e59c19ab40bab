#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Debian 13 in a root of its own: g++ 14, clang 19, JDK 21 and 25. The root is made once, in pitrace's cache.

bats_require_minimum_version 1.5.0

setup_file() {
  [ "$(id -u)" -eq 0 ] || skip "needs root, for debootstrap and chroot"
  root=${PITRACE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/pitrace}/roots/trixie
  # A copy of the sources, whose build folder belongs to the root's compiler: the scripts use that folder too.
  work=${TRIXIE_BUILDS:-$BATS_FILE_TMPDIR} # a folder that is kept saves the builds of the next run
  source=$work/source
  export root work source
  "$SOURCE_DIR/scripts/install-deps" fresh
  mkdir -p "$source"
  cd "$work" || return
  (cd "$SOURCE_DIR" && git ls-files -z --cached --others --exclude-standard | tar --null -T - -cf - .git) | tar -C "$source" -xf -
  if [ ! -e "$root" ]; then
    # shellcheck source=tests/support/debian_root.bash
    source "$SOURCE_DIR/tests/support/debian_root.bash"
    rm -rf "$root.new"
    make_debian_root trixie "$root.new"
    mv "$root.new" "$root"
  fi
  # The release's own package of Java is JDK 21.
  in_root 21 "$source/scripts/install-deps" build module lab test java
  in_root 21 env DEBIAN_FRONTEND=noninteractive apt-get -qq install --no-install-recommends openjdk-25-jdk-headless >&2 </dev/null
}

setup() {
  # shellcheck source=tests/support/profile.bash
  source "$SOURCE_DIR/tests/support/profile.bash"
  cd "$BATS_TEST_TMPDIR" || return
}

# in_root JDK COMMAND...: runs the command in the root, with that version of Java. Folders of the test have the same paths there.
in_root() {
  local jdk=$1
  shift
  env -i HOME=/root TERM=dumb LC_ALL=C.UTF-8 DEBUGINFOD_URLS= PITRACE_WERROR=1 ${http_proxy:+http_proxy="$http_proxy"} \
    SOURCE_DIR="$source" BATS_TEST_TMPDIR="${BATS_TEST_TMPDIR:-}" \
    PATH="/usr/lib/jvm/java-$jdk-openjdk-amd64/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin" \
    "$SOURCE_DIR/scripts/lab.d/in-root" "$root" /sys "$BATS_RUN_TMPDIR" "$work" -- "$@"
}

# build DIRECTORY OPTION...: builds everything there with these options of cmake, with warnings as errors.
build() {
  local directory=$1
  shift
  (cd "$source" && in_root 21 cmake --preset dev -B "$directory" "$@") >configure.log 2>&1 || { cat configure.log; return 1; }
  in_root 21 grep -q '^PITRACE_WERROR:BOOL=ON' "$directory/CMakeCache.txt"
  in_root 21 cmake --build "$directory" >build.log 2>&1 || { tail -n 50 build.log; return 1; }
}

# tests DIRECTORY LABELS: runs the unit tests, and those of CTest with these labels (a regular expression).
tests() {
  local result=0
  # shellcheck disable=SC2016 # the inner shell expands it
  in_root 21 sh -c 'for program in "$0"/tests/*_test; do "$program" --gtest_brief=1 || failed=1; done; [ -z "${failed-}" ]' "$1" || result=1
  in_root 21 ctest --test-dir "$1" --output-on-failure --no-tests=error -j 4 -L "$2" || result=1
  return "$result"
}

@test "g++ 14 builds everything without a warning" {
  build "$source/build"
  in_root 21 cmake --install "$source/build" --prefix "$source/build/stage" >/dev/null
}

@test "unit, golden and command-line tests pass with JDK 21" {
  tests "$source/build" '^(golden|cli)$'
}

@test "clang 19 builds everything without a warning; unit and golden tests pass" {
  in_root 21 clang --version | grep -q 'version 19\.'
  build "$work/clang" -DCMAKE_C_COMPILER=clang -DCMAKE_CXX_COMPILER=clang++
  tests "$work/clang" '^golden$'
}

# host_tests JDK NAME...: accuracy tests with that version of Java.
host_tests() {
  local jdk=$1 regex
  shift
  regex=$(IFS='|' && echo "$*")
  in_root "$jdk" ctest --test-dir "$source/build" --output-on-failure --no-tests=error -j 1 -R "^(stage|host/($regex))\$"
}

@test "JDK 21: names of methods and threads, attaching, and HotSpot's own probes" {
  in_root 21 java -version 2>&1 | grep -q '"21\.'
  host_tests 21 java java_agent java_truth
}

@test "JDK 25: names of methods and threads, attaching, and HotSpot's own probes" {
  in_root 25 java -version 2>&1 | grep -q '"25\.'
  in_root 25 ctest --test-dir "$source/build" --output-on-failure --no-tests=error -R '^cli/(jprof.*|attach|jperf|log_hd|rtdriver)$'
  host_tests 25 java java_agent java_truth
}

@test "JDK 21 and 25: the long tests of calls, locks and samples" {
  local jdk
  for jdk in 21 25; do in_root "$jdk" ctest --test-dir "$source/build" --output-on-failure --no-tests=error -R '^long/(jprof|cli-jprof_.*)$'; done
}

# profile JDK DIRECTORY JAVA-ARGUMENT...
profile() {
  local jdk=$1 directory=$2
  shift 2
  in_root "$jdk" "$source/build/stage/bin/run.tprof" --source=perf -c 2000 -b 64 -o "$PWD/$directory" --lines=0 \
    --post='-clip 0' -- java "$@"
}

# all_named DIRECTORY LEAST PREFIX: of at least LEAST ticks in code that the JVM generated, none is without a name. Code outside
# of files has a name or the name of its mapping. PREFIX: of the name of one of the program's methods.
all_named() {
  process_symbols "$1/tprof.json" java "$3" | awk -v least="$2" '
    $NF == "JITCODE" || $NF == "GENERATED_CODE" { named += $1; next }
    $NF !~ /^(\/|\[?v(mlinux|dso|syscall)|.*\.ko)/ && $2 ~ /^NoSymbol/ { print "without a name: " $0; unnamed += $1 }
    END { printf "%d ticks with a name, %d without\n", named, unnamed; exit !(named >= least && unnamed == 0) }'
}

@test "10,000 virtual threads: each tick shows the carrier and the virtual thread that it carried" {
  local jdk
  for jdk in 21 25; do
    in_root "$jdk" javac -d "classes$jdk" "$source/tests/progs/java/VirtualThreads.java"
    profile "$jdk" "out$jdk" -cp "classes$jdk" VirtualThreads 10000 20 100000 request- >said
    cat said
    all_named "out$jdk" 300 VirtualThreads
    # Of the ticks in spin() nearly all are in a virtual thread; HotSpot reports it some microseconds after it runs.
    jq -r '.reports[] | select(.title == "Process_Thread_Module_Symbol") | .rows[] | select(.name | test("^java_"))
      | .children[] | .name as $thread | .children[].children[]? | "\(.ticks) \(.name) \($thread)"' "out$jdk/tprof.json" |
      awk '$2 ~ /VirtualThreads\.spin/ { all += $1; if ($3 ~ /^tid_ForkJoinPool-1-worker-[0-9]+\/#[0-9]+,request-[0-9]+_/) { carried += $1; seen[$3] } }
        END { printf "%d of %d ticks in %d virtual threads\n", carried, all, length(seen); exit !(all > 300 && carried > 0.97 * all && length(seen) > 100) }'
    in_root "$jdk" "$source/tests/support/check-jit-log" "$PWD/out$jdk"/log-jita2n_* "$PWD/out$jdk"/log-jtnm_* | tee found
    [ "$(awk '$1 == "mounts" { print $2 }' found)" -ge 200000 ]
  done
}

# Compact object headers are a product option of JDK 25.
@test "javac of 400 classes with each garbage collector: each tick in its code has a name" {
  local jdk options
  # shellcheck source=tests/support/classes.bash
  source "$SOURCE_DIR/tests/support/classes.bash"
  mkdir sources
  make_classes 400 sources
  for jdk in 21 25; do
    for options in -XX:+UseSerialGC -XX:+UseParallelGC -XX:+UseG1GC -XX:+UseZGC -XX:+UseShenandoahGC \
      '-XX:+UseZGC -XX:+ZGenerational' '-XX:+UseG1GC -XX:+UseCompactObjectHeaders'; do
      [[ $jdk != 21 || $options != *Compact* ]] || continue
      [[ $jdk != 25 || $options != *ZGenerational* ]] || continue
      rm -rf out classes
      mkdir classes
      echo "JDK $jdk $options"
      # shellcheck disable=SC2086 # one or two options
      profile "$jdk" out $options -m jdk.compiler/com.sun.tools.javac.Main -nowarn -d classes sources/*.java >said 2>&1 || { cat said; return 1; }
      all_named out 500 com/sun/tools/javac
    done
  done
}
