#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# The commands of README.md work in their order, and their output agrees with the output that README.md shows.

setup() {
    # shellcheck source=tests/support/documented_commands.bash
    source "$SOURCE_DIR/tests/support/documented_commands.bash"
    mkdir "$BATS_TEST_TMPDIR/work"
    cd "$BATS_TEST_TMPDIR/work" || return
    export PITRACE_SOCKET=$BATS_TEST_TMPDIR/recorder PITRACE_COUNTERS=$BATS_TEST_TMPDIR/counters
}

teardown() {
    "$BUILD_DIR/bin/swtrace" free >/dev/null 2>&1 || true
    "$BUILD_DIR/bin/mpevt" term >/dev/null 2>&1 || true
}

@test "the commands of README.md work in their order and print what it shows" {
    [ "$("$BUILD_DIR/bin/swtrace" check --json | jq .perf_system_works)" = true ] || skip "needs perf_event_open for the whole system"
    type -P java >/dev/null || skip "needs a JDK"
    make_directory
    "$SOURCE_DIR/tests/support/documented-commands" "$BUILD_DIR/bin" | awk -F '\t' '$1 == "README.md" && $2 != "inline"' |
        commands_of "$SOURCE_DIR/tests/support/documented_commands.table" here >../commands
    # The program of "What got slower".
    cat >demo.c <<'END'
#include "tests/progs/burn.h"
__attribute__((noipa)) void parse(void) { BURN(PARSE * 100000ul); }
__attribute__((noipa)) void render(void) { BURN(100000ul); }
int main(void)
{
	for (double end = now_seconds() + 0.5; now_seconds() < end;) {
		parse();
		render();
	}
}
END
    for name in before after; do
        gcc -O1 -DPARSE=$([ $name = before ] && echo 1 || echo 2) -o demo demo.c
        scripts/run.tprof -t -o $name -- ./demo
    done
    run_commands <../commands
}
