# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Queries and checks of a tprof.json, for the shell tests. Sourced.

# keep_awake: starts a task that runs when no other does, and sets awake to its pid. For the instruction-count lab, whose
# clock jumps to the next timer while all tasks wait, here for a file of the host: there five seconds may pass, after which
# the recorder gives a build-id up.
keep_awake() {
  chrt -i 0 sh -c 'while :; do :; done' 3>&- &
  awake=$!
}

# process_symbols JSON NAME [PREFIX]: prints "TICKS SYMBOL MODULE" of every symbol of the processes NAME_XXXX; with PREFIX only of
# those that have a symbol that begins so, since others may run programs of that name too.
process_symbols() {
  jq -r --arg name "$2" --arg prefix "${3-}" '.reports[] | select(.title == "Process_Module_Symbol") | .rows[]
    | select(.name | test("^" + $name + "_[0-9a-f]+$"))
    | select($prefix == "" or any(.children[]?.children[]?.name; startswith($prefix)))
    | .children[]? | .name as $in | .children[]? | "\(.ticks) \(.name) \($in)"' "$1"
}

# process_ticks JSON NAME: prints the ticks of all processes NAME_XXXX.
process_ticks() {
  jq -r --arg name "$2" '[.reports[] | select(.title == "Process") | .rows[]
    | select(.name | test("^" + $name + "_[0-9a-f]+$")) | .ticks] | add // 0' "$1"
}

# check_shares JSON NAME POINTS SYMBOL=PERCENT...: each symbol's share of these symbols' ticks must be within POINTS of
# PERCENT, and they must have at least 97 % of the process's user ticks. Prints the shares.
check_shares() {
  local json=$1 name=$2 points=$3
  shift 3
  process_symbols "$json" "$name" | awk -v points="$points" -v expected="$*" '
    BEGIN {
      n = split(expected, pairs, " ")
      for (i = 1; i <= n; i++) { split(pairs[i], p, "="); percent[p[1]] = p[2] }
    }
    $3 !~ /^vmlinux$/ { user += $1 }
    $2 in percent { ticks[$2] += $1; sum += $1 }
    END {
      if (!sum) { print "no ticks in any of: " expected; exit 1 }
      for (s in percent) {
        share = 100 * ticks[s] / sum
        printf "%s %d ticks %.2f %%, true %.2f %%\n", s, ticks[s], share, percent[s]
        if (share < percent[s] - points || share > percent[s] + points) bad = 1
      }
      printf "%d ticks in these symbols, %d user ticks in all\n", sum, user
      if (sum < 0.97 * user) { print "too many ticks elsewhere"; bad = 1 }
      exit bad
    }'
}

# check_accounts JSON: produced must equal written + lost, and the file must contain the written records, except for
# overwritten records and those that a full disk did not store.
check_accounts() {
  jq -e '(.losses.counted) and (.losses.produced == .losses.written + .losses.lost)
    and (.records.counted == .losses.written - .losses.overwritten - .losses.unwritten)' "$1" >/dev/null ||
    { jq '{losses, records}' "$1" && return 1; }
}

# check_processors DIR FILE PROCESSORS: the trace in DIR must be complete, with that number of processors and ticks of
# each.
check_processors() {
  (cd "$1" && "$BUILD_DIR/bin/post" --json -clip 0 -cpu -r "$2") || return
  jq -c '{trace, damage, records, losses: (.losses | del(.gaps))}' "$1/tprof.json"
  check_accounts "$1/tprof.json"
  jq -e --argjson n "$3" '.damage.places == 0 and .losses.lost == 0 and .unresolved.no_module == 0
    and .trace.processors == $n
    and ([.reports[] | select(.title == "Process") | .rows[].name | sub(".*_"; "")] | unique | length) == $n' \
    "$1/tprof.json"
}

# aliases FILE...: prints "NAME FIRST-NAME" of symbols that share an address, in a file and its separate symbol file.
aliases() {
  local file part id
  for file; do
    id=$(readelf -n "$file" 2>/dev/null | awk '/Build ID:/ {print $3; exit}')
    for part in "$file" "/usr/lib/debug/.build-id/${id:0:2}/${id:2}.debug"; do
      if [[ -r $part ]]; then nm "$part" 2>/dev/null && nm -D "$part" 2>/dev/null; fi
    done | sed 's/@.*//' | sort -u
  done | awk 'NF == 3 && $2 ~ /[tTwWiI]/ { if (!($1 in first)) first[$1] = $3; print $3, first[$1] }'
}

# compare_with_perf JSON PERF.DATA NAME POINTS: every symbol with more than 5 % of the process's ticks in either profile
# must have the same share in both, within POINTS. Aliases of one address count as one name; addresses without symbol
# count as one for each module.
compare_with_perf() {
  local json=$1 data=$2 name=$3 points=$4 files
  # perf has no names for kernel code before _stext or in unusual sections: they are taken from kallsyms here, by the
  # low 32 bits of the address. (grep first: sort would seek in kallsyms, which takes minutes.)
  perf script -i "$data" --comm "$name" -F ip,sym,dso 2>/dev/null |
    gawk -v kallsyms=<(grep ^ffffffff /proc/kallsyms | sort) '
      function name_of(ip,   low, high, middle) {
        low = 1; high = count
        while (low < high) {
          middle = int((low + high + 1) / 2)
          if (at[middle] <= ip) low = middle; else high = middle - 1
        }
        return count && at[low] <= ip ? called[low] : "?"
      }
      BEGIN {
        while ((getline line < kallsyms) > 0) {
          split(line, field, " ")
          if (field[2] !~ /[tTwW]/ || field[1] !~ /^ffffffff/) continue
          at[++count] = strtonum("0x" substr(field[1], 9)); called[count] = field[3]
        }
      }
      NF {
        dso = $NF; gsub(/^\(|\)$/, "", dso); n = split(dso, part, "/")
        kernel = dso ~ /kernel.kallsyms|vmlinux/
        sym = $2
        if (sym == "[unknown]") sym = kernel ? name_of(strtonum("0x" substr($1, 9))) : "?"
        module = kernel ? "vmlinux" : part[n]
        gsub(/^\[|\]$/, "", module)
        print 1, sym, module
      }' >"$BATS_TEST_TMPDIR/theirs"
  process_symbols "$json" "$name" >"$BATS_TEST_TMPDIR/symbols"
  awk '{
      n = split($3, part, "/"); sym = $2 ~ /^(<<.*>>|NoSymbols|NoSymbolFound)$/ ? "?" : $2
      print $1, sym, part[n]
    }' "$BATS_TEST_TMPDIR/symbols" >"$BATS_TEST_TMPDIR/ours"
  mapfile -t files < <(awk '$3 ~ /^\// {print $3}' "$BATS_TEST_TMPDIR/symbols" | sort -u)
  { aliases "${files[@]}" && awk '{ if (!($1 in first)) first[$1] = $3; print $3, first[$1] }' /proc/kallsyms; } \
    >"$BATS_TEST_TMPDIR/aliases"
  awk -v points="$points" '
    FILENAME ~ /aliases$/ { if (!($1 in alias)) alias[$1] = $2; next }
    { key = ($2 in alias ? alias[$2] : $2) ":" $3 }
    FILENAME ~ /ours$/ { ours[key] += $1; ours_sum += $1 }
    FILENAME ~ /theirs$/ { theirs[key] += $1; theirs_sum += $1 }
    END {
      if (ours_sum < 5000 || theirs_sum < 5000) { print "too few ticks:", ours_sum, theirs_sum; exit 1 }
      for (k in ours) all[k]; for (k in theirs) all[k]
      for (k in all) {
        a = 100 * ours[k] / ours_sum; b = 100 * theirs[k] / theirs_sum
        if (a < 5 && b < 5) continue
        checked++
        printf "%-50s %6.2f %% perf %6.2f %%\n", k, a, b
        if (a - b > points || b - a > points) bad = 1
      }
      print ours_sum " ticks, perf " theirs_sum
      exit bad || checked < 3
    }' "$BATS_TEST_TMPDIR/aliases" "$BATS_TEST_TMPDIR/ours" "$BATS_TEST_TMPDIR/theirs"
}

# check_reuse JSON SHOW TRUTH PID-NAME: the ticks in SHOW (post.show) in the address range of the libraries, assigned by
# the times in TRUTH (output of reuse.c), must equal the report's ticks of each library.
check_reuse() {
  local json=$1 show=$2 truth=$3 name=$4
  local expected reported
  expected=$(gawk '
    FILENAME == ARGV[1] { begin[NR] = $1; end[NR] = $2; lib[NR] = $3; base[NR] = strtonum("0x" $4); n = NR; next }
    $4 == 10 && $1 == "****" {
      split($6, t, ":"); time = strtonum("0x" t[1]) * 4294967296 + strtonum("0x" t[2])
      address = strtonum("0x" $(NF - 1)) * 4294967296 + strtonum("0x" $NF)
      if ($5 != 23) next
      # The intervals do not overlap, and both files are sorted by time.
      while (at < n && end[at] < time) at++
      if (at && time >= begin[at] && time <= end[at] && address >= base[at] && address < base[at] + 16384)
        ticks[lib[at]]++
    }
    BEGIN { at = 1 }
    END { for (l in ticks) print l, ticks[l] }' "$truth" "$show" | sort)
  reported=$(jq -r --arg name "$name" '.reports[] | select(.title == "Process_Module") | .rows[]
    | select(.name | test("^" + $name + "_")) | .children[] | select(.name | test("lib(first|second).so$"))
    | "\(.name) \(.ticks)"' "$json" | sort)
  printf 'true: %s\nreported: %s\n' "$expected" "$reported"
  [[ -n $expected && $expected == "$reported" ]]
}

# true_ticks TRUTH SHOW: for each "stay" line of TRUTH (progs/truth.h) counts the user ticks in SHOW (post.show) of that
# thread, time and address range, and prints "TICKS|PROCESS_pid|tid_THREAD_tid|MODULE|SYMBOL".
true_ticks() {
  gawk '
    FILENAME == ARGV[1] {
      if ($1 != "stay") next
      n++; begin[n] = $2 + 0; end[n] = $3 + 0; thread[n] = $4 " " $5
      first[n] = strtonum("0x" $6); last[n] = strtonum("0x" $7)
      module = $11; for (i = 12; i <= NF; i++) module = module " " $i
      key[n] = sprintf("%s_%04x|tid_%s_%04x|%s|%s", $8, strtonum("0x" $4), $9, strtonum("0x" $5), module, $10)
      ticks[key[n]] += 0
      stays[thread[n]] = stays[thread[n]] " " n
      next
    }
    $1 == "****" && $4 == 10 && $5 == 23 {
      thread_key = tolower($7 " " $8)
      if (!(thread_key in stays)) next
      split($6, t, ":"); time = strtonum("0x" t[1]) * 4294967296 + strtonum("0x" t[2])
      address = strtonum("0x" $9) * 4294967296 + strtonum("0x" $10)
      m = split(stays[thread_key], list, " ")
      for (i = 1; i <= m; i++) {
        s = list[i]
        if (time >= begin[s] && time <= end[s] && address >= first[s] && address < last[s]) ticks[key[s]]++
      }
    }
    END { for (k in ticks) print ticks[k] "|" k }' "$1" "$2" | sort
}

# check_names JSON SHOW TRUTH LEAST: every stay in TRUTH must have at least LEAST ticks, and the report must have
# exactly these ticks for the true process, thread, module and symbol.
check_names() {
  local json=$1 show=$2 truth=$3 least=$4
  true_ticks "$truth" "$show" >"$BATS_TEST_TMPDIR/true"
  jq -r '.reports[] | select(.title == "Process_Thread_Module_Symbol") | .rows[] | .name as $p
    | .children[]? | .name as $t | .children[]? | .name as $m | .children[]?
    | "\(.ticks)|\($p)|\($t)|\($m)|\(.name)"' "$json" | sort >"$BATS_TEST_TMPDIR/reported"
  awk -F'|' -v least="$least" '
    { key = $2 "|" $3 "|" $4 "|" $5 }
    FILENAME == ARGV[1] { reported[key] = $1; next }
    {
      stays++
      if ($1 < least) { print "too few ticks: " $0; bad = 1 }
      # Other code of the file that runs while it is loaded has no symbols either.
      slack = $5 ~ /^NoSymbols/ ? 5 + $1 / 50 : 0
      if (reported[key] < $1 || reported[key] > $1 + slack) { print "true: " $0 ", reported: " reported[key] + 0; bad = 1 }
    }
    END { print stays + 0 " names checked"; exit bad || !stays }' \
    "$BATS_TEST_TMPDIR/reported" "$BATS_TEST_TMPDIR/true" ||
    { cut -d'|' -f2 "$BATS_TEST_TMPDIR/true" | sort -u | grep -Fwf - "$BATS_TEST_TMPDIR/reported" && return 1; }
}

# check_parents JSON TRUTH: every "parent PID PARENT" line of TRUTH must be in the list of processes.
check_parents() {
  local word pid parent seen=0
  while read -r word pid parent; do
    [[ $word == parent ]] || continue
    seen=1
    jq -e --argjson pid "$((16#$pid))" --argjson parent "$((16#$parent))" \
      '[.processes[] | select(.pid == $pid) | .parent] == [$parent]' "$1" >/dev/null ||
      { echo "the parent of 0x$pid is not 0x$parent" && return 1; }
  done <"$2"
  ((seen))
}

# check_inner JSON TRUTH: the same for every "inner PID TID INNER-PID INNER-TID" line of TRUTH.
check_inner() {
  local word pid tid inner_pid inner_tid seen=0
  while read -r word pid tid inner_pid inner_tid; do
    [[ $word == inner ]] || continue
    seen=1
    jq -e --argjson pid "$((16#$pid))" --argjson tid "$((16#$tid))" --argjson inner_pid "$((16#$inner_pid))" \
      --argjson inner_tid "$((16#$inner_tid))" '.processes[] | select(.pid == $pid)
      | .inner_pid == $inner_pid and
        ($pid == $tid or any(.inner_threads[]; .tid == $tid and .inner_tid == $inner_tid))' "$1" >/dev/null ||
      { echo "0x$pid, thread 0x$tid has not the inner ids 0x$inner_pid, 0x$inner_tid" && return 1; }
  done <"$2"
  ((seen))
}

# check_unmapped SHOW TRUTH: every "unmapped PID ADDRESS SIZE" line of TRUTH must have a record.
check_unmapped() {
  gawk '
    FILENAME == ARGV[1] { if ($1 == "unmapped") { n++; left[strtonum("0x" $2) " " strtonum("0x" $3) " " strtonum("0x" $4)] } next }
    $1 == "****" && $4 == 19 && $5 == 78 {
      address = strtonum("0x" $8) * 4294967296 + strtonum("0x" $9)
      size = strtonum("0x" $10) * 4294967296 + strtonum("0x" $11)
      delete left[strtonum("0x" $7) " " address " " size]
    }
    END { for (k in left) { print "not recorded: " k; bad = 1 } exit bad || !n }' "$2" "$1"
}
