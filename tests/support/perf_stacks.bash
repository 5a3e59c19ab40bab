# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Stacks of a recording of perf, as perf script and as post show them: a line for each sample, of its time in nanoseconds and the
# addresses of its frames in their files, from the innermost one on.

# perf_stacks FILE: perf's own, unwound by its own library.
perf_stacks() {
  perf script -i "$1" --ns --no-inline -F time,ip 2>/dev/null | awk '
    function flush() { if (line != "") print line; line = "" }
    /^ *[0-9]+\.[0-9]+:/ { flush(); split($1, part, "[.:]"); line = sprintf("%d%09d", part[1], part[2]); next }
    # Of a pipe it prints names, too.
    NF > 0 && $1 != "ffffffffffffffff" { line = line " " $1 }  # the end of a stack that is not whole
    END { flush() }' | sort
}

# post_stacks POST_SHOW: those of the records that post -showx has written. The numbers are those of include/pitrace/abi.h.
post_stacks() {
  gawk '
    function number(text) { return strtonum("0x" text) }
    # Addresses of 64 bits are exact in neither of two halves that are put together as numbers: halves are compared as text.
    function address(high, low) { return sprintf("%08x%08x", number(high), number(low)) }
    function in_file(text, caller,   i, low) {
      if (text ~ /^ffff/) return text
      for (i = modules; i > 0; --i)
        if (text >= begin[i] && text < end[i]) {
          low = number(substr(text, 5)) - number(substr(begin[i], 5)) + offset[i] - caller
          return sprintf("%x", low)
        }
      return "unmapped"
    }
    $4 == 19 && $5 == 1 {
      begin[++modules] = address($11, $12)
      end[modules] = sprintf("%s%012x", substr(begin[modules], 1, 4), number(substr(begin[modules], 5)) + number($8))
      offset[modules] = number($15)
    }
    $4 == 10 {
      split($6, time, ":"); when = number(time[1]) * 4294967296 + number(time[2])
      flags = number($11); kernel = and(flags, 255); user = and(rshift(flags, 8), 255)
      line = sprintf("%d %s", when, in_file(address($9, $10), 0))
      for (i = 0; i < kernel + user; ++i) {
        # In kernel code the first of user mode is the address of the thread itself.
        caller = i >= kernel && !($5 == 20 && i == kernel)
        line = line " " in_file(address($(12 + 2 * i), $(13 + 2 * i)), caller)
      }
      print line
    }' "$1" | sort
}

# same_stacks POST_SHOW PERF_STACKS: each stack is that of perf. A few can differ where a tick met code without tables (_fini, for one, when a
# program ends): there both guess, and perf's library takes an address on the stack for the caller.
same_stacks() {
  post_stacks "$1" | paste -d '|' - "$2" | awk -F '|' '
    $1 == $2 { ++equal; next }
    { ++other; print "post: " $1 "\nperf: " $2 }
    $2 !~ / 7f[0-9a-f]*$/ { wrong = 1 }
    END { exit wrong || other > 0.02 * equal }'
}
