# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# Checks of log-rt.

# fits LOG: the tree of log-rt is consistent: levels nest, and each method's callees are the sum of the calls below it.
fits() {
  awk '$1 !~ /^[0-9]+$/ || NF < 4 || $NF !~ /:|_/ { next }
    { while (level >= $1 + 0 && n) { if (callees[level] != sum[level]) { print "callees of", names[level]; bad = 1 } level-- }
      if (n && $1 + 0 > level + 1) { print "level", $0; bad = 1 }
      if ($1 > 0) sum[$1 - 1] += $2
      level = $1 + 0; callees[level] = $3; sum[level] = 0; names[level] = $NF; n++ }
    END { exit bad || n < 100 }' "$1"
}
