#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Runs programs of Debian under stack_truth: about 10,000 ticks of each, whose registers and stack bytes the unwinder and libdw get.
# Usage: stack_truth.sh BUILD-DIR [BYTES [PROGRAM...]]   (a build with -DPITRACE_BENCH=ON). As root.
set -euo pipefail
tool=$(cd "$1" && pwd)/bench/stack_truth bytes=${2:-16384}
export LC_ALL=C DEBUGINFOD_URLS=
shift $(($# < 2 ? $# : 2))
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"

cat >work.py <<'END'
import json, re
def fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)
text = json.dumps([{"a": i, "b": str(i) * 3} for i in range(20000)])
for i in range(700):
    fib(23)
    json.loads(text)
    sorted(re.findall(r"\d+", text), key=len)
END
cat >work.cpp <<'END'
#include <algorithm>
#include <iostream>
#include <map>
#include <regex>
int main(int n, char** v) { std::map<std::string, int> m; std::regex r(n > 1 ? v[1] : "a"); m["x"] = 1; std::cout << std::regex_match("a", r) << m.size(); }
END
cat >work.sql <<'END'
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 15000000)
SELECT count(*), sum(length(t)) FROM (SELECT printf('%x', i * 7919 % 1000003) AS t FROM n ORDER BY t);
END
cat >work.js <<'END'
const words = new Map();
while (process.cpuUsage().user < 12e6) {
  const text = JSON.stringify(Array.from({length: 20000}, (_, i) => ({a: i, b: String(i * 7919)})));
  for (const found of text.matchAll(/"b":"(\d+)"/g)) words.set(found[1], (words.get(found[1]) ?? 0) + 1);
  [...words.keys()].sort((a, b) => a.localeCompare(b));
}
END
mkdir classes
echo 'import java.util.*; import java.util.stream.*;' >Work.java
for i in {1..400}; do
  printf 'class C%d<T extends Comparable<T>> { List<T> all = new ArrayList<>();\n' "$i"
  for j in {1..20}; do
    printf 'Map<String, List<T>> m%d() { return all.stream().filter(t -> t.compareTo(all.get(0)) > %d).collect(Collectors.groupingBy(t -> t.toString())); }\n' "$j" "$j"
  done
  echo '}'
done >>Work.java

run() {
  case $1 in
    python3) /usr/bin/python3 work.py ;;
    gcc) for _ in {1..5}; do g++ -O2 -c work.cpp -o work.o; done ;;
    xz) head -c 12000000 "$(g++ -print-prog-name=cc1plus)" | xz -T1 -6 -c ;;
    sqlite3) sqlite3 :memory: <work.sql ;;
    node) node work.js ;;
    javac) javac -d classes Work.java ;;
  esac
}

# of PROGRAM: the shell begins when the ticks do.
of() {
  mkfifo go
  { read -r _ <go && run "$1" >/dev/null; } &
  local program=$!
  "$tool" "$program" 1000 "$bytes" >"out" &
  local comparison=$!
  until grep -qs '^on' out; do kill -0 "$comparison" && sleep 0.1; done
  echo >go
  wait "$program"
  wait "$comparison" || true
  printf '%s, %s bytes\n' "$1" "$bytes"
  sed '/^on$/d; s/^/  /' out
  rm -f go
}

programs=("$@")
((${#programs[@]})) || programs=(python3 gcc xz sqlite3 node javac)
for program in "${programs[@]}"; do of "$program"; done
