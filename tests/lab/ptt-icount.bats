#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# PTT in the instruction-count lab, where cycles are instructions: what it counts of known work, and what it costs itself.
# Exact, whatever the host does.
# shellcheck disable=SC2016 # awk programs

read -ra kernels <<<"${LAB_KERNELS:-6.1 6.12}"
# shellcheck source=tests/lab/guests.bash
source "$BATS_TEST_DIRNAME/guests.bash"

setup_file() {
    local kernel
    cd "$BATS_TEST_DIRNAME/../.." || return 1
    : "${BUILD_DIR:?is the folder that the tests were built in}"
    boot_all --icount -- tests/lab/ptt-icount-guest.sh "$BUILD_DIR/tests" "$BUILD_DIR/bin"
    for kernel in "${kernels[@]}"; do sed "s/^/# $kernel: /" "$BATS_FILE_TMPDIR/$kernel" >&3; done
}

@test "the guest comes to its end with a clean console" {
    ended_well
}

@test "a loop of 1, 1,000 and 1,000,000 rounds reports its instructions and one constant, in ten runs each" {
    holds '$1 == "loop" && f("changes") == 0 { seen[$2]++; if (!n++) constant = f("constant")
               if (f("constant") != constant) bad++ }
           END { print "# constant " constant
                 exit !(!bad && constant > 0 && constant < 40 && seen[2] == 10 && seen[2000] == 10 && seen[2000000] > 0) }'
}

@test "an interrupt leaves one of few constants on the thread" {
    holds '$1 == "left" { all += f("times"); if (f("times") > most) most = f("times"); kinds++ }
           END { exit !(all > 100 && most > 0.5 * all && kinds < 12) }'
}

# Calibration knows what an interrupt leaves to within 20.
@test "among ten others the count is off by what ptt says that a dispatch leaves, for each of them" {
    holds '/^crowded Left on threads/ { least = $5; most = $7; median = $(NF - 3) }
           $1 == "crowded" && $2 == "loop" { off = f("constant"); n = f("dispatches")
               print "# " n " dispatches left " off ", " least " to " most " each"
               good = n > 5 && 0 < least && least <= median && median <= most && off >= least * n - 20 * f("interrupts") && off <= most * n }
           END { exit !good }'
}

@test "calibrated, a thread that is interrupted 1,000 times a second is right to 0.01 percent" {
    holds '$1 == "calibrated" && $2 == "loop" { off = f("constant") / $3; n = f("interrupts")
               print "# " n " interrupts, off by " off; good = n > 500 && off < 0.0001 && off > -0.0001 }
           END { exit !good }'
}

@test "all accounts add up to what was counted, to the instruction, while PTT is active and after it" {
    holds '$2 == "sums" { n++; if (f("off") != 0) bad++ }
           END { exit !(n >= 8 && !bad) }'
}

@test "every dispatch and every interrupt is in one account" {
    holds '$2 == "counts" { n++; if ($4 != $6 || $8 != $10) bad++ } END { exit !(n >= 5 && !bad) }'
}

@test "a mixed load takes the time that the kernel's scheduler says, within one percent, and its dispatches" {
    holds '$1 == "kernel" && f("milliseconds") > 100 { n++; off = f("off-permille"); if (off > 10 || off < -10) bad++ }
           $1 == "kernel" && f("switches") != f("dispatches") { bad++ }
           END { exit !(n == 6 && !bad) }'
}

@test "reading costs at most 40 instructions, a twentieth of the thread clock" {
    holds '$1 == "cost" { cost[$2] = $3 }
           END { exit !(cost["slot"] > 3 && cost["slot"] <= 40 && 20 * cost["slot"] <= cost["clock"]) }'
}

@test "a dispatch costs at most 150 instructions more, with one metric and with two" {
    holds '$1 == "dispatch-hook" { n++; if (f("instructions") < 30 || f("instructions") > 150) bad++ }
           END { exit !(n == 2 && !bad) }'
}

# Of the loops in which no other thread ran. 100 with two metrics is the aim, and missed: bench/README.md.
@test "an interrupt costs at most 120 instructions more at its entry and at its exit, with two metrics 145" {
    holds '/^(un)?hooked/ && f("dispatches") == 0 { more[$1] += f("elapsed") - $3; n[$1] += f("timers") }
           END { for (i = 1; i <= 2; i++) {
                     each[i] = (more["hooked" i] / n["hooked" i] - more["unhooked"] / n["unhooked"]) / 2
                     print "# interrupt-hook metrics " i " instructions " each[i]
                 }
                 exit !(n["hooked2"] > 100 && each[1] > 20 && each[1] <= 120 && each[2] <= 145) }'
}

@test "page faults are counted on the thread that has them" {
    holds '$1 == "faults" { good = f("counted") == $2 } END { exit !good }'
}

@test "without a hook on them interrupts stay on the thread" {
    holds '$1 == "noints" && $2 == "sums" { good = f("interrupt") == 0 && f("threads") > 0 } END { exit !good }'
}

@test "PTT that has ended costs nothing" {
    holds '$1 == "off" { good = f("after") < 1.02 * f("before") } END { exit !good }'
}
