#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# post -arc and arcf from the command line, on a trace of a real program's user code that was made by single-stepping.

bats_require_minimum_version 1.5.0

setup_file() {
  cd "$BATS_FILE_TMPDIR" || return
  local flows=$BUILD_DIR/tests/flows
  first=$(nm "$flows" | awk '$3 == "begin" {print $1}')
  last=$(nm "$flows" | awk '$3 == "end" {print $1}')
  "$BUILD_DIR/tests/step_trace" flows.nrm2 "$first" "$last" -- "$flows"
  "$BUILD_DIR/tests/step_trace" uncounted.nrm2 "$first" "$last" nocount -- "$flows"
}

setup() {
  PATH="$BUILD_DIR/bin:$PATH"
  export LC_ALL=C
  cd "$BATS_TEST_TMPDIR" || return
  trace=$BATS_FILE_TMPDIR/flows.nrm2
}

# figure NAME: the number after NAME in arc's head.
figure() {
  awk -v name="$1" '/^#/ {line = $0; sub(/^# */, "", line)
    if (index(line, name) == 1) {split(substr(line, length(name) + 1), rest, " "); print rest[1]; exit}}' arc
}

# own_lines: arc's lines as "type function", for functions of the program itself.
own_lines() {
  awk '!/^#/ && $7 ~ /:.*\/flows$/ {sub(/:.*/, "", $7); print $9, $7}' "${1:-arc}"
}

@test "help and version go to the standard output and exit 0" {
  for form in --help -h '-?'; do
    run -0 --separate-stderr arcf "$form"
    [[ $output == "Usage: arcf"* && -z $stderr ]]
  done
  run -0 arcf --version
  [[ $output == "arcf (pitrace) "[0-9]* ]]
  run -0 post --help
  for option in --arc -c --ck --cp --ss --ssi --dcnt -m; do
    [[ $output == *"  $option "* ]]
  done
}

@test "help fits a narrow terminal" {
  for tool in arcf post; do
    COLUMNS=50 run -0 "$tool" --help
    while read -r line; do ((${#line} <= 50)) || [[ $line == *"$tool "* ]]; done <<<"$output"
  done
}

@test "wrong use exits with 255 and reports the right form" {
  run -255 arcf -t tprof
  [[ $output == *"-t takes itrace, not 'tprof'"* ]]
  run -255 arcf -r 3
  [[ $output == *"-r takes 1 or 2"* ]]
  run -255 arcf -clip 101
  run -255 arcf --json --folded
  run -255 arcf arc
  for form in -c -ck -cp -ss -ssi -dcnt -m; do
    run -255 post -r "$trace" "$form"
    [[ $output == *"$form goes with -arc"* ]]
  done
  run -255 post -r "$trace" -arc -showx
  run -255 post -r "$trace" -arc --archive
}

@test "missing input is reported, and nothing is written" {
  run -1 arcf
  [[ $output == *"cannot read arc: No such file"*"post -arc writes an arc"* ]]
  echo "# nothing" >empty
  run -1 arcf -F empty
  [[ $output == *"contains no lines of an arc"* ]]
  run -1 arcf -F .
  run -1 post -r missing.nrm2 -arc
  "$BUILD_DIR/tests/step_trace" none.nrm2 0 0 -- /nonexistent 2>/dev/null || true
  printf 'NRM2' >cut.nrm2
  run -1 post -r cut.nrm2 -arc
  [ ! -e arc ]
  # A trace without branches.
  run -1 post -r "$trace" -arc -p 1
  [[ $output == *"contains no instruction trace"* ]]
  [ ! -e arc ]
}

@test "every block of a real program is connected; counting by steps and by disassembly agree" {
  run -0 post -r "$trace" -arc
  [ -z "$output" ]
  [ "$(figure 'Imperfect blocks')" = 0 ]
  [ "$(figure different)" = 0 ]
  [ "$(figure UNDEFD)" = 0 ]
  [ "$(stat -c %a arc)" = 600 ]
  counted=$(awk '!/^#/ && $9 != "-gap-" {sum += $4} END {print sum}' arc)
  [ "$counted" = "$(figure Instructions)" ]
  # Without counting, the string instruction of 64 iterations counts as one, and instructions up to a gap are unknown:
  # here the two of the system call.
  post -r "$BATS_FILE_TMPDIR/uncounted.nrm2" -arc
  [ "$(figure Instructions)" = $((counted - 63 - 2)) ]
  [ "$(figure 'by disassembly')" -gt 100 ]
  post -r "$trace" -arc -dcnt
  [ "$(figure Instructions)" = $((counted - 63)) ]
}

@test "calls and returns are in program order" {
  post -r "$trace" -arc
  diff <(own_lines | grep -v '<plt>' | grep -v JUMP | head -8) - <<'END'
RETURN begin
CALL main
RETURN triple
CALL main
RETURN triple
CALL main
RETURN triple
CALL main
END
  # fibonacci(5) calls itself 14 times.
  [ "$(own_lines | grep -c 'CALL fibonacci')" = 14 ]
  [ "$(own_lines | grep -c 'RETURN fibonacci')" = 15 ]
  grep -q ' SYSCALL ' arc
  grep -q ' Gap_untraced:GAP .* -gap- 0 ns=' arc
  # Lines of the source, for functions with debug information.
  line=$(grep -n 'return n < 2' "$SOURCE_DIR/tests/progs/flows.c" | cut -d: -f1)
  awk -v line="$line" '$7 ~ /^fibonacci:/ && ($10 < line - 1 || $10 > line + 1) {bad = 1} END {exit bad}' arc
}

@test "a compact arc has the same instructions in fewer lines, and the same call tree" {
  post -r "$trace" -arc
  lines=$(figure Lines)
  instructions=$(figure Instructions)
  arcf -r 2 >plain
  post -r "$trace" -arc -c
  [ "$(figure Instructions)" = "$instructions" ]
  [ "$(figure Lines)" -lt "$lines" ]
  arcf -r 2 >compact
  diff <(tail -n +2 plain) <(tail -n +2 compact)
  post -r "$trace" -arc -cp
  [ "$(figure Instructions)" = "$instructions" ]
  run ! grep -q '^ .*<plt>:.*/flows ' <(grep -v SYSCALL arc | awk '$3 != 1')
}

@test "-ss shows the instructions that objdump shows" {
  post -r "$trace" -arc -ssi
  [ "$(grep -c '^ ss: 0x' arc)" -gt 1000 ]
  # The bytes of main's own instructions, in the order of objdump.
  objdump -d --no-show-raw-insn "$BUILD_DIR/tests/flows" >dump
  grep -A200 '<fibonacci>:' dump | sed -n '2,7p' | awk '{print $2}' >expected
  awk '/ fibonacci:/ && $6 == 0 {print block; exit} /^ ss:/ {block = block " " $5; next} {block = ""}' arc >found
  # The two disassemblers name conditional jumps differently.
  [ "$(tr ' ' '\n' <found | sed '/^$/d' | head -5)" = "$(head -5 expected)" ]
}

@test "the JSON contains the numbers of arc's head" {
  post -r "$trace" -arc --json
  python3 - <<'END'
import json
itrace = json.load(open("tprof.json"))["itrace"]
assert itrace["imperfect"] == {"no_beginning": 0, "not_connected": 0, "other_code": 0}
assert itrace["threads"][0]["branches"] == itrace["branches"] > 100
assert itrace["instructions"]["kernel"] == 0 < itrace["instructions"]["user"]
assert itrace["gaps"]["by_reason"]["untraced"]["count"] == 1
END
}

@test "arcf counts the same calls and instructions in all formats" {
  post -r "$trace" -arc
  instructions=$(figure Instructions)
  run -0 arcf
  [[ $output == *"(entered before the trace)"* ]]
  awk '$5 ~ /^fibonacci:/ {calls += $1} END {exit calls != 15}' <<<"$output"
  [ "$(arcf --folded | awk '{sum += $NF} END {print sum}')" = "$instructions" ]
  arcf --json >tree.json
  python3 - "$instructions" <<'END'
import json, sys
thread = json.load(open("tree.json"))["threads"][0]
assert sum(node["self"] for node in thread["nodes"]) == int(sys.argv[1])
by_id = {node["id"]: node for node in thread["nodes"]}
for node in thread["nodes"]:
    below = [n for n in thread["nodes"] if n.get("parent") == node["id"]]
    assert node["cumulative"] == node["self"] + sum(n["cumulative"] for n in below)
    assert "parent" not in node or node["parent"] in by_id
END
  run -0 arcf -F - -r 2 <arc
  awk '$5 ~ /^triple:/ {exit $1 != 3}' <<<"$output"
}

@test "the HTML page has the call tree of arcf" {
  # The trace has no ticks.
  run -0 post -r "$trace" -arc --html
  [ -z "$output" ]
  [ ! -e tprof.out ]
  arcf --json >tree.json
  python3 - <<'END'
import base64, json, re, zlib
page = re.search(r'^<pre id="data" hidden>([A-Za-z0-9+/=]*)</pre>$', open("tprof.html").read(), re.M)[1]
data = json.loads(zlib.decompress(base64.b64decode(page)))
flow, names = data["flow"], data["names"]
rows = sorted(zip(flow["level"], (names[name] for name in flow["name"]), *(flow["cells"][i] for i in (0, 1, 3))))
expected = []
for thread in json.load(open("tree.json"))["threads"]:
    levels = {None: 0}
    whole = 0
    for node in thread["nodes"]:
        level = levels[node["id"]] = levels[node.get("parent")] + 1
        before = "  (entered before the trace)" if node.get("entered_before") else ""
        expected.append((level, node["function"] + before, node["calls"], node["self"], node["cumulative"]))
        whole += node["self"]
    expected.append((0, thread["name"], 0, 0, whole))
assert len(rows) > 10 and rows == sorted(expected), (rows, sorted(expected))
assert dict(data["facts"])["Trace time"] != "0 s", data["facts"]
END
}

@test "arcf skips malformed lines and reports their number" {
  post -r "$trace" -arc
  { cat arc; printf 'nonsense\n0 U 1 x @ 0 a b c 0\n'; head -c 100000 /dev/urandom | tr -d '\n'; } >mixed
  run -3 --separate-stderr arcf -F mixed
  [[ $stderr == *"3 lines are malformed"* && $output == *"main:"* ]]
  run -1 arcf -F "$trace"
}

@test "an unfinished arc leaves no file behind" {
  mkfifo pipe
  mkdir readonly
  run -1 post -r "$trace" -arc -o pipe/below
  [[ $output == *"cannot create the directory pipe/below: Not a directory"* ]]
  [ -z "$(ls -A readonly)" ]
  post -r "$trace" -arc -show -o readonly
  [ "$(ls -A readonly | sort | tr '\n' ' ')" = "arc post.show " ]
}
