# SPDX-License-Identifier: MIT
# pitrace_tool(NAME SOURCES FILE... LIBS LIBRARY...): builds and installs a program.
function(pitrace_tool name)
  cmake_parse_arguments(TOOL "" "" "SOURCES;LIBS" ${ARGN})
  add_executable(${name} ${TOOL_SOURCES})
  target_link_libraries(${name} PRIVATE ${TOOL_LIBS})
  install(TARGETS ${name} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endfunction()

# pitrace_tool_library(NAME SOURCES FILE... LIBS LIBRARY... [PRIVATE LIBRARY...]): builds code that several programs, or a program
# and its unit test, link. Libraries after PRIVATE are not visible to its users.
function(pitrace_tool_library name)
  cmake_parse_arguments(TOOL "" "" "SOURCES;LIBS" ${ARGN})
  add_library(${name} STATIC ${TOOL_SOURCES})
  target_include_directories(${name} PUBLIC ${CMAKE_CURRENT_SOURCE_DIR})
  target_link_libraries(${name} PUBLIC ${TOOL_LIBS})
endfunction()
