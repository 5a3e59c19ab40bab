# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# HotSpot's USDT probes compiled__method__load and compiled__method__unload, as uprobes: when compiled code is installed
# and removed, independent of our code. Sourced.

jvm_library() { # jvm_library: prints the path of the libjvm.so that "java" uses
  echo "$(dirname "$(dirname "$(readlink -f "$(type -P java)")")")/lib/server/libjvm.so"
}

# Prints uprobe definitions for each location of the probes. Lengths come first, as the strings have no terminator. A
# load has the code's address and size after the three names; an unload has no address.
probe_definitions() { # probe_definitions LIBJVM GROUP
  readelf -nW "$1" 2>/dev/null | awk -v library="$1" -v group="$2" '
    # 8@%r12 -> %r12, -4@%r15d -> %r15 as a signed word, 8@-16(%rbp) -> -16(%bp)
    function operand(text,    size, register, offset) {
      size = text; sub(/@.*/, "", size); sub(/^-/, "", size)
      sub(/^[^@]*@/, "", text)
      offset = ""
      if (match(text, /\(.*\)/)) {
        offset = substr(text, 1, RSTART - 1)
        text = substr(text, RSTART + 1, RLENGTH - 2)
        if (offset !~ /^[+-]/) offset = "+" offset
      }
      register = text
      sub(/^%/, "", register)
      if (register ~ /^r[0-9]+[dwb]$/) sub(/[dwb]$/, "", register)
      else if (register !~ /^r[0-9]+$/) sub(/^[re]/, "", register)
      return offset == "" ? "%" register : offset "(%" register ")"
    }
    /Provider: hotspot$/ { hotspot = 1; next }
    /Name:/ {
      wanted = ""
      if (hotspot && $2 == "compiled__method__load") wanted = "load"
      if (hotspot && $2 == "compiled__method__unload") wanted = "unload"
      hotspot = 0
      next
    }
    /Location:/ { place = $2; sub(/,/, "", place) }
    /Arguments:/ && wanted != "" {
      sub(/.*Arguments: */, "")
      n = split($0, argument, " ")
      if (n != (wanted == "load" ? 8 : 6)) exit 1
      printf "p:%s/%s%d %s:%s", group, wanted, count[wanted]++, library, place
      printf " l1=%s:s32 l2=%s:s32 l3=%s:s32", operand(argument[2]), operand(argument[4]), operand(argument[6])
      if (wanted == "load") printf " code=%s:x64 size=%s:s32", operand(argument[7]), operand(argument[8])
      wanted = ""
      printf " class=+0(%s):string method=+0(%s):string signature=+0(%s):string\n", operand(argument[1]),
        operand(argument[3]), operand(argument[5])
    }
    END { if (!count["load"] || !count["unload"]) exit 1 }'
}

probes_on() { # probes_on GROUP: also creates a tracing instance of that name with the trace's clock
  local definitions line
  definitions=$(probe_definitions "$(jvm_library)" "$1") || return 1
  while read -r line; do echo "$line" >>/sys/kernel/tracing/uprobe_events || return 1; done <<<"$definitions"
  mkdir "/sys/kernel/tracing/instances/$1"
  echo mono >"/sys/kernel/tracing/instances/$1/trace_clock"
  echo 65536 >"/sys/kernel/tracing/instances/$1/buffer_size_kb"
  # Only JVMs that descend from this shell are traced.
  echo 1 >"/sys/kernel/tracing/instances/$1/options/event-fork"
  echo "$BASHPID" >"/sys/kernel/tracing/instances/$1/set_event_pid"
  echo 1 >"/sys/kernel/tracing/instances/$1/events/$1/enable"
}

probes_off() { # probes_off GROUP
  local event
  [[ -d /sys/kernel/tracing/instances/$1 ]] || return 0
  echo 0 >"/sys/kernel/tracing/instances/$1/events/$1/enable" || true
  rmdir "/sys/kernel/tracing/instances/$1" || true
  for event in /sys/kernel/tracing/events/"$1"/*load*; do
    if [[ -d $event ]]; then echo "-:$1/${event##*/}" >>/sys/kernel/tracing/uprobe_events || true; fi
  done
}

# probe_events GROUP KIND: prints "TIME ADDRESS SIZE CLASS.METHODSIGNATURE" for each load or unload, sorted by time;
# TIME is in nanoseconds, ADDRESS decimal. For unloads ADDRESS and SIZE are 0.
probe_events() {
  local lost
  lost=$(awk '/^(overrun|dropped events):/ { sum += $NF } END { print sum + 0 }' \
    /sys/kernel/tracing/instances/"$1"/per_cpu/cpu*/stats)
  ((lost == 0)) || { echo "the kernel lost $lost events of the probes" >&2 && return 1; }
  LC_ALL=C gawk -v kind="$2" '
    # The recorded string continues after the name; the length gives its end.
    function field(name, size,    at, text) {
      at = index(rest, name "=\"")
      if (!at) return "?"
      rest = substr(rest, at + length(name) + 2)
      text = substr(rest, 1, size)
      rest = substr(rest, size + 1)
      return text
    }
    BEGIN {
      RS = "\n +[^\n]{1,16}-[0-9]+ +\\[[0-9]+\\] [^\n]{4,5} +"
      where = kind == "load" ? "code=0x([0-9a-f]+) size=([0-9]+) " : ""
      event = "^([0-9]+)\\.([0-9]+): " kind "[0-9]+: .* l1=([0-9]+) l2=([0-9]+) l3=([0-9]+) " where
    }
    match($0, event, m) {
      rest = substr($0, RLENGTH)
      class = field("class", m[3] + 0)
      method = field("method", m[4] + 0)
      signature = field("signature", m[5] + 0)
      printf "%d %d %d %s.%s%s\n", m[1] * 1e9 + m[2] * 1e3, strtonum("0x" m[6]), m[7], class, method, signature
    }' "/sys/kernel/tracing/instances/$1/trace" | sort -n -s -k 1,1
}

probe_loads() { probe_events "$1" load; }
probe_unloads() { probe_events "$1" unload | awk '{ print $1, $4 }'; }
