#!/bin/bash
# SPDX-License-Identifier: MIT
# Guest part of newest.bats: one short test of each part of the module. Prints "ok NAME" or "not ok NAME" for each; these
# names are the rows of the table in docs/kernels.md.
# Usage: newest-guest.sh BUILD-FOLDER
# shellcheck disable=SC2016 # awk programs have dollars
set -u

here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "$1" && pwd)
tool=$build/tests/drivertool
itracer=$build/tests/itracer
ptttool=$build/tests/ptttool
PATH=$build/bin:$PATH
module=/run/lab/ctl/pitrace.ko
work=$LAB_OUT/newest
mkdir -p "$work"
cd "$work" || exit

# shellcheck source=tests/lab/promises.bash
source "$here/promises.bash"

echo "# kernel $(uname -r)"
promise the-module-loads test -c /dev/pitrace

"$tool" probes >"$work/probes"
promise every-hook-is-attached awk "$f"'/^probe/ { hooks++; if (!f("attached")) { print "# " $0; bad = 1 } }
    END { print "# " hooks " hooks"; exit bad || hooks < 40 }' probes

# ---- samples: the whole way to the report ----

samples() {
    export PITRACE_SOCKET=/run/newest.socket
    swtrace init --source driver -s 4 && swtrace enable tprof && swtrace on && "$build/tests/mixed" 1 &&
        swtrace info >"$work/info" && swtrace off && swtrace get run.nrm2 && swtrace free &&
        post -r run.nrm2 -o . -clip 0 && grep -q 'user_work' tprof.out && grep -q 'vmlinux' tprof.out
} >samples.log 2>&1
promise samples-and-names-in-the-report samples || sed 's/^/# /' samples.log
# A hook that is not attached must be named there.
promise missing-hooks-are-named-under-cannot-see test \
    "$(grep -c 'Cannot see.*Records of the hook' info)" = "$(grep -c 'attached 0' probes)"

# ---- records ----

# records NAME MAJOR MINIMUM COMMAND...: the command causes at least that many records of the major, and none is lost.
records() {
    local name=$1 major=$2 minimum=$3
    shift 3
    trace "$name" -d -t 8192 -M "0x$major" -- "$@" &&
        awk "$f"'/^check/ { checks++; bad += $3 != "ok" } /^stream/ { bad += f("produced") != f("written") }
            $1 == "record" && $4 ~ "^'"$major"'/" { records++ }
            END { print "# " records + 0 " records"; exit !(checks && !bad && records >= '"$minimum"') }' "$name"
}
promise context-switches-are-recorded records switches 12 600 "$tool" pingpong 300
promise interrupts-are-recorded records interrupts 04 20 sleep 0.3
promise system-calls-are-recorded records calls 05 2000 "$tool" getppid 1000
promise page-faults-are-recorded records faults 03 200 "$tool" touch 200
promise new-processes-and-mappings-are-recorded records processes 19 50 "$tool" spawn 10

# ---- call stacks ----

promise call-stacks-of-user-and-kernel-code eval 'trace stacks -d -t 8192 -S 3:64 -- "$build/tests/stackwork" read 1 &&
    awk "$f"'\''$1 == "command" { pid = $3 }
        $1 == "record" && $4 == "10/20" { for (i = 5; i < NF && $i != "stack"; i++); kernel += $(i + 2) > 1; user += $(i + 3) > 1 }
        END { print "# " kernel " with frames of the kernel, " user " with frames of the user"; exit !(kernel > 20 && user > 20) }'\'' stacks'

# ---- AboveIdle, PTT ----

promise above-idle "$tool" ai-duty 1 50 2
"$ptttool" init keep
"$ptttool" many 1 50 >"$work/many" 2>&1
promise counters-of-threads-ptt "$ptttool" sums
"$ptttool" term

# ---- ITrace ----

promise itrace-of-user-code "$itracer" -iuc self loop 1000
promise itrace-of-kernel-code "$itracer" -ik self write 2
promise itrace-of-a-program "$itracer" -iuc run /bin/true

# ---- unload ----

nothing_left() {
    rmmod pitrace && ! grep -q '\[pitrace\]' /proc/kallsyms && [[ ! -e /dev/pitrace ]] &&
        ! grep -q pitrace /proc/vmallocinfo /sys/devices/system/cpu/hotplug/states &&
        ! grep -q pitrace /sys/kernel/debug/kprobes/list
}
promise unloading-leaves-nothing nothing_left
promise it-loads-again insmod $module
rmmod pitrace
echo "ok finished"
