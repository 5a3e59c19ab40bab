# SPDX-License-Identifier: MIT
# What makes the build three times as fast (PITRACE_QUICK): precompiled headers of the standard library, fmt and
# GoogleMock, and files of a library that are compiled together. 'scripts/check long' builds without both, so that each
# file still includes what it uses. Turn it off to work on one file: it alone is compiled then.
#
# quick_build(TARGET KIND [ALONE FILE...]): KIND is standard; fmt, for targets that link fmt::fmt; or test, for GoogleTest programs.
# Targets of one kind share one precompiled file, for which their options must be the same: libraries, and code that is
# position-independent as theirs is. ALONE names the files that are compiled by themselves, since names in their anonymous
# namespaces are also used in other files of the target.
option(PITRACE_QUICK "Precompile headers, and compile files of a target together" OFF)
# 0 compiles all files of a target together, which shows every name that two of them use.
set(PITRACE_QUICK_BATCH 8 CACHE STRING "How many files are compiled together")
mark_as_advanced(PITRACE_QUICK_BATCH)

set(standard_headers <algorithm> <array> <cstdint> <functional> <map> <memory> <optional> <string> <string_view>
    <unordered_map> <vector>)

function(quick_build target kind)
  cmake_parse_arguments(QUICK "" "" "ALONE" ${ARGN})
  if(NOT PITRACE_QUICK)
    return()
  endif()
  if(NOT TARGET precompiled_${kind})
    file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/precompiled.cpp CONTENT "// Carries the precompiled headers.\n")
    add_library(precompiled_${kind} OBJECT ${CMAKE_BINARY_DIR}/precompiled.cpp)
    target_link_libraries(precompiled_${kind} PRIVATE pi)
    set(headers ${standard_headers})
    if(kind STREQUAL "fmt")
      target_link_libraries(precompiled_${kind} PRIVATE fmt::fmt)
      list(APPEND headers <fmt/format.h>)
    elseif(kind STREQUAL "test")
      target_link_libraries(precompiled_${kind} PRIVATE GTest::gmock GTest::gtest)
      target_compile_options(precompiled_${kind} PRIVATE ${test_options})
      list(APPEND headers <gmock/gmock.h> <gtest/gtest.h>)
    endif()
    target_precompile_headers(precompiled_${kind} PRIVATE ${headers})
  endif()
  target_precompile_headers(${target} REUSE_FROM precompiled_${kind})
  # Test files have helpers of the same names.
  if(NOT kind STREQUAL "test")
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${PITRACE_QUICK_BATCH})
  endif()
  if(QUICK_ALONE)
    set_source_files_properties(${QUICK_ALONE} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  endif()
endfunction()
