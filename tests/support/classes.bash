# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Generates many Java classes as input for a compiler. Sourced.

make_classes() { # make_classes NUMBER DIRECTORY
  awk -v number="$1" -v directory="$2" 'BEGIN {
    for (i = 0; i < number; i++) {
      file = directory "/Made" i ".java"
      printf "import java.util.*;\npublic class Made%d<T extends Comparable<T>> {\n", i >file
      printf "    private final Map<String, List<T>> lists = new HashMap<>();\n" >file
      for (j = 0; j < 12; j++) {
        printf "    public int method%d(List<T> list, int number) {\n", j >file
        printf "        int sum = %d;\n        for (T item : list) {\n", i * j >file
        printf "            switch (number %% 4) {\n" >file
        for (k = 0; k < 4; k++)
          printf "            case %d: sum += item.hashCode() * %d + list.size(); break;\n", k, i + j + k >file
        printf "            }\n        }\n" >file
        printf "        lists.computeIfAbsent(\"k\" + sum, key -> new ArrayList<>()).addAll(list);\n" >file
        printf "        return lists.values().stream().mapToInt(List::size).filter(n -> n > %d).sum() + sum;\n    }\n", j >file
      }
      printf "}\n" >file
      close(file)
    }
  }'
}
