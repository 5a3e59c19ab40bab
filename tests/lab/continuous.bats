#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Continuous mode in the lab, at 1,000 ticks a second while 50 processes a second are started. CONTINUOUS_SECONDS is the
# duration: 15 by default; 600 for the promised duration. On a machine under load the emulated guest starts fewer processes; the
# output has their number.
# shellcheck disable=SC2016 # awk programs

setup_file() {
    cd "$BATS_TEST_DIRNAME/../.." || return 1
    : "${BUILD_DIR:?must be the build folder}"
    export seconds=${CONTINUOUS_SECONDS:-15} out=$BATS_FILE_TMPDIR/out
    scripts/lab --kernel "${LAB_KERNELS:-6.12}" --timeout $((2 * seconds + 300)) --out "$out" -- \
        tests/lab/continuous-guest.sh "$BUILD_DIR" "$seconds"
    cd "$out" || return 1
    "$BUILD_DIR/bin/post" --json -clip 0 >post.out 2>&1 || echo "post: exit status $?" >>post.out
    printf '# %s processes in %s s; %s\n' "$(<started)" "$(<took)" \
        "$(jq -c '{records, losses: (.losses | {produced, written, lost}), unresolved, processes: (.processes | length)}' \
            tprof.json)" >&3
    printf '# trace: %s bytes; memory of the recorder in KB: %s\n' "$(stat -c %s swtrace.nrm2)" \
        "$(awk '{ printf "%s ", $2 }' memory)" >&3
}

setup() { cd "$out" || return; }

@test "the trace names every process that was started" {
    [ "$(<started)" -gt $((5 * seconds)) ]
    # The started processes, and the one that started them.
    [ "$(jq '[.processes[] | select(.name == "churn")] | length' tprof.json)" -eq $(($(<started) + 1)) ]
}

@test "no record is lost or damaged" {
    source "$SOURCE_DIR/tests/support/profile.bash"
    check_accounts tprof.json
    jq -e '.losses.lost == 0 and .losses.overwritten == 0 and .losses.unwritten == 0 and .damage.places == 0' tprof.json
    # A guest that gets too little CPU time skips ticks, but not most of them.
    [ "$(jq .records.tprof tprof.json)" -gt $((200 * seconds)) ]
}

@test "every tick has a process and a module" {
    jq -e '.unresolved.no_module == 0' tprof.json
}

@test "the recorder's memory does not grow in the second half of the run" {
    # The maximum of the second half exceeds that of the first by at most 5 percent or 512 KB.
    awk '{ kb[NR] = $2 }
        END {
            for (i = 1; i <= NR; i++) { half = i > NR / 2; if (kb[i] > max[half]) max[half] = kb[i] }
            exit !(NR >= 10 && max[1] <= max[0] + (max[0] / 20 > 512 ? max[0] / 20 : 512))
        }' memory
}

@test "processes have the control groups in which they run, also those that ran before; shares are those of the kernel" {
    mkdir -p "$BATS_TEST_TMPDIR/groups"
    post() { "$BUILD_DIR/bin/post" -r "$out/cgroups.nrm2" -o "$BATS_TEST_TMPDIR/groups" "$@"; }
    post --json -clip 0 --export otlp
    post --showx
    cd "$BATS_TEST_TMPDIR/groups" || return
    awk '$4 == 19 && $5 == 69 && $8 == 2 { sub(/^\[[0-9]*\]/, "", $9); print $7, $9 }' post.show >paths
    for name in one three; do
        pid=$(printf %X "$(jq --arg name "in-$name" '[.processes[] | select(.name == $name) | .pid] | last' tprof.json)")
        echo "$name: process $pid of $(grep "^$pid " paths)"
        [ "$(grep "^$pid " paths | tail -n 1)" = "$pid /$name.service" ]
        jq --arg name "in-${name}_" '[.reports[0].rows[] | select(.name | startswith($name)) | .ticks] | add' tprof.json >"$name"
        # The service of its ticks.
        zcat tprof.otlp.gz | tr '\n' ' ' | LC_ALL=C grep -aqE "service\.name.{0,6}$name"
    done
    grep -x '[0-9A-F]* /before.service' paths
    echo "ticks: $(<one) and $(<three); microseconds: $(<"$out/one.usec") and $(<"$out/three.usec")"
    # Four standard deviations of a share of that many ticks.
    awk -v a="$(<one)" -v b="$(<three)" -v x="$(<"$out/one.usec")" -v y="$(<"$out/three.usec")" 'BEGIN {
        share = x / (x + y); got = a / (a + b); limit = 4 * sqrt(share * (1 - share) / (a + b))
        exit !(a + b > 100 && got > share - limit && got < share + limit) }'
}
