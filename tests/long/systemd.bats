#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# The packages' unit pitrace-fleet under a real systemd, in namespaces of this machine: enabled, started, killed, stopped, limited, with
# a full disk; the end of the machine in the middle of a trace; the shares of services.

bats_require_minimum_version 1.5.0

part() { # part NAME: a machine of its own
    (cd "$SOURCE_DIR" && tests/long/systemd-boot.sh "$out" tests/long/systemd-unit.sh "$STAGE" "$1") >"$out/$1.out" 2>"$out/$1.err" 3>&- || true
    printf '# %s: %s of %s promises\n' "$1" "$(grep -c '^ok' "$out/$1.out")" "$(grep -cE '^(not )?ok' "$out/$1.out")" >&3
}

setup_file() {
    [ -x /lib/systemd/systemd ] || skip "needs systemd (scripts/install-deps long)"
    [ "$(id -u)" -eq 0 ] || skip "needs root"
    : "${STAGE:?must be the folder of an installation}"
    export out=$BATS_FILE_TMPDIR/out
    mkdir "$out"
    part first
    part second
}

kept() { # kept PART NAME...
    local name part=$1
    shift
    for name; do
        grep -qx "ok $name" "$out/$part.out" && continue
        echo "failed or missing: $name"
        cat "$out/$part.out"
        tail -n 40 "$out/$part.err" "$out/journal-$part"
        return 1
    done
}

@test "the unit is off until it is enabled, then it records and adds traces, with the limits of its file" {
    kept first unit-is-enabled-and-started unit-records unit-adds-traces unit-has-its-limits
}

@test "after SIGKILL of it or of its recorder another one records, and the open trace counts as partial" {
    kept first killed-it-is-started-again killed-recorder-is-replaced
}

@test "systemctl stop completes the open trace" {
    kept first stopped-its-trace-is-complete
}

@test "a full disk costs no more than the traces of that time" {
    kept first a-full-disk-is-survived
}

@test "a limit of memory costs a trace, not the recording; one of processor time is kept" {
    kept first memory-limit-costs-a-trace-only processor-limit-is-kept
}

@test "a machine that ends in the middle of a trace loses only what was not written" {
    kept second the-open-trace-of-before-is-added-and-counted
}

@test "services have the shares of ticks that they have of the processor's time" {
    kept first services-have-their-shares
    command -v npm >/dev/null || skip "needs npm (scripts/install-deps long)"
    PATH=$BUILD_DIR/bin:$PATH
    cd "$BATS_TEST_TMPDIR" || return
    if [[ -z ${PITRACE_DUCKDB-} ]]; then
        cp -r "$SOURCE_DIR/tests/long/export" readers
        (cd readers && npm ci --ignore-scripts --no-audit --no-fund)
        export PITRACE_DUCKDB=$PWD/readers/node_modules/@duckdb/node-bindings-linux-x64/libduckdb.so
    fi
    pitrace-fleet top --json --by service "$out/fleet" >top.json
    ticks() { jq -r --arg name "spin-$1" '.by.service[] | select(.name == $name) | .ticks' top.json; }
    one=$(ticks one) three=$(ticks three)
    echo "$one and $three ticks, $(<"$out/spin-one") and $(<"$out/spin-three") of the kernel's"
    ((one + three > 150))
    # Four standard deviations of a share of that many ticks.
    awk -v a="$one" -v b="$three" -v x="$(<"$out/spin-one")" -v y="$(<"$out/spin-three")" 'BEGIN {
        share = x / (x + y); got = a / (a + b); limit = 4 * sqrt(share * (1 - share) / (a + b))
        exit !(got > share - limit && got < share + limit) }'
}
