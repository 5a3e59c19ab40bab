# SPDX-License-Identifier: MIT
# Compares the names of ticks with the owners of their addresses. Usage:
#   gawk -f hotspot_names.awk -f check_owners.awk -v begin=ADDRESS -v end=ADDRESS LOADS UNLOADS LOG TICKS
# LOADS: "TIME ADDRESS SIZE NAME", UNLOADS: "TIME NAME", LOG: JProf's log-jita2n, TICKS: "TIME ADDRESS MODULE SYMBOL";
# addresses are hexadecimal in TICKS and LOG. Only ticks in [begin, end) are compared. Prints counts as KEY=VALUE and
# the first wrong names.
#
# The probe fires after the installation, in the installing thread, which may be scheduled out in between: a tick
# shortly before a load of its address may belong to the old or to the new owner, and a tick after the old owner's unload
# may belong to the new one, however late its load. If the two names differ, such a tick counts as undecided; with any
# other name it is wrong.

# HotSpot queues events for an agent and reuses an address before the unload in that queue is delivered. A tick in new
# code counts as undelivered while, as far as the agent could know, the old owner was not unloaded.

# Returns whether the tick's name is that of an older method at the address, whose unload was not delivered by that
# time.
function is_undelivered(address, time, load,    i) {
  for (i = 1; i <= logged_ends; i++)
    if (end_name[i] == symbol && address >= end_first[i] && address < end_last[i] && end_delivered[i] > time &&
        end_loaded[i] < when[load]) return 1
  return 0
}

# A new load ends the loads that it overlaps.
function take_place(load,    page, i, other) {
  for (page = int(first[load] / 4096); page <= int((last[load] - 1) / 4096); page++) {
    for (i = loads_of_page[page]; i > 0; i--) {
      other = by_page[page, i]
      if (!(other in gone) && first[other] < last[load] && first[load] < last[other]) gone[other] = when[load]
    }
    by_page[page, ++loads_of_page[page]] = load
  }
}

# Sets before, after and following (0: none): the load that owned the address at the time, the one that follows within
# the slack, and the next one. The probe reports only a method's main part; tail_of is the method with the address
# after its main part, where its handlers are, and live_tail_of the last one before it that was certainly not unloaded: the
# place of an unloaded one may belong to its handlers.
function find_owners(address, time,    page, i, load) {
  before = after = following = tail_of = live_tail_of = 0
  for (page = int(address / 4096); page >= int((address - tail_bytes) / 4096); page--)
    for (i = loads_of_page[page]; i > 0; i--) {
      load = by_page[page, i]
      if (address < first[load] || address >= last[load] + tail_bytes || (load in gone && gone[load] <= time)) continue
      if (when[load] > time) {
        if (address < last[load] && (!following || when[load] < when[following])) following = load
      } else if (address < last[load]) before = load
      else {
        if (!tail_of || last[load] > last[tail_of]) tail_of = load
        if ((!live_tail_of || last[load] > last[live_tail_of]) && !unloaded(load, time)) live_tail_of = load
      }
    }
  if (following && when[following] - time < slack) after = following
}

# Returns the time of the first unload of the load's name after the load, 0: never. The probe does not report its
# address.
function unloaded_at(load,    i, earliest) {
  for (i = 1; i <= unloads_of[name[load]]; i++)
    if (unload[name[load], i] > when[load] && (!earliest || unload[name[load], i] < earliest)) earliest = unload[name[load], i]
  return earliest + 0
}

function unloaded(load, time,    at) {
  at = unloaded_at(load)
  return at && at <= time
}

function complain(load) {
  if (++wrong > 10) return
  print "wrong: " $0 ", was " (load ? name[load] " (loaded " when[load] ", unloaded " unloaded_at(load) ")" : "no method") \
    (following ? ", then " name[following] "'s (loaded " when[following] ")" : "")
}

BEGIN {
  slack = 50000000
  tail_bytes = 4096
  begin = strtonum(begin)
  end = strtonum(end)
}

FNR == 1 { ++file }

file == 1 {
  when[NR] = $1 + 0
  first[NR] = $2 + 0
  last[NR] = $2 + $3
  name[NR] = logged($4)
  take_place(NR)
  next
}

file == 2 {
  $2 = logged($2)
  unload[$2, ++unloads_of[$2]] = $1 + 0
  next
}

file == 3 && NF == 6 && $1 ~ /^[0-9a-f]{8}$/ {
  address = strtonum("0x" $3)
  logged_name[address] = $6
  logged_end[address] = address + strtonum("0x" $4)
  logged_time[address] = strtonum("0x" $1 $2)
}

file == 3 && /^# unload / {
  address = strtonum("0x" $5)
  if (!(address in logged_name)) next
  end_name[++logged_ends] = logged_name[address]
  end_first[logged_ends] = address
  end_last[logged_ends] = logged_end[address]
  end_loaded[logged_ends] = logged_time[address]
  end_delivered[logged_ends] = strtonum("0x" $3 $4)
}

file == 3 { next }

{
  address = strtonum("0x" $2)
  if (address < begin || address >= end) next
  ++ticks
  module = $3
  symbol = $4
  if (module == "NoModule" || symbol == "NoSymbols") {
    if (++unnamed <= 10) print "unnamed: " $0
    next
  }
  find_owners(address, $1 + 0)
  # The probe reports neither stubs nor the interpreter: their addresses must be free of methods.
  if (module == "GENERATED_CODE") {
    if (!before || unloaded(before, $1 + slack)) ++generated
    else complain(before)
  } else if (before && symbol == name[before]) {
    if (after && name[after] != symbol) ++undecided
    else ++right
  } else if (after && symbol == name[after] || following && symbol == name[following] && before && unloaded(before, $1 + 0)) {
    ++undecided
  } else if (tail_of && symbol == name[tail_of] || live_tail_of && symbol == name[live_tail_of]) {
    ++behind
  } else if (before && is_undelivered(address, $1 + 0, before)) {
    ++undelivered
  } else {
    complain(before)
  }
}

END {
  printf "loads=%d ticks=%d right=%d behind=%d generated=%d undecided=%d undelivered=%d unnamed=%d wrong=%d\n", length(when),
    ticks, right, behind, generated, undecided, undelivered, unnamed, wrong
}
