#!/bin/bash
# SPDX-License-Identifier: MIT
# Guest part of callflow-icount.bats: the leaves of Kept, compiled, with and without probes. Prints
#   sequence TYPES-AND-TRANSITIONS ENVIRONMENT SUBTRACTED  of the calls of static leaves and of the other one
#   base METHOD COST SHARE     the most frequent cost in log-gen of a call of the leaf, and the percentage of calls that have it
#   own METHOD INSTRUCTIONS    what a call executes without probes, by ITrace
#   interval METHOD ALL        with probes: what is executed from the last read of the entry's probe to the first one of the exit's
#   code PART METHOD N INSTRUCTION  the instructions in the leaf: of "own", and with probes "before" the return from the probe of the
#                              entry, "between" that and the call of the exit's, the call included, and "after" that
# Usage: callflow-icount-code-guest.sh BUILD-FOLDER
set -eu

build=$1
here=$(readlink -f "${0%/*}")
# shellcheck source=tests/lab/callflow-icount.bash
source "$here/callflow-icount.bash"
cd "$LAB_OUT"
export PATH=$build/bin:$PATH HOME=$LAB_OUT
jvm=(-XX:+UseSerialGC -Xbatch -XX:CompileCommand=quiet '-XX:CompileCommand=dontinline,Kept.*')

"$build/stage/bin/run.minima" --source=driver --no-install -m RAW_CYCLES -o minima -- java -XX:+UseSerialGC
probed=calltree,start,metrics=raw_cycles,envminima=minima
java "${jvm[@]}" -agentpath:"$build/lib/libjprof.so=$probed,calltrace,nopidx" -cp "$build/tests/java" Kept 20000 >/dev/null
awk '$1 == "RAW_CYCLES" && /j En [jJ] Ex j/ { print "sequence", $2 $3 $4 $5 $6, $10, $11 }' log-rt.1
# The last thousand rounds, of sixteen events each.
grep -E '^ *-?[0-9]+ [<>] .:Kept\.' log-gen.1 | tail -n 16000 |
    awk '{ name = substr($3, 8); sub(/\(.*/, "", name) }
        $2 == "<" && name == entered { calls[name]++; if (++seen[name, $1] > seen[name, most[name]]) most[name] = $1 }
        { entered = $2 == ">" ? name : "" }
        END { for (name in most) print "base", name, most[name], int(100 * seen[name, most[name]] / calls[name]) }'
rm log-gen.1

follow Kept read 0.05 '' -ss
awk -f "$here/callflow-icount-code.awk" arc
follow Kept read 0.2 ",$probed" -ss
awk -v probed=1 -f "$here/callflow-icount-code.awk" arc
