# SPDX-License-Identifier: MIT
# Makes the build three times as fast (PITRACE_QUICK) with precompiled headers of the standard library, fmt and GoogleMock,
# and with unity builds: files of a library are compiled together. 'scripts/check long' builds without both, which checks that
# each file includes what it uses. Turn the option off to work on one file: then only that file is compiled again.
#
# quick_build(TARGET KIND [ALONE FILE...]): KIND is standard; fmt, for targets that link fmt::fmt; or test, for GoogleTest programs.
# Targets of one kind share one precompiled header, so their compile options must be the same: only libraries, and code that
# is position-independent as theirs is. ALONE lists files that are compiled separately because other files of the target
# use the same names in their anonymous namespaces.
option(PITRACE_QUICK "Precompile headers, and compile files of a target together" OFF)
# 0 compiles all files of a target together, so the compiler reports every name that two of them define.
set(PITRACE_QUICK_BATCH 20 CACHE STRING "How many files are compiled together")
mark_as_advanced(PITRACE_QUICK_BATCH)

set(standard_headers <algorithm> <array> <cstdint> <functional> <map> <memory> <optional> <string> <string_view>
    <unordered_map> <vector>)

function(quick_build target kind)
  cmake_parse_arguments(QUICK "" "" "ALONE" ${ARGN})
  if(NOT PITRACE_QUICK)
    return()
  endif()
  if(NOT TARGET precompiled_${kind})
    file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/precompiled.cpp CONTENT "// Exists to compile the precompiled headers.\n")
    add_library(precompiled_${kind} OBJECT ${CMAKE_BINARY_DIR}/precompiled.cpp)
    target_link_libraries(precompiled_${kind} PRIVATE pi)
    set(headers ${standard_headers})
    if(kind STREQUAL "fmt")
      target_link_libraries(precompiled_${kind} PRIVATE fmt::fmt)
      list(APPEND headers <fmt/format.h>)
    elseif(kind STREQUAL "test")
      target_link_libraries(precompiled_${kind} PRIVATE GTest::gmock GTest::gtest)
      pitrace_test_code(precompiled_${kind})
      list(APPEND headers <gmock/gmock.h> <gtest/gtest.h>)
    endif()
    target_precompile_headers(precompiled_${kind} PRIVATE ${headers})
  endif()
  target_precompile_headers(${target} REUSE_FROM precompiled_${kind})
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${PITRACE_QUICK_BATCH})
  if(QUICK_ALONE)
    set_source_files_properties(${QUICK_ALONE} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  endif()
endfunction()

# exporting_files(FILE...): files whose functions a shared library exports.
function(exporting_files)
  set_source_files_properties(${ARGN} PROPERTIES COMPILE_OPTIONS -fvisibility=default)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang") # refuses a precompiled header of another visibility
    set_source_files_properties(${ARGN} PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
  endif()
endfunction()
