#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Names of functions without symbols: from their bounds and from debuginfod servers; and the hints
# of post. Traces are made from text, so that each tick is known.

bats_require_minimum_version 1.5.0

setup_file() {
  export PATH="$BUILD_DIR/bin:$BUILD_DIR/tests:$PATH" made=$BATS_FILE_TMPDIR
  cd "$made" || return
  cat >app.c <<'END'
__attribute__((noinline)) static int inner(int n) { return n * 3 + 1; }
__attribute__((noinline)) int hot(int n) {
  int sum = 0;
  for (int i = 0; i < n; ++i) sum += inner(i);
  return sum;
}
int main(int argc, char **argv) { return hot(argc) + (argv == 0); }
END
  gcc -O1 -g -fno-inline -Wl,--build-id -o whole app.c
  mkdir debug bin
  objcopy --only-keep-debug whole debug/app.debug
  strip --strip-all -o bin/app whole
  build_id=$(readelf -n whole | awk '/Build ID/ { print $3 }')
  export build_id
  trace_text | text_trace >app.nrm2
}

# A position-independent program is mapped at the addresses in its file plus 0x10000.
trace_text() {
  local start base offset i
  read -r offset base _ < <(readelf -lW bin/app | awk '$1 == "LOAD" && / R E / { print $2, $3 }')
  echo "build-id $build_id $made/bin/app"
  echo "section mte 0"
  echo "1 name 0x20 app"
  printf '1 module 0x20 %#x 0x1000 %#x %s\n' $((base + 0x10000)) $((offset)) "$made/bin/app"
  echo "section trace 0"
  start=$(address_of hot)
  for i in {1..8}; do printf '%d00 tick user 0x20 0x20 %#x\n' "$i" $((start + 0x10000 + 4)); done
  printf '900 tick user 0x20 0x20 %#x\n' $(($(address_of inner) + 0x10000))
  printf '1000 tick user 0x20 0x20 %#x\n' $(($(address_of main) + 0x10000))
}

address_of() { nm "$made/whole" | awk -v name="$1" '$3 == name { print "0x" $1 }'; }
bracketed() { printf '[app+%#x]' "$(address_of "$1")"; }

setup() {
  cd "$BATS_TEST_TMPDIR" || return
  export XDG_CACHE_HOME=$BATS_TEST_TMPDIR/cache
}

teardown() {
  [[ ! -e server.pid ]] || kill "$(cat server.pid)" 2>/dev/null || true
}

symbols() { jq -r '.reports[] | select(.title == "Module_Symbol") | .rows[].children[] | "\(.ticks) \(.name)"' tprof.json; }

@test "ticks of a stripped program are divided by function, and count as ticks without a symbol" {
  run -0 post -r "$made/app.nrm2" -clip 0 --json
  diff <(symbols) - <<END
8 $(bracketed hot)
1 $(bracketed inner)
1 $(bracketed main)
END
  jq -e '.unresolved.no_symbol == 10' tprof.json
}

@test "-nsf and -compat keep the classic names" {
  post -r "$made/app.nrm2" -clip 0 --json -nsf
  [[ $(symbols) =~ ^"10 NoSymbol"[A-Za-z]*$ ]]
  post -r "$made/app.nrm2" -clip 0 --json -compat
  [[ $(symbols) == "10 <<.text>>" ]]
}

@test "an archive gives the same names and hints on a machine without the program" {
  post -r "$made/app.nrm2" --archive
  post -r "$made/app.nrm2" -o . --json
  mv tprof.out here.out
  mv "$made/bin" "$made/away"
  run post -r app.tar.zst
  mv "$made/away" "$made/bin"
  [ "$status" -eq 0 ]
  diff here.out tprof.out
  grep -F "$(bracketed hot)" tprof.out
}

@test "a program without symbols has a hint with the remedy" {
  post -r "$made/app.nrm2" --json
  jq -e --arg file "$made/bin/app" '.hints | length == 1 and (.[0] | .program == "app" and .ticks == 10 and
    .unnamed_ticks == 10 and (.text | contains($file + " lacks symbols") and contains("DEBUGINFOD_URLS")))' tprof.json
  grep -q '^ Hint : 100 % of the ticks of app have no name' tprof.out
}

@test "a program with symbols has no hint" {
  mkdir -p "tree/.build-id/${build_id:0:2}"
  cp "$made/debug/app.debug" "tree/.build-id/${build_id:0:2}/${build_id:2}.debug"
  run -0 post -r "$made/app.nrm2" --json -sympath "$PWD/tree"
  jq -e '.hints == [] and .unresolved.no_symbol == 0' tprof.json
}

# ---- debuginfod ----

# Starts a server for the debug files of $made on a free port, and sets DEBUGINFOD_URLS to it.
serve() {
  command -v debuginfod >/dev/null || skip "needs debuginfod (scripts/install-deps test)"
  local port
  for _ in {1..20}; do
    port=$((20000 + RANDOM % 30000))
    debuginfod -p "$port" -d "$PWD/server.sqlite" -F "$made/debug" >server.log 2>&1 3>&- &
    echo $! >server.pid
    # It listens before it has scanned its files: repeat the request until it has the file.
    until grep -q "failed to\|already in use\|cannot open" server.log || ! kill -0 "$(cat server.pid)" 2>/dev/null; do
      if [[ $(DEBUGINFOD_CACHE_PATH=$PWD/probe$RANDOM DEBUGINFOD_URLS=http://127.0.0.1:$port \
        debuginfod-find debuginfo "$build_id" 2>/dev/null) ]]; then
        export DEBUGINFOD_URLS=http://127.0.0.1:$port
        return
      fi
      sleep 0.3
    done
    kill "$(cat server.pid)" 2>/dev/null || true
  done
  cat server.log
  return 1
}

@test "symbols and lines are fetched from a debuginfod server and kept in its client's cache" {
  serve
  run -0 --separate-stderr post -r "$made/app.nrm2" -clip 0 --json -off
  [[ -z $stderr ]]
  diff <(symbols) - <<'END'
8 hot
1 inner
1 main
END
  grep -q "F: .*app\.c" tprof.micro
  [[ -s cache/debuginfod_client/$build_id/debuginfo ]]
  kill "$(cat server.pid)"
  run -0 post -r "$made/app.nrm2" -clip 0 --json
  [[ $(symbols | head -1) == "8 hot" ]]
}

# loads_client URLS POST-ARGUMENT...: returns whether post loads the client's library.
loads_client() {
  local urls=$1
  shift
  DEBUGINFOD_URLS=$urls LD_DEBUG=files post "$@" 2>&1 | grep -q 'file=libdebuginfod'
}

@test "without DEBUGINFOD_URLS, and for saved symbols, no file is requested" {
  loads_client http://127.0.0.1:1 -r "$made/app.nrm2"
  run loads_client '' -r "$made/app.nrm2"
  [[ $status -eq 1 ]]
  DEBUGINFOD_URLS='' post -r "$made/app.nrm2" --archive
  rm -f tprof.out
  run loads_client http://127.0.0.1:1 -r app.tar.zst
  [[ $status -eq 1 && -s tprof.out ]]
}

@test "an unreachable server is reported in a note, and gets one request" {
  DEBUGINFOD_URLS=http://127.0.0.1:1 run -0 post -r "$made/app.nrm2" -clip 0 --json
  jq -e '[.symbol_notes[] | select(startswith("debuginfod (http://127.0.0.1:1)"))] | length == 1' tprof.json
  [[ $(symbols | head -1) == "8 $(bracketed hot)" ]]
}

# Starts a server without files, which logs the requests.
serve_files() {
  local port=$((20000 + RANDOM % 30000))
  python3 -m http.server "$port" --bind 127.0.0.1 >server.log 2>&1 3>&- &
  echo $! >server.pid
  until (: <>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; do kill -0 $! && sleep 0.2; done
  export DEBUGINFOD_URLS=http://127.0.0.1:$port
}

@test "a file that a debug file refers to is requested, too" {
  mkdir -p "buildid/$build_id"
  printf 'common.debug\0\001\002\003\004' >alternative
  objcopy --add-section .gnu_debugaltlink=alternative "$made/debug/app.debug" "buildid/$build_id/debuginfo"
  serve_files
  run -0 post -r "$made/app.nrm2" -clip 0 -off
  grep -q "F: .*app\.c" tprof.micro
  grep -q "GET /buildid/$build_id/debuginfo" server.log
  grep -q "GET /buildid/01020304/debuginfo" server.log
}

@test "a terminal shows the progress of a transfer" {
  local port=$((20000 + RANDOM % 30000))
  python3 - "$port" >server.log 2>&1 3>&- <<'END' &
import http.server, sys, time
class Slow(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.send_header('Content-Length', str(6 << 20))
        self.end_headers()
        for _ in range(6):
            self.wfile.write(bytes(1 << 20))
            time.sleep(0.5)
http.server.HTTPServer(('127.0.0.1', int(sys.argv[1])), Slow).serve_forever()
END
  echo $! >server.pid
  until (: <>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; do kill -0 $! && sleep 0.2; done
  DEBUGINFOD_URLS=http://127.0.0.1:$port script -qec "post -r $made/app.nrm2 --json" screen >/dev/null
  grep -qE "debuginfod: [1-5] of 6 MiB for $made/bin/app" screen
  jq -e '.symbol_notes | any(contains("debuginfod has sent is not used: ") and contains("not an ELF file"))' tprof.json
}

@test "a file that is not the debug file of the build-id is not used" {
  mkdir -p "buildid/$build_id"
  cp /bin/true "buildid/$build_id/debuginfo"
  serve_files
  run -0 post -r "$made/app.nrm2" -clip 0 --json
  jq -e '.symbol_notes | any(contains("debuginfod has sent is not used: it has another build-id"))' tprof.json
  [[ $(symbols | head -1) == "8 $(bracketed hot)" ]]
}

# These symbols are not compressed; archive.bats damages those of a recording, which are.
@test "damaged symbols of the kernel are counted, and post exits 3" {
  printf '%s\n' 'kallsyms ffffffff81000000 T _stext' 'kallsyms ffffffff81000100 T first' \
    'kallsyms ffffffff81000200 T second' 'kallsyms ffffffff81000300 T _etext' 'section mte 0' '1 name 0x20 app' \
    'section trace 0' '100 tick kernel 0x20 0x20 0xffffffff81000140' '200 tick kernel 0x20 0x20 0xffffffff81000240' |
    text_trace >whole.nrm2
  run -0 post -r whole.nrm2 --json
  grep -q ' second$' tprof.out
  sed 's/T second/T\x00second/' whole.nrm2 >damaged.nrm2
  run -3 post -r damaged.nrm2
  [[ $output == *"the kernel's symbols or modules are damaged: 1 of their lines make no sense"* ]]
  grep -q '^ Damaged : ' tprof.out
}

@test "a program whose name has a line feed has the names of its functions" {
  export PITRACE_SOCKET=$PWD/socket
  echo 'int spin(int n) { volatile int x = 0; while (n--) x += n; return x; } int main(void) { return spin(300000000) == 1; }' >spin.c
  gcc -O1 -fno-inline -Wl,--build-id -o $'two\nlines' spin.c
  swtrace init --source perf || skip "needs perf events"
  swtrace enable tprof
  swtrace on
  $'./two\nlines' || true
  swtrace off
  swtrace get
  swtrace free
  run -0 post --process '*lines' -clip 0 --json
  symbols | awk '$2 == "spin" { spin = $1 } { all += $1 } END { exit !(all > 5 && spin > all * 0.8) }'
}
