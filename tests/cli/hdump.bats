#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# hdump on a dump that a JVM wrote of a known heap, compared with the JVM's own histogram, and on damaged dumps.

bats_require_minimum_version 1.5.0

# shellcheck source=tests/support/page_data.bash
source "$SOURCE_DIR/tests/support/page_data.bash"

setup_file() {
  export PATH="$BUILD_DIR/bin:$PATH" LC_ALL=C.UTF-8
  cd "$BATS_FILE_TMPDIR" || return
  export made=$BATS_FILE_TMPDIR
  if ! type -P java >/dev/null || [[ ! -e $BUILD_DIR/tests/java/Heap.class ]]; then
    : >no-java
    return
  fi
  java -Xmx256m -XX:+UseSerialGC -cp "$BUILD_DIR/tests/java" Heap heap.hprof 20000 50000 >histogram
  hdump --json --lines 0 heap.hprof >report.json
}

setup() {
  [[ ! -e $made/no-java ]] || skip "needs Java"
  cd "$BATS_TEST_TMPDIR" || return
}

# class NAME MEMBER: a number of the report.
class() { jq --arg name "$1" ".classes[] | select(.name == \$name) | .$2" "$made/report.json"; }

@test "objects and bytes of each class of the program are the JVM's own" {
  # "  2:  20000  480000  Heap$Item": only classes whose number no longer changes when the JVM prints it.
  awk '$4 ~ /^Heap/ { print $4, $2, $3 }' "$made/histogram" | sort >jvm
  jq -r '.classes[] | select(.name | startswith("Heap")) | "\(.name) \(.objects) \(.bytes)"' "$made/report.json" | sort >ours
  cat ours
  [ "$(wc -l <ours)" -ge 5 ]
  diff jvm ours
}

@test "retained bytes are those of the program's structure" {
  [ "$(class 'Heap$Item' retained)" -eq $((20000 * (24 + 80))) ]
  [ "$(class 'Heap$Link' retained)" -eq $((50000 * 16)) ]
  # Fork with its branches, both arrays of theirs, and the array that they share.
  [ "$(class 'Heap$Fork' retained)" -eq $((24 + 2 * 24 + 2 * (16 + 8 * 100) + 16 + 8 * 500)) ]
  [ "$(class 'Heap$Branch' retained)" -eq $((2 * 24 + 2 * (16 + 8 * 100))) ]
  # The weak reference keeps nothing alive, so the array that refers to the object retains it.
  [ "$(class 'Heap$Cached' retained)" -eq $((16 + 16 + 4 * 1000)) ]
}

@test "the leak is the first suspect, with its content and the way to it" {
  run -0 hdump "$made/heap.hprof"
  [[ $output == *" 1. One object of java.lang.Object[] (0x"*" of byte[] in 20000 objects"* ]]
  [[ $output == *".static leak = java.util.ArrayList "*".elementData = java.lang.Object[] "* ]]
  jq -e '.suspects[0].path.steps | .[-2].reference == "elementData" and .[-3].reference == "static leak"' "$made/report.json"
  jq -e '[.ways[].path] | index("class Heap > java.util.ArrayList > java.lang.Object[] > Heap$Item > byte[]") != null' "$made/report.json"
}

@test "the HTML page has the classes, ways and suspects of the report" {
  page_of "$made/report.json"
  rows() { jq -c --arg title "Java heap: $1" '.names as $names | .tables[] | select(.title == $title)
    | [.level, (.name | map($names[.] | sub("  \\(.*\\)$"; ""))), .cells[]] | transpose[]' data.json; }
  rows classes | cmp - <(jq -c '.classes[] | [0, .name, .objects, .bytes, .retained]' "$made/report.json")
  rows 'what retains what' | cmp - <(jq -c '.ways[] | [.depth - 1, (.path | split(" > ") | last), .objects, .bytes, .retained]' "$made/report.json")
  rows 'leak suspects' | jq -c 'select(.[0] == 0)[-1]' | cmp - <(jq '.suspects[].retained' "$made/report.json")
}

@test "--paths shows the way to objects of a class, through fields and array elements" {
  run -0 hdump --paths='Heap$Cach*' "$made/heap.hprof"
  [[ $output == *".static strong = java.lang.Object[] "*".[0] = Heap\$Cached "* ]]
  run -0 hdump --paths='no.such.Class' "$made/heap.hprof"
  [[ $output == *"No object that a root reaches has such a class."* ]]
}

@test "a second dump shows what has grown" {
  java -Xmx256m -XX:+UseSerialGC -cp "$BUILD_DIR/tests/java" Heap later.hprof 30000 50000 >histogram
  run -0 hdump "$made/heap.hprof" later.hprof
  [[ $output == *"    30000    +10000       720000      +240000    Heap\$Item"* ]]
  hdump --json "$made/heap.hprof" later.hprof |
    jq -e '.ways[] | select(.path == "class Heap > java.util.ArrayList") | .more_bytes > 10000 * (24 + 80)'
}

@test "a dump compressed by gzip gives the same report" {
  gzip -c "$made/heap.hprof" >heap.hprof.gz
  hdump --json --lines 0 heap.hprof.gz | jq 'del(.file)' >packed
  jq 'del(.file)' "$made/report.json" | cmp - packed
}

@test "a truncated dump gives a report on its beginning and exits 3" {
  head -c $(($(stat -c %s "$made/heap.hprof") * 2 / 3)) "$made/heap.hprof" >cut.hprof
  run -3 hdump cut.hprof
  # JDK 17 writes roots last, JDK 21 first.
  grep -qE '^ Roots +: (not in the dump, whose end is missing|[0-9]+ JNI global)' <<<"$output"
  [[ $output == *"hdump: warning: cut.hprof at byte "*"the dump ends within"* ]]
}

@test "other files, no files and wrong options are refused with the reason" {
  printf 'no dump' >file
  run -1 hdump file
  [[ $output == *"cannot analyse file: it is no heap dump"* ]]
  run -1 hdump missing
  [[ $output == *"cannot read missing: No such file or directory."* ]]
  mkfifo pipe
  run -1 hdump pipe
  run -1 hdump .
  truncate -s 10G sparse
  run -1 hdump sparse
  [[ $output == *"it is a sparse file."* ]]
  run -255 hdump
  [[ $output == *"which heap dump?"* ]]
  run -255 hdump --clip=101 file
  run -255 hdump --suspect=x file
  run -255 hdump --lines=-1 file
  run -1 hdump --work=/nowhere "$made/heap.hprof"
  [[ $output == *"work files cannot be created in /nowhere: No such file or directory."* ]]
}

@test "nothing is left in the work directory, and a full one is reported" {
  mkdir work
  hdump --work=work "$made/heap.hprof" >/dev/null
  [ -z "$(ls -A work)" ]
  [ "$(id -u)" -eq 0 ] || skip "needs root to mount a small disk"
  # Arrays of more than a megabyte, of four bytes for each object, are in files.
  java -Xmx256m -XX:+UseSerialGC -cp "$BUILD_DIR/tests/java" Heap long.hprof 1000 400000 >histogram
  mount -t tmpfs -o size=1m none work
  run hdump --work=work long.hprof
  umount work
  [ "$status" -eq 1 ]
  [[ $output == *"the work files cannot be written: No space left on device. --work=DIRECTORY names"* ]]
}
