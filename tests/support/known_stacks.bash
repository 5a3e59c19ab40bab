# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# The call tree of tests/progs/calls.c in folded stacks of programs in other languages.

# own_frames PROGRAM FOLDED: prints for each stack below work() its ticks and the functions of the tree.
own_frames() {
  sed -n "s/^$1_[0-9a-f]*;//p" "$2" | awk '
    { ticks = $NF; sub(/ [0-9]+$/, ""); n = split($0, frame, ";"); path = ""
      for (i = 1; i <= n; i++) {
        name = frame[i]
        sub(/::h[0-9a-f]+$/, "", name); sub(/^.*(::|\.)/, "", name)
        if (name ~ /^(work|alpha|beta|shared|recurse)$/) path = path " " name
      }
      if (path != "") print ticks path }'
}

# has_shares POINTS TICKS: the input of own_frames has the calls and shares of the program, and at least so many ticks.
has_shares() {
  awk -v points="$1" -v ticks="$2" '{
      for (i = 3; i <= NF; i++) pair[$(i - 1) " " $i] += $1
      split("", seen); levels = 0
      for (i = 2; i <= NF; i++) { seen[$i]; levels += $i == "recurse" }
      for (f in seen) inclusive[f] += $1
      exclusive[$NF] += $1; level[levels] += $1; all += $1
    }
    function check(what, wanted, found) {
      printf "%s: %.2f %%, true %d %%\n", what, found, wanted
      if (found < wanted - points || found > wanted + points) bad = 1
    }
    END {
      print all + 0 " ticks"
      if (all < ticks) exit 1
      n = split("work alpha,work beta,work recurse,alpha shared,beta shared,recurse recurse", allowed, ",")
      for (i = 1; i <= n; i++) known[allowed[i]]
      for (p in pair) if (!(p in known)) { print "never calls: " p " " pair[p]; bad = 1 }
      true["work"] = "100 0"; true["alpha"] = "20 10"; true["beta"] = "40 20"; true["shared"] = "30 30"; true["recurse"] = "40 40"
      for (f in true) { split(true[f], t, " ")
        check(f " inclusive", t[1], 100 * inclusive[f] / all); check(f " exclusive", t[2], 100 * exclusive[f] / all) }
      for (i = 1; i <= 4; i++) check("level " i, 10, 100 * level[i] / all)
      exit bad
    }'
}
