#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# The shared library from outside: its exports, and use from C and C++ programs.

bats_require_minimum_version 1.5.0

setup() {
    library="$BUILD_DIR/lib/libperfutil.so"
    include="$SOURCE_DIR/libperfutil/include"
    headers=("$include"/perfutil_ptt.h "$include"/perfutil/*.h)
    include_options=(-I "$include" -I "$SOURCE_DIR/include")
    cd "$BATS_TEST_TMPDIR" || return
}

@test "libperfutil exports exactly the functions of its headers, all of one version" {
    nm -D --defined-only "$library" | awk '$2 == "T" { print $3 }' | sort >exported
    # Declarations begin in the first column: TYPE NAME(
    grep -ohE '^(const )?(struct )?[a-z0-9_]+ \**[A-Za-z0-9_]+\(' "${headers[@]}" | sed -E 's/.*[ *]([A-Za-z0-9_]+)\(/\1@@PERFUTIL_0/' |
        sort >declared
    [ "$(wc -l <declared)" -ge 120 ]
    diff declared exported
    [ "$(readelf -d "$library" | grep -c 'SONAME.*libperfutil.so.0')" -eq 1 ]
}

@test "each header compiles alone as C11 and as C++20 without a warning" {
    headers+=("$include"/perfutil.h "$SOURCE_DIR"/include/pitrace/{abi,ptt_data}.h)
    [ "${#headers[@]}" -eq 15 ]
    for header in "${headers[@]}"; do
        echo "#include \"$header\"" | tee alone.c >alone.cpp
        "${CC:-cc}" -std=c11 -Wall -Wextra -Wpedantic -Werror "${include_options[@]}" -fsyntax-only alone.c
        "${CXX:-c++}" -std=c++20 -Wall -Wextra -Wpedantic -Werror "${include_options[@]}" -fsyntax-only alone.cpp
    done
    for header in "$include"/perfutil/*.hpp; do
        echo "#include \"$header\"" >alone.cpp
        "${CXX:-c++}" -std=c++20 -Wall -Wextra -Wpedantic -Werror "${include_options[@]}" -fsyntax-only alone.cpp
    done
}

@test "perfutil.h includes the header of every subject" {
    for header in "$include"/perfutil/*.h; do
        grep -qx "#include <perfutil/${header##*/}>" "$include/perfutil.h"
    done
}

@test "C11 and C++ programs compile against perfutil_ptt.h without a warning" {
    echo '#include <perfutil_ptt.h>
int main(void) { uint64_t value = 0; return PiPttReadCycles(PiPttSlot(), &value) + PttGetMaxNumberOfMetrics() - 8; }' >use.c
    cp use.c use.cpp
    "${CC:-cc}" -std=c11 -Wall -Wextra -Wpedantic -Werror "${include_options[@]}" -fsyntax-only use.c
    "${CXX:-c++}" -std=c++20 -Wall -Wextra -Wpedantic -Werror "${include_options[@]}" -fsyntax-only use.cpp
}

@test "older names of renamed fields and constants compile and mean the same as the new ones" {
    echo '#include <stddef.h>
#include <perfutil_ptt.h>
#include <pitrace/ptt_abi.h>
#ifdef __cplusplus
#define _Static_assert static_assert
#endif
#define SAME(type, older, newer) \
    _Static_assert(offsetof(struct type, older) == offsetof(struct type, newer) && \
        sizeof(((struct type *)0)->older) == sizeof(((struct type *)0)->newer), #older)
SAME(ptt_stats, homeless_dispatches, without_account_dispatches);
SAME(ptt_stats, homeless_interrupts, without_account_interrupts);
SAME(ptt_stats, homeless, without_account);
SAME(pitrace_ptt_dump, homeless_dispatches, without_account_dispatches);
SAME(pitrace_ptt_dump, homeless_interrupts, without_account_interrupts);
SAME(pitrace_ptt_dump, homeless, without_account);
_Static_assert(sizeof(struct pitrace_ptt_dump) == 192, "layout");
_Static_assert(PITRACE_MTE_INNER == 0x68 && PITRACE_MTE_INNER == PITRACE_MTE_NAMESPACE_IDS, "record");
_Static_assert(PITRACE_INNER_PID == 0 && PITRACE_INNER_TID == 1 && PITRACE_INNER_PID_INSIDE == 2 &&
    PITRACE_INNER_TID_INSIDE == 3 && PITRACE_INNER_NAMESPACE == 4 && PITRACE_INNER_INTS == 5, "ints");' | tee older.c >older.cpp
    "${CC:-cc}" -std=c11 -Wall -Wextra -Wpedantic -Werror "${include_options[@]}" -fsyntax-only older.c
    "${CXX:-c++}" -std=c++20 -Wall -Wextra -Wpedantic -Werror "${include_options[@]}" -fsyntax-only older.cpp
}

@test "a C++ program compiles against perfutil.hpp without a warning, and calls ITraceOn without the PLT" {
    echo '#include <perfutil.hpp>
int main() { const pi::ITraceRegion region; return region ? 0 : region.rc(); }' >use.cpp
    "${CXX:-c++}" -std=c++20 -O2 -Wall -Wextra -Wpedantic -Werror "${include_options[@]}" -c use.cpp -o use.o
    run ! grep -E 'PLT32 .*ITraceO' <(readelf -rW use.o)
    readelf -rW use.o | grep -qE 'GOTPCREL.* ITraceOff'
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
    "${CC:-cc}" -std=c11 -Wall -Wextra -Wpedantic -Werror "${include_options[@]}" use.c \
        -o use "$library" -Wl,-rpath,"$BUILD_DIR/lib"
    run ./use
    [ "$status" -eq 1 ]
}

@test "the program with the earlier layout covers every structure whose size a caller sets" {
    local structures
    structures=$(awk '/^struct [a-z_]+ \{/ { name = $2 } /^\tsize_t size;/ { print name }' "${headers[@]}")
    [ "$(wc -w <<<"$structures")" -ge 5 ]
    for name in $structures; do
        grep -q "^struct $name {" "$SOURCE_DIR/tests/support/earlier_perfutil.h"
        grep -q "$name" "$SOURCE_DIR/tests/unit/libperfutil/api/struct_size_test.cpp"
    done
}

@test "a program that was built with an earlier perfutil.h, whose structures were smaller, runs" {
    ! readelf -d "$library" | grep -qE 'NEEDED.*lib(a|t|ub)san' ||
        skip "needs a build without sanitizers"
    "${CC:-cc}" -std=c11 -O2 -Wall -Wextra -Werror "$SOURCE_DIR/tests/support/earlier_caller.c" \
        -o earlier "$library" -Wl,-rpath,"$BUILD_DIR/lib"
    run ./earlier
    echo "$output"
    [ "$status" -ne 77 ] || skip "needs perf_event_open"
    [ "$status" -eq 0 ]
    [ "$output" = "event cpu-clock of software
PTT counts CYCLES
rate 100, buffers of 65536 bytes
ITrace installed: 0" ]
}

# install_libraries: installs both libraries and their development files in ./installed.
install_libraries() {
    ! readelf -d "$library" | grep -qE 'NEEDED.*lib(a|t|ub)san' || skip "needs a build without sanitizers"
    for component in libraries development; do
        cmake --install "$BUILD_DIR" --prefix "$PWD/built" --component "$component" >/dev/null
    done
    # Moved after the installation, so that an absolute path in an installed file would fail.
    mv built installed
    export LD_LIBRARY_PATH
    LD_LIBRARY_PATH=$(dirname installed/*/libperfutil.so installed/*/*/libperfutil.so | head -1)
    LD_LIBRARY_PATH=$PWD/$LD_LIBRARY_PATH
    export PITRACE_SOCKET=$PWD/socket
}

@test "C and C++ programs find the installed libraries with pkg-config" {
    install_libraries
    export PKG_CONFIG_PATH=$LD_LIBRARY_PATH/pkgconfig
    [ "$(pkg-config --modversion perfutil a2n | uniq | wc -l)" -eq 1 ]
    # shellcheck source=tests/support/documented_commands.bash
    source "$SOURCE_DIR/tests/support/documented_commands.bash"
    mkdir work
    cp "$SOURCE_DIR/examples/hooks.c" work/
    "$SOURCE_DIR/tests/support/documented-commands" "$BUILD_DIR/bin" |
        commands_of "$SOURCE_DIR/tests/support/documented_commands.table" cli/libperfutil >commands
    (cd work && run_commands <../commands)
    [ -x work/a.out ]
    read -ra flags < <(pkg-config --cflags --libs perfutil)
    read -ra a2n_flags < <(pkg-config --cflags --libs a2n)
    [ -z "$(pkg-config --print-requires --print-requires-private perfutil a2n)" ]
    "${CC:-cc}" -std=c11 -Wall -Wextra -Wpedantic -Werror "$SOURCE_DIR/examples/ptt.c" -o ptt "${flags[@]}"
    "${CC:-cc}" -std=c11 -Wall -Wextra -Wpedantic -Werror "$SOURCE_DIR/examples/symbols.c" -o symbols "${a2n_flags[@]}"
    "${CXX:-c++}" -std=c++20 -pthread -Wall -Wextra -Wpedantic -Werror "$SOURCE_DIR/examples/itrace.cpp" -o itrace "${flags[@]}"
    ./symbols | grep -E '^find_me of .*/symbols, [0-9]+ bytes$'
    ldd ./ptt | grep -F "$LD_LIBRARY_PATH/libperfutil.so.0"
    ./itrace || [ "$?" -eq 1 ]
}

@test "the examples build with find_package(pitrace) against the installed libraries, and run" {
    install_libraries
    cmake -S "$SOURCE_DIR/examples" -B build -DCMAKE_PREFIX_PATH="$PWD/installed" -DCMAKE_BUILD_TYPE=Debug >log 2>&1 ||
        { cat log && false; }
    cmake --build build --target example_hooks_cpp example_symbols_c >log 2>&1 || { cat log && false; }
    run ! grep -F "$BUILD_DIR" <(readelf -d build/examples/example_hooks_cpp)
    build/examples/example_hooks_cpp >printed
    [ "$(wc -l <printed)" -eq 1600 ]
    run ! grep -v '^71/' printed
    build/examples/example_symbols_c | grep -E '^find_me of '
}

@test "find_package(pitrace) has components and a version" {
    install_libraries
    mkdir use
    cat >use/CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.25)
project(use LANGUAGES NONE)
find_package(pitrace ${version} COMPONENTS ${parts})
message(STATUS "found ${pitrace_FOUND}, perfutil ${pitrace_perfutil_FOUND}, a2n ${pitrace_a2n_FOUND}")
END
    found() { cmake -S use -B use/build -DCMAKE_PREFIX_PATH="$PWD/installed" "$@" 2>&1 | grep -oE 'found .*'; }
    found -Dversion= -Dparts= | grep -ixE 'found (1|true), perfutil true, a2n true'
    found -Dversion=0.1 -Dparts=a2n | grep -ixE 'found (1|true), perfutil , a2n true'
    found -Dversion=0.1 -Dparts=none | grep -ixE 'found (0|false), .*'
    found -Dversion=1.0 -Dparts=a2n | grep -ixE 'found (0|false), .*'
}

@test "find_package(pitrace) names a component that is missing, and without liba2n the other examples can be built" {
    install_libraries
    rm installed/*/cmake/pitrace/pitrace-a2n*.cmake || rm installed/*/*/cmake/pitrace/pitrace-a2n*.cmake
    cmake -S "$SOURCE_DIR/examples" -B build -DCMAKE_PREFIX_PATH="$PWD/installed" >log 2>&1 || { cat log && false; }
    grep -q 'symbols.c is not built: .*liba2n-dev' log
    grep -q example_hello_c build/Makefile build/build.ninja 2>/dev/null
    mkdir use
    printf '%s\n' 'cmake_minimum_required(VERSION 3.25)' 'project(use LANGUAGES NONE)' \
        'find_package(pitrace REQUIRED COMPONENTS a2n)' >use/CMakeLists.txt
    run ! cmake -S use -B use/build -DCMAKE_PREFIX_PATH="$PWD/installed"
    [[ $(tr -s ' \n' ' ' <<<"$output") == *"component a2n is not installed for development (Debian: liba2n-dev)"* ]]
}
