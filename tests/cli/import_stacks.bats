#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# post --import of recordings with copies of stacks (perf record --call-graph dwarf): the callers are those that perf finds in them.

bats_require_minimum_version 1.5.0

setup_file() {
    export PATH="$BUILD_DIR/bin:$BUILD_DIR/tests:$PATH" DEBUGINFOD_URLS= secret=known-only-to-$$
    type -P perf >/dev/null || skip "needs perf"
    cd "$BATS_FILE_TMPDIR" || return
    # A name that no other test on this machine uses at the same time. perf's copies of its files go here, too.
    export program=plain-$$ HOME=$BATS_FILE_TMPDIR
    cp "$BUILD_DIR/tests/plain_calls" "$program"
    perf record -q -e cpu-clock -F 997 --call-graph dwarf -o perf.data "./$program" 1 >/dev/null 2>perf.err ||
        skip "perf cannot record here"
}

setup() {
    load "$BATS_TEST_DIRNAME/../support/perf_stacks.bash"
    cd "$BATS_FILE_TMPDIR" || return
}

# Whether tprof.out of folder $1 has the text $2, which may be broken into lines anywhere.
reports() { tr -s ' \n' ' ' <"$1/tprof.out" | grep -qF -- "$2"; }

# nearly_all_are_cut REASON: folder moved reports so of nearly all of $count ticks: the program is not yet mapped in those of its start.
nearly_all_are_cut() {
    local cut
    cut=$(tr -s ' \n' ' ' <moved/tprof.out | grep -oP "\d+(?= user stack\(s\) are cut in the code of 1 file\(s\): )")
    reports moved "$cut user stack(s) are cut in the code of 1 file(s): $PWD/$program ($cut: $1)."
    [ "$cut" -le "$count" ]
    [ "$cut" -ge $((count * 98 / 100)) ]
}

@test "callers in copies of stacks are those of perf script, frame by frame" {
    post --import perf.data -showx
    perf_stacks perf.data >wanted
    same_stacks post.show wanted
    [ "$(wc -l <wanted)" -ge 300 ]
    # Stacks of several depths.
    [ "$(awk '{ print NF }' wanted | sort -u | wc -l)" -ge 4 ]
    post -r perf.data.nrm2 --json --folded --clip 0 2>err
    [ ! -s err ]
    # Stacks are whole, but for a few ticks while the program is started, and have the program's shares.
    awk '{ all += $NF } /\[cut\]|\[broken\]/ { missing += $NF } END { print missing + 0 " of " all; exit missing > 0.02 * all }' tprof.folded
    awk '{ n = split($0, part, ";"); leaf = part[n]; sub(/ [0-9]+$/, "", leaf); ticks = $NF; all += ticks }
        /;beta;shared/ { beta += ticks } /;alpha;shared/ { alpha += ticks } /;recurse/ { deep += ticks }
        END { printf "%d ticks: beta %.1f %%, alpha %.1f %%, recurse %.1f %%\n", all, 100 * beta / all, 100 * alpha / all, 100 * deep / all
            exit !(beta / all > .14 && beta / all < .26 && alpha / all > .05 && alpha / all < .15 && deep / all > .32 && deep / all < .48) }' tprof.folded
    reports . 'Cannot see : The CPU of each record'
}

@test "callers of kernel code" {
    perf record -q -e cpu-clock -F 997 --call-graph dwarf -o kernel.data dd if=/dev/zero of=/dev/null bs=1M count=4000 2>/dev/null
    post --import kernel.data -o kernel -showx
    perf_stacks kernel.data >wanted.kernel
    same_stacks kernel/post.show wanted.kernel
    [ "$(grep -c ' ffffffff.* [0-9a-f]\{4,6\}$' wanted.kernel)" -ge 20 ]
}

@test "no byte of a copied stack is in the trace or a report" {
    # With a stack at a random place, the environment can be beyond what is copied.
    env -i SECRET="$secret" HOME="$HOME" PATH="$PATH" setarch -R perf record -q -e cpu-clock -F 997 --call-graph dwarf -o secret.data \
        "./$program" 0.3 >/dev/null
    grep -qF "$secret" secret.data
    mkdir -p quiet
    post --import secret.data -o quiet --json --folded --html -show
    [ -s quiet/tprof.html ]
    run ! grep -rqF "$secret" quiet
}

@test "code of a file that is missing or another one cuts its stacks, and the report names it" {
    mkdir -p kept moved
    mv "$program" kept/
    mv .debug kept/debug
    post --import perf.data -o moved --json --folded --clip 0
    count=$(jq .ticks moved/tprof.json)
    nearly_all_are_cut "it is not here"
    # The tick's own address is still known, and nothing is guessed beyond: only code of libc that the start of the program has called can
    # have __libc_start_main as a caller.
    [ "$(awk '{ print gsub(/;/, "") }' moved/tprof.folded | sort -n | head -1)" -le 2 ]
    run ! grep -q "__libc_start.*;\[$program\|\[guess" moved/tprof.folded
    # Another program of that name, as on another machine.
    cp "$BUILD_DIR/tests/calls" "$program"
    post --import perf.data -o moved
    nearly_all_are_cut "the file here has another build-id, or is no file"
    # It is found among copies with the recorded build-id, and in perf's own cache.
    post --import perf.data -o moved --sympath kept -showx
    perf_stacks perf.data >missing
    same_stacks moved/post.show wanted
    mv kept/debug .debug
    post --import perf.data -o moved -showx
    same_stacks moved/post.show wanted
    mv "kept/$program" .
}

@test "a recording of a pipe, compressed, without build-ids" {
    cp "$BUILD_DIR/tests/unframed" "un$program"
    perf record -q -z -e cpu-clock -F 499 --call-graph dwarf,4096 -o - "./un$program" 0.5 2>/dev/null | cat >piped.data
    post --import piped.data -showx
    perf_stacks piped.data >wanted.piped
    [ "$(wc -l <wanted.piped)" -ge 50 ]
    same_stacks post.show wanted.piped
}

@test "the child process that compiles tables ends with post, however that ends" {
    # Hundreds of copies of the recording would take minutes: it is stopped while it unwinds.
    for signal in INT KILL; do
        post --import perf.data -o ended 3>&- &
        post=$!
        sleep 0.05
        kill -"$signal" "$post" 2>/dev/null || true
        wait "$post" || true
        # Children have their own session: they are found by their word.
        for try in {1..50}; do
            [ -z "$(pgrep -f -- "^swtrace --compile-unwind-table" | while read -r pid; do
                [ "$(readlink "/proc/$pid/exe")" = "$(readlink -f "$BUILD_DIR/bin/post")" ] && echo "$pid"
            done)" ] && break
            sleep 0.1
        done
        [ "$try" -lt 50 ]
        # A file is there when it is whole, and no other is.
        mkdir -p ended
        run ! grep -vx 'perf.data.nrm2\|tprof.out' <(ls -A ended)
        [ ! -e ended/perf.data.nrm2 ] || post ended/perf.data.nrm2 -o again
        rm -rf ended
    done
}
