# SPDX-License-Identifier: MIT
# Compares a log-jita2n with the events of HotSpot's probes. Usage:
#   gawk -f hotspot_names.awk -f check_log.awk LOADS UNLOADS LOG
# LOADS and UNLOADS as for check_owners.awk. Prints counts as KEY=VALUE and the first differences. Loads must be equal,
# as the probe also fires for the loads that JProf requests; for each name the number of unloads must be equal. Events
# of the last 0.1 s before the end of the log may be missing in it.

function complain(text) {
  if (++different <= 10) print text
}

FNR == 1 { ++file }

file == 1 {
  load = $2 " " logged($4)
  if (!(load in probed)) probed[load] = $1 + 0
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
  if (!(address " " $6 in probed)) complain("not probed: " $0)
  written[address " " $6] = 1
}

/^# unload / {
  ++unloads
  ++written_unloads[name[strtonum("0x" $5)]]
}

/^# end / { end = strtonum("0x" $3 $4) - 100000000 }

END {
  for (load in probed)
    if (!(load in written) && probed[load] < end) complain("not written: load " load)
  for (method in unloads_of) {
    for (i = early = 0; i < unloads_of[method]; i++) early += unloaded[method, i + 1] < end
    if (written_unloads[method] < early || written_unloads[method] > unloads_of[method])
      complain("unloads: " method " " unloads_of[method] ", written " written_unloads[method] + 0)
  }
  for (method in written_unloads)
    if (!(method in unloads_of)) complain("not probed: unload of " method)
  printf "loads=%d unloads=%d different=%d\n", loads, unloads, different
}
