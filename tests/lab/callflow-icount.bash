# shellcheck shell=bash
# shellcheck disable=SC2154 # build, jvm: set by the caller
# SPDX-License-Identifier: MIT
# Traces of Java programs, for the guests of callflow-icount.bats. Sourced, in the folder for files.

# follow PROGRAM METHOD SECONDS AGENT-OPTIONS [POST-OPTION...]: runs a program of the tests for ever, and writes the arc of some of its
# seconds, when the method has been compiled for some time.
follow() {
    local program=$1 method=$2 seconds=$3 options=$4
    shift 4
    java "${jvm[@]}" -agentpath:"$build/lib/libjprof.so=itrace$options" -cp "$build/tests/java" "$program" 2000000000 >/dev/null &
    local process=$!
    until grep -q "$program.$method" log-jita2n_$process 2>/dev/null; do sleep 1; done
    sleep 2
    swtrace init -s 16 && swtrace it_install -i -user && swtrace it_enable $process && swtrace on && swtrace it_on
    sleep "$seconds"
    swtrace it_off && swtrace off && swtrace get swtrace.nrm2 && swtrace free
    kill -KILL $process
    post -r swtrace.nrm2 -arc "$@" >/dev/null
}
