#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# The shared library from outside: what it exports, and that a C program can use it.

setup() {
    library="$BUILD_DIR/lib/libperfutil.so"
    header="$SOURCE_DIR/libperfutil/include/perfutil.h"
    cd "$BATS_TEST_TMPDIR" || return
}

@test "libperfutil exports exactly the functions of perfutil.h, all of one version" {
    nm -D --defined-only "$library" | awk '$2 == "T" { print $3 }' | sort >exported
    # Declarations begin in the first column: TYPE NAME(
    grep -oE '^(const |struct )?[a-z0-9_]+ \**[A-Za-z0-9]+\(' "$header" | sed -E 's/.*[ *]([A-Za-z0-9]+)\(/\1@@PERFUTIL_0/' |
        sort >declared
    [ "$(wc -l <declared)" -ge 28 ]
    diff declared exported
    [ "$(readelf -d "$library" | grep -c 'SONAME.*libperfutil.so.0')" -eq 1 ]
}

@test "a C11 program compiles against perfutil.h without a warning and runs" {
    ! readelf -d "$library" | grep -qE 'NEEDED.*lib(a|t|ub)san' ||
        skip "needs a build without sanitizers"
    cat >use.c <<'END'
#include <perfutil.h>
int main(void)
{
    return TraceOn() == PU_ERROR_NOT_INITIALIZED && ReadCycles() != 0 && *PiErrorText() != 0;
}
END
    "${CC:-cc}" -std=c11 -Wall -Wextra -Wpedantic -Werror -I "$(dirname "$header")" use.c \
        -o use "$library" -Wl,-rpath,"$BUILD_DIR/lib"
    run ./use
    [ "$status" -eq 1 ]
}
