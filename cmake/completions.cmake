# SPDX-License-Identifier: MIT
# Builds and installs the completions for bash, zsh and fish, from the help of the built programs.

# pitrace_completions(TARGET SCRIPT...): completions of all programs among the targets in the variable `installed`, and of scripts.
function(pitrace_completions target)
  set(names ${ARGN})
  list(TRANSFORM names PREPEND ${CMAKE_SOURCE_DIR}/scripts/ OUTPUT_VARIABLE sources)
  set(programs)
  foreach(each ${installed})
    get_target_property(type ${each} TYPE)
    if(type STREQUAL "EXECUTABLE")
      list(APPEND programs ${each})
    endif()
  endforeach()
  list(APPEND names ${programs} pipcntr)
  list(SORT names)
  set(folder ${CMAKE_BINARY_DIR}/completions)
  file(GLOB parts CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/scripts/completions.d/*)
  add_custom_command(OUTPUT ${folder}/zsh/_pitrace
    COMMAND ${CMAKE_SOURCE_DIR}/scripts/completions ${CMAKE_RUNTIME_OUTPUT_DIRECTORY} ${folder} ${names}
    DEPENDS ${programs} ${sources} ${parts} ${CMAKE_SOURCE_DIR}/scripts/completions
    COMMENT "Completions" VERBATIM)
  add_custom_target(${target} ALL DEPENDS ${folder}/zsh/_pitrace)
  install(DIRECTORY ${folder}/bash/ DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
  install(DIRECTORY ${folder}/zsh/ DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
  install(DIRECTORY ${folder}/fish/ DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
endfunction()
