#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# The command lines of manuals, help texts and docs work as printed, and a test runs each of them.
# tests/cli/readme.bats runs the blocks of README.md, and tests/support/documented_commands.table lists commands that run elsewhere.

bats_require_minimum_version 1.5.0

setup_file() {
    export lines=$BATS_FILE_TMPDIR/lines table=$SOURCE_DIR/tests/support/documented_commands.table
    "$SOURCE_DIR/tests/support/documented-commands" "$BUILD_DIR/bin" >"$lines"
}

setup() {
    # shellcheck source=tests/support/documented_commands.bash
    source "$SOURCE_DIR/tests/support/documented_commands.bash"
    cd "$BATS_TEST_TMPDIR" || return
}

@test "every command of the table is in a document, and the test that the table names runs it" {
    local place file name bad=0
    sed -n 's/^  //p' "$table" | sort >listed
    [ -z "$(uniq -d listed)" ]
    cut -f 3 "$lines" | sort -u | comm -13 - listed >gone
    [ ! -s gone ] || { echo "in no document:" && cat gone && false; }
    while read -r place; do
        read -r file name <<<"$place"
        if [[ $file == nowhere ]]; then continue; fi
        if [[ -n $name ]]; then
            grep -qE "^(@test \"|promise )$name(\" \{| |$)" "$SOURCE_DIR/tests/$file"{.bats,-guest.sh} 2>/dev/null && continue
        else
            grep -q "commands_of .* $file\b" "$SOURCE_DIR/tests/$file.bats" && continue
        fi
        echo "no such test: $place"
        bad=1
    done < <(sed -nE 's/^([^ #][^:]*): .*/\1/p' "$table")
    [ "$bad" -eq 0 ]
}

@test "a test runs each command that swtrace check and messages advise" {
    commands_of "$table" here <"$lines" | awk -F '\t' '$2 == "advice"' >unlisted
    [ ! -s unlisted ] || { cat unlisted && false; }
    # The extractor finds such commands at all.
    [ "$(awk -F '\t' '$2 == "advice" && $1 ~ /swtrace\/check_/' "$lines" | wc -l)" -ge 10 ]
}

@test "commands in sentences are found: in README, manuals, help texts and messages" {
    local document
    for document in README.md post.1 'swtrace --help' tools/swtrace/cmd_event.cpp; do
        grep -q "^$document"$'\tinline\t' "$lines" || { echo "$document" && false; }
    done
    # A part of another command line is not repeated.
    run ! grep -q $'\tinline\tswtrace event list\t' "$lines"
}

@test "no line of a help text is wider than 80 columns" {
    local program command wide
    wide() { # wide COMMAND...
        COLUMNS=80 "$@" --help | grep -v '^  scripts/lab ' | awk -v name="$*" 'length > 80 { print name ": " $0 }'
    }
    for program in "$BUILD_DIR"/bin/*; do wide "$program"; done >wide
    for program in swtrace ptt; do
        for command in $("$BUILD_DIR/bin/$program" --help | awk '/^$/ { inside = 0 } inside { print $1 } /^Commands:$/ { inside = 1 }'); do
            wide "$BUILD_DIR/bin/$program" "$command"
        done
    done >>wide
    [ ! -s wide ] || { cat wide && false; }
}

# bats test_tags=long
@test "the commands of manuals, help texts and docs work as printed" {
    [ "$(id -u)" -eq 0 ] || skip "needs root for a process id and a /tmp of its own"
    [ "$("$BUILD_DIR/bin/swtrace" check --json | jq .perf_system_works)" = true ] || skip "needs perf_event_open for the whole system"
    type -P java node >/dev/null || skip "needs a JDK and node"
    commands_of "$table" here <"$lines" | awk -F '\t' '($1 != "README.md" || $2 == "inline") && $2 != "advice"' >commands
    [ "$(wc -l <commands)" -gt 80 ]
    mkdir place
    cd place
    "$SOURCE_DIR/tests/support/documented-examples" <../commands
}
