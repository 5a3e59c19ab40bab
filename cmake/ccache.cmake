# SPDX-License-Identifier: MIT
# Compiles through ccache if it is installed and the user has set no other launcher.
#
# ccache needs an option to cache precompiled headers, and the compilers need one that keeps build-specific data out of
# them: see "Precompiled headers" in ccache(1). The compiler's list of headers (-MD, which CMake requests) saves the
# preprocessor's run before each compilation: see "depend mode" there. The inode cache saves reading the precompiled
# header, of 70 MB, for each object.
find_program(PITRACE_CCACHE ccache)
mark_as_advanced(PITRACE_CCACHE)
if(PITRACE_CCACHE AND NOT CMAKE_C_COMPILER_LAUNCHER AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_C_COMPILER_LAUNCHER env CCACHE_SLOPPINESS=pch_defines,time_macros CCACHE_DEPEND=1 CCACHE_INODECACHE=1 ${PITRACE_CCACHE})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_C_COMPILER_LAUNCHER})
  add_compile_options($<$<COMPILE_LANG_AND_ID:CXX,GNU>:-fpch-preprocess>
                      "$<$<COMPILE_LANG_AND_ID:CXX,Clang>:SHELL:-Xclang -fno-pch-timestamp>")
endif()
