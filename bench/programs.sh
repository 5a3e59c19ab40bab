# shellcheck shell=bash disable=SC2016,SC2034 # a shell expands the work of gcc; the callers run it
# SPDX-License-Identifier: MIT
# Six programs of Debian, each with work for some seconds. Sourced, by benchmarks of stacks and by tests/long/debian_stacks.bats.

# make_work SECONDS: writes what the programs work on, each for about so long, to the current directory.
make_work() {
  local seconds=$1 i j
  sed "s/ROUNDS/$((70 * seconds))/" >work.py <<'END'
import json, re
def fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)
text = json.dumps([{"a": i, "b": str(i) * 3} for i in range(20000)])
for i in range(ROUNDS):
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
  sed "s/ROUNDS/$((1500000 * seconds))/" >work.sql <<'END'
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ROUNDS)
SELECT count(*), sum(length(t)) FROM (SELECT printf('%x', i * 7919 % 1000003) AS t FROM n ORDER BY t);
END
  sed "s/MICROSECONDS/$((1200000 * seconds))/" >work.js <<'END'
const words = new Map();
while (process.cpuUsage().user < MICROSECONDS) {
  const text = JSON.stringify(Array.from({length: 20000}, (_, i) => ({a: i, b: String(i * 7919)})));
  for (const found of text.matchAll(/"b":"(\d+)"/g)) words.set(found[1], (words.get(found[1]) ?? 0) + 1);
  [...words.keys()].sort((a, b) => a.localeCompare(b));
}
END
  mkdir classes
  echo 'import java.util.*; import java.util.stream.*;' >Work.java
  for ((i = 1; i <= 40 * seconds; i++)); do
    printf 'class C%d<T extends Comparable<T>> { List<T> all = new ArrayList<>();\n' "$i"
    for j in {1..20}; do
      printf 'Map<String, List<T>> m%d() { return all.stream().filter(t -> t.compareTo(all.get(0)) > %d).collect(Collectors.groupingBy(t -> t.toString())); }\n' "$j" "$j"
    done
    echo '}'
  done >>Work.java
  head -c $((1200000 * seconds)) "$(g++ -print-prog-name=cc1plus)" >work.bin
}

# work_of PROGRAM: sets work to the command, and input to the file for its standard input.
work_of() {
  input=/dev/null
  case $1 in
    python3) work=(/usr/bin/python3 work.py) ;;
    gcc) work=(sh -c 'for i in 1 2 3 4 5; do g++ -O2 -c work.cpp -o work.o; done') ;;
    xz) work=(xz -T1 -6 -k -c work.bin) ;;
    sqlite3) work=(sqlite3 :memory:) input=work.sql ;;
    node) work=(node work.js) ;;
    javac) work=(javac -d classes Work.java) ;;
  esac
}
