# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Runs the command lines of documents as printed there. Sourced; tests/support/documented-commands prints the lines.

# commands_of TABLE PLACE <LINES: filters the lines of documented-commands: prints those whose command the table assigns to
# PLACE; for "here" those that are not in the table. In the table a line "PLACE: REASON" precedes its commands, which are
# indented.
commands_of() {
    awk -F '\t' -v place="$2" '
        NR == FNR {
            if (/^  /) assigned[substr($0, 3)] = at
            else if (/^[^#]/) at = substr($0, 1, index($0, ": ") - 1)
            next
        }
        (($3 in assigned) ? assigned[$3] : "here") == place' "$1" -
}

# make_directory: fills the current directory like the source tree after a build, and adds programs of a reader.
make_directory() {
    local program
    mkdir -p build/bin build/share/pitrace programs
    ln -s "${BUILD_DIR:?}/lib" build/lib
    # Scripts as installed: from the source tree they would build the programs, and as root load the module.
    for program in "$BUILD_DIR"/bin/*; do
        if [[ $(head -c 2 "$program") == '#!' ]]; then cp -L "$program" build/bin/; else ln -s "$program" build/bin/; fi
    done
    cp "${SOURCE_DIR:?}"/scripts/*.sh build/share/pitrace/
    ln -s "$SOURCE_DIR/scripts/install-deps" build/bin/
    ln -s build/bin scripts
    ln -s "$SOURCE_DIR"/{tests,examples,libperfutil,docs} .
    own_program COMMAND 'head -c 50000000 /dev/zero | sha256sum'
    # shellcheck disable=SC2016 # expanded by the program's shell
    own_program sudo 'exec "$@"'
    PATH=$PWD/programs:$PATH
}

own_program() { # own_program NAME LINE: creates a shell script with this line
    printf '#!/bin/sh\n%s\n' "$2" >"programs/$1" && chmod 755 "programs/$1"
}

# The workload for documents in which three dots stand for one.
...() { ./myprogram; }

recorder_state() { swtrace info --json | jq -r 'if .trace == null then "none" elif .trace.on then "on" else "idle" end'; }

# recorder STATE: brings the recorder into the state none, idle or on.
recorder() {
    local state
    state=$(recorder_state)
    [[ $state != "$1" ]] || return 0
    [[ $state != on ]] || swtrace off
    if [[ $1 == none ]]; then swtrace free && return; fi
    if [[ $state == none ]]; then swtrace init && swtrace enable tprof || return; fi
    [[ $1 != on ]] || swtrace on
}

ptt_is_active() { ptt info | grep -q '^PTT: *active'; }

# prepare KIND COMMAND: brings recorder, counters and files into the state that the command of an example, or the first
# command of a session, assumes.
prepare() {
    case $1:$2 in
    *:'swtrace init'*) recorder none ;;
    *:'ptt init -calibrate') { ptt_is_active || ptt init; } && ptt ints && ptt term ;;
    *:'ptt init'*) ! ptt_is_active || ptt term ;;
    session:*) ;;
    *:'swtrace get'*) { [[ $(recorder_state) != none ]] || recorder on; } && recorder idle ;;
    *:'swtrace off' | *:'swtrace suspend' | *:'swtrace resume' | *:'swtrace discard') recorder on ;;
    *:'swtrace it_on') recorder on ;;
    *:'swtrace it_run'*) recorder on && swtrace it_off ;;
    *:'mpevt start'* | *:'pipcntr start'*) ! mpevt read || mpevt term ;;
    *:'mpevt read'* | *:'pipcntr read'* | *:'pipcntr show') mpevt read || mpevt start page-faults ;;
    *:'swtrace free' | *:'swtrace enable'* | *:'swtrace disable'* | *:'swtrace maj') recorder idle ;;
    *:'swtrace setrate'* | *:'swtrace stacks'* | *:'swtrace on' | *:'swtrace event '[!l]*) recorder idle ;;
    *:'swtrace it_install'*-cont*) recorder none && swtrace init -t cont ;;
    *:'swtrace it_install'*) recorder idle && swtrace it_remove ;;
    *:'ptt dump'* | *:'ptt term' | *:pttstats*) ptt_is_active || ptt init CYCLES page-faults ;;
    *:'post -arc'*) cp flow/swtrace.nrm2 swtrace.nrm2 ;;
    *:'hdump --to-hprof='*) [[ -e heap.hprof ]] || made_heap_dumps && rm -f heap.hprof ;;
    *:hdump*) [[ -e heap.hprof ]] || made_heap_dumps ;;
    *:*heapstats*) [[ -e heap.4711.1 ]] || made_heap_logs ;;
    *:logrt*) [[ -e before.json ]] || made_call_flow ;;
    *:arcf*) mkdir -p run1 && cp flow/arc run1/arc && cp flow/arc arc ;;
    *:post* | *:'pitrace report'* | *:genmsi* | *:'run.tprof -p '*) made_traces && cp run1.nrm2 swtrace.nrm2 ;;
    esac
}

# seconds_of COMMAND: prints after how many seconds to interrupt the command; nothing if it ends by itself soon.
seconds_of() {
    case $1 in
    'swtrace ai' | 'swtrace ai 5 12'* | 'swtrace ai 10 -r 2h'* | 'ptt dump -t 5 -r 60'* | 'cpi -i 1 -n 60'*) echo 2 ;;
    'run.tprof -r 30 -p 4711' | 'run.tprof -s 0 -r 30') echo 5 ;;
    esac
}

# run_line LINE: runs the command line. post top runs on a terminal, and gets the key q.
run_line() {
    local seconds
    seconds=$(seconds_of "$1")
    if [[ -n $seconds ]]; then
        timeout --preserve-status -s INT "$seconds" bash -c "$1"
    elif [[ $1 == *'post top'* ]]; then
        { /bin/sleep 2 && printf q; } | TERM=xterm script -qec "stty rows 24 columns 80; $1" /dev/null
    else
        eval "$1"
    fi
}

# shows WORD...: at least half of the words are in the output.
shows() {
    local word found=0
    for word; do ! grep -qF -- "$word" ../output || found=$((found + 1)); done
    ((2 * found >= $#))
}

# run_commands <LINES: runs the commands in this shell, one after the other. Each must exit with 0 and print half of the words
# of the output that the document shows. An example that was run already is not repeated.
run_commands() {
    local lines line document kind command words status failed=0 began
    declare -A seen=()
    mapfile -t lines
    for line in "${lines[@]}"; do
        IFS=$'\t' read -r document kind command words <<<"$line"
        [[ $kind == session || -z ${seen[$command]:-} ]] || continue
        seen[$command]=1
        began=$EPOCHREALTIME status=0
        prepare "$kind" "$command" >../prepared 2>&1 </dev/null || { echo "not ok: preparing: $command" && cat ../prepared; }
        run_line "$command" >../output 2>&1 </dev/null || status=$?
        # shellcheck disable=SC2086 # several words
        if ((status == 0)) && shows $words; then
            line=ok
        else
            line="not ok (exit status $status; beneath it: $words)"
            failed=1
            sed 's/^/# /' ../output
        fi
        awk -v began="$began" -v now="$EPOCHREALTIME" -v text="$line: $document: $command" 'BEGIN { printf "%6.2f s %s\n", now - began, text }'
    done
    return $failed
}
