#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# pitrace: each task starts its program with the arguments unchanged; help, and unknown tasks.

bats_require_minimum_version 1.5.0

setup() {
    PATH="$BUILD_DIR/bin:$PATH"
    cd "$BATS_TEST_TMPDIR" || return
}

# make_layout: an installation whose programs only print how they were started.
make_layout() {
    local program
    mkdir -p layout/bin layout/share/pitrace
    cp "$SOURCE_DIR/scripts/pitrace" layout/bin/
    cp "$SOURCE_DIR/scripts/lib.sh" layout/share/pitrace/
    for program in $(pitrace --help=table | cut -f 3 | cut -d ' ' -f 1 | sort -u); do
        # shellcheck disable=SC2016 # expanded by the program
        printf '#!/bin/sh\necho "${0##*/}"; for word; do echo "<$word>"; done; exit 7\n' >"layout/bin/$program"
        chmod 755 "layout/bin/$program"
    done
}

@test "help in all its forms goes to the standard output" {
    for form in -h --help -help '-?' '-??' help; do
        run -0 --separate-stderr pitrace "$form"
        [[ $output == "Usage: pitrace TASK"*"Where the time goes:"*"profile "*"run.tprof"*"Exit status"* && -z $stderr ]]
    done
    run -0 --separate-stderr pitrace --version
    [[ $output == "pitrace (pitrace) "[0-9]* && -z $stderr ]]
}

@test "every program of the build has a task, and every task is in the manual with its program" {
    pitrace --help=table >table
    [ "$(wc -l <table)" -gt 20 ]
    for program in "$BUILD_DIR"/bin/*; do
        program=${program##*/}
        # pipcntr is another name of mpevt.
        [[ $program == pitrace || $program == pipcntr ]] || cut -f 3 table | grep -qE "^$program( |$)" || { echo "no task: $program" && false; }
    done
    while IFS=$'\t' read -r _ task program summary; do
        [ -x "$BUILD_DIR/bin/${program%% *}" ]
        grep -A 3 "^\.It Ic $task$" "$SOURCE_DIR/docs/man/pitrace.1" >entry || { echo "not in the manual: $task" && false; }
        grep -qiF "$summary" entry
        grep -q "^\.Xr ${program%% *} 1" entry
    done <table
}

@test "each task starts its program with the task's words and all arguments unchanged" {
    make_layout
    pitrace --help=table >table
    while IFS=$'\t' read -r _ task program _; do
        run -7 layout/bin/pitrace "$task" -- 'two words' '' '*'
        read -ra words <<<"$program"
        expected=$(printf '%s\n' "${words[0]}" && printf '<%s>\n' "${words[@]:1}" -- 'two words' '' '*')
        [ "$output" = "$expected" ] || { printf '%s: %s, not %s\n' "$task" "$output" "$expected" && false; }
    done <table
}

@test "the name of a program is as good as a task" {
    make_layout
    run -7 layout/bin/pitrace swtrace init -s 3
    [ "$output" = $'swtrace\n<init>\n<-s>\n<3>' ]
    run -7 layout/bin/pitrace help run.tprof
    [ "$output" = $'run.tprof\n<--help>' ]
}

@test "help of a task is the help of its program" {
    for pair in report:post top:'post top' counters:mpevt check:'swtrace check' profile:run.tprof; do
        run -0 --separate-stderr pitrace help "${pair%%:*}"
        [[ $output == "Usage: ${pair#*:}"* ]]
    done
}

@test "an unknown task is an error, exits with 2 and names a similar one" {
    for pair in profil:profile repot:report swtrac:swtrace coun:counters itrac:itrace tinstal:tinstall; do
        run -2 --separate-stderr pitrace "${pair%%:*}" --json
        [[ -z $output && $stderr == 'pitrace: error: there is no task "'"${pair%%:*}"'"; did you mean "'"${pair#*:}"'"?'*"'pitrace help'"* ]]
        run -2 pitrace help "${pair%%:*}"
    done
    for word in xyz '' $'a\nb' 'a\n' '*' -x "$(printf 'x%.0s' {1..5000})"; do
        run -2 --separate-stderr pitrace "$word"
        [[ -z $output && $stderr == 'pitrace: error: there is no task "'* && $stderr != *'did you mean'* ]]
    done
    run -2 --separate-stderr pitrace
    [[ -z $output && $stderr == "pitrace: error: no task is given"*"Usage:"* ]]
    run -2 pitrace help top report
}

@test "it finds its programs in the build, from the source tree and through a link; a missing one is reported" {
    run -0 "$BUILD_DIR/bin/pitrace" report --version
    [[ $output == "post (pitrace) "* ]]
    if [ -x "$SOURCE_DIR/build/bin/post" ]; then
        run -0 "$SOURCE_DIR/scripts/pitrace" report --version
        [[ $output == "post (pitrace) "* ]]
    fi
    make_layout
    ln -s layout/bin/pitrace link
    run -7 ./link report
    [ "$output" = post ]
    rm layout/bin/post
    run -127 --separate-stderr layout/bin/pitrace report
    [[ -z $output && $stderr == "pitrace: error: post is missing in "*"install"* ]]
    # Never a program of the same name from PATH.
    mkdir other
    printf '#!/bin/sh\necho wrong\n' >other/post
    chmod 755 other/post
    PATH=$PWD/other:$PATH run -127 layout/bin/pitrace report
    mkdir -p tree/scripts
    cp "$SOURCE_DIR"/scripts/{pitrace,lib.sh} tree/scripts
    : >tree/CMakeLists.txt
    run -127 tree/scripts/pitrace report
    [[ $output == *"post is not built; build everything with: cmake"* ]]
}

@test "a profile by pitrace is that of run.tprof" {
    [ "$(swtrace check --json | jq .perf_process_works)" = true ] || skip "needs perf_event_open"
    mkdir -p layout/bin layout/share/pitrace
    cp "$SOURCE_DIR"/scripts/{pitrace,run.tprof} layout/bin/
    cp "$SOURCE_DIR"/scripts/{lib.sh,trace.sh,java.sh} layout/share/pitrace/
    ln -s "$BUILD_DIR/bin/swtrace" "$BUILD_DIR/bin/post" layout/bin/
    export PITRACE_SOCKET=$BATS_TEST_TMPDIR/recorder
    run -5 layout/bin/pitrace profile --source perf -o out -- sh -c 'exit 5'
    [ -s out/tprof.out ]
    run -0 layout/bin/pitrace report -r out/swtrace.nrm2 -o again
    [ -s again/tprof.out ]
}
