# SPDX-License-Identifier: MIT
# Compares a log-jita2n with what HotSpot's probes told. Usage:
#   gawk -f hotspot_names.awk -f check_log.awk LOADS UNLOADS LOG
# The first two as for check_owners.awk. Prints counts as KEY=VALUE and the first differences: loads are the same
# ones, as the probe tells those again that JProf asks for; unloads are as many of each name. What happened in the
# last moments before the end of the log may be missing in it.

function complain(text) {
  if (++different <= 10) print text
}

FNR == 1 { ++file }

file == 1 {
  load = $2 " " logged($4)
  if (!(load in told)) told[load] = $1 + 0
  next
}

file == 2 {
  unloaded[logged($2), ++unloads_of[logged($2)]] = $1 + 0
  next
}

NF == 6 && $1 ~ /^[0-9a-f]{8}$/ {
  address = strtonum("0x" $3)
  name[address] = $6
  if (int(strtonum("0x" $5) / 2) % 2) next
  ++loads
  if (!(address " " $6 in told)) complain("not told: " $0)
  written[address " " $6] = 1
}

/^# unload / {
  ++unloads
  ++written_unloads[name[strtonum("0x" $5)]]
}

/^# end / { end = strtonum("0x" $3 $4) - 100000000 }

END {
  for (load in told)
    if (!(load in written) && told[load] < end) complain("not written: load " load)
  for (method in unloads_of) {
    for (i = early = 0; i < unloads_of[method]; i++) early += unloaded[method, i + 1] < end
    if (written_unloads[method] < early || written_unloads[method] > unloads_of[method])
      complain("unloads: " method " " unloads_of[method] ", written " written_unloads[method] + 0)
  }
  for (method in written_unloads)
    if (!(method in unloads_of)) complain("not told: unload of " method)
  printf "loads=%d unloads=%d different=%d\n", loads, unloads, different
}
