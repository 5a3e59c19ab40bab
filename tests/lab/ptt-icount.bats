#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# PTT in the instruction-count lab, where cycles equal instructions: counts of known work, and PTT's own costs. Exact,
# independent of the host's load.
# shellcheck disable=SC2016 # awk programs

read -ra kernels <<<"${LAB_KERNELS:-6.1 6.12}"
# shellcheck source=tests/lab/guests.bash
source "$BATS_TEST_DIRNAME/guests.bash"

setup_file() {
    local kernel
    cd "$BATS_TEST_DIRNAME/../.." || return 1
    : "${BUILD_DIR:?must be the build folder}"
    boot_all --icount -- tests/lab/ptt-icount-guest.sh "$BUILD_DIR/tests" "$BUILD_DIR/bin"
    for kernel in "${kernels[@]}"; do sed "s/^/# $kernel: /" "$BATS_FILE_TMPDIR/$kernel" >&3; done
}

@test "the guest finishes, and its kernel reports no error" {
    ended_well
}

@test "the count of a loop of any length is its instructions plus the same constant" {
    holds '$1 == "loop" && f("changes") == 0 { seen[$2]++; if (!n++) constant = f("constant")
               if (f("constant") != constant) bad++ }
           END { print "# constant " constant
                 exit !(!bad && constant > 0 && constant < 40 && seen[2] == 10 && seen[2000] == 10 && seen[2000000] > 0) }'
}

@test "the residual overhead of an interrupt has fewer than 12 different values" {
    holds '$1 == "left" { all += f("times"); if (f("times") > max) max = f("times"); kinds++ }
           END { exit !(all > 100 && max > 0.5 * all && kinds < 12) }'
}

# The calibrated overhead of an interrupt is exact to 20 instructions.
@test "each context switch adds the residual overhead that ptt reports" {
    holds '/^crowded Not subtracted/ { min = $4; max = $6; median = $NF }
           $1 == "crowded" && $2 == "loop" { off = f("constant"); n = f("dispatches")
               print "# " n " dispatches left " off ", " min " to " max " each"
               good = n > 5 && 0 < min && min <= median && median <= max && off >= min * n - 20 * f("interrupts") && off <= max * n }
           END { exit !good }'
}

@test "with calibration the count has an error below 0.01 percent at 1,000 interrupts a second" {
    holds '$1 == "calibrated" && $2 == "loop" { off = f("constant") / $3; n = f("interrupts")
               print "# " n " interrupts, off by " off; good = n > 500 && off < 0.0001 && off > -0.0001 }
           END { exit !good }'
}

@test "without interrupts of their own calibration is refused" {
    holds '/^refused .*error: .*ptt ints/ { good = 1 } END { exit !good }'
}

@test "all accounts add up exactly to the elapsed count, while PTT is active and after its end" {
    holds '$2 == "sums" { n++; if (f("off") != 0) bad++ }
           END { exit !(n >= 8 && !bad) }'
}

@test "every context switch and every interrupt is in exactly one account" {
    holds '$2 == "counts" { n++; if ($4 != $6 || $8 != $10) bad++ } END { exit !(n >= 5 && !bad) }'
}

@test "times agree with the kernel's scheduler within one percent, context switches exactly" {
    holds '$1 == "kernel" && f("milliseconds") > 100 { n++; off = f("off-permille"); if (off > 10 || off < -10) bad++ }
           $1 == "kernel" && f("switches") != f("dispatches") { bad++ }
           END { exit !(n == 6 && !bad) }'
}

@test "a read costs at most 40 instructions and at most a twentieth of the thread clock" {
    holds '$1 == "cost" { cost[$2] = $3 }
           END { exit !(cost["slot"] > 3 && cost["slot"] <= 40 && 20 * cost["slot"] <= cost["clock"]) }'
}

@test "PTT adds at most 150 instructions to a context switch, with one metric or two" {
    holds '$1 == "dispatch-hook" { n++; if (f("instructions") < 30 || f("instructions") > 150) bad++ }
           END { exit !(n == 2 && !bad) }'
}

# Only for loops in which no other thread ran. The aim with two metrics is 100, and is missed: bench/README.md.
@test "PTT adds at most 120 instructions to an interrupt's entry and exit each, 145 with two metrics" {
    holds '/^(un)?hooked/ && f("dispatches") == 0 { more[$1] += f("elapsed") - $3; n[$1] += f("timers") }
           END { for (i = 1; i <= 2; i++) {
                     each[i] = (more["hooked" i] / n["hooked" i] - more["unhooked"] / n["unhooked"]) / 2
                     print "# interrupt-hook metrics " i " instructions " each[i]
                 }
                 exit !(n["hooked2"] > 100 && each[1] > 20 && each[1] <= 120 && each[2] <= 145) }'
}

@test "page faults are counted on the faulting thread" {
    holds '$1 == "faults" { good = f("counted") == $2 } END { exit !good }'
}

@test "while the interrupt hooks are off, interrupts are charged to the thread" {
    holds '$1 == "noints" && $2 == "sums" { good = f("interrupt") == 0 && f("threads") > 0 } END { exit !good }'
}

@test "PTT costs nothing after its end" {
    holds '$1 == "off" { good = f("after") < 1.02 * f("before") } END { exit !good }'
}
