# SPDX-License-Identifier: MIT
# How applications find the libraries: pkg-config files and a CMake package. All paths in them are relative to the file's own path,
# so that an installed tree can be moved.
#
# package_library(TARGET DESCRIPTION): installs the shared library, its pkg-config file TARGET.pc, and its imported
# target pitrace::TARGET. Install components: 'libraries' for running programs, 'development' for building them.
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/pitrace)

function(package_library target description)
  add_library(pitrace::${target} ALIAS ${target})
  # Headers are installed into one folder; in the build tree they also need the folder of the shared headers.
  target_include_directories(${target} PUBLIC
    $<BUILD_INTERFACE:${CMAKE_CURRENT_SOURCE_DIR}/include>
    $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}/include>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  install(TARGETS ${target} EXPORT pitrace-${target} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
    COMPONENT libraries NAMELINK_COMPONENT development)
  install(EXPORT pitrace-${target} NAMESPACE pitrace:: DESTINATION ${package_dir} COMPONENT development)
  set_property(GLOBAL APPEND PROPERTY pitrace_packages ${target})

  set(pc_name ${target})
  set(pc_description ${description})
  if(IS_ABSOLUTE ${CMAKE_INSTALL_LIBDIR} OR IS_ABSOLUTE ${CMAKE_INSTALL_INCLUDEDIR})
    set(pc_prefix ${CMAKE_INSTALL_PREFIX})
    set(pc_libdir ${CMAKE_INSTALL_FULL_LIBDIR})
    set(pc_includedir ${CMAKE_INSTALL_FULL_INCLUDEDIR})
  else()
    file(RELATIVE_PATH up /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
    string(REGEX REPLACE "/$" "" up ${up})
    set(pc_prefix "\${pcfiledir}/${up}")
    set(pc_libdir "\${prefix}/${CMAKE_INSTALL_LIBDIR}")
    set(pc_includedir "\${prefix}/${CMAKE_INSTALL_INCLUDEDIR}")
  endif()
  configure_file(${CMAKE_SOURCE_DIR}/cmake/library.pc.in ${CMAKE_BINARY_DIR}/package-config/${target}.pc @ONLY)
  install(FILES ${CMAKE_BINARY_DIR}/package-config/${target}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig
    COMPONENT development)
endfunction()

# package_config(): installs pitrace-config.cmake and its version file, after all package_library().
function(package_config)
  get_property(package_components GLOBAL PROPERTY pitrace_packages)
  configure_package_config_file(${CMAKE_SOURCE_DIR}/cmake/pitrace-config.cmake.in
    ${CMAKE_BINARY_DIR}/package-config/pitrace-config.cmake INSTALL_DESTINATION ${package_dir}
    NO_SET_AND_CHECK_MACRO)
  # Same rule as the libraries' SOVERSION: a program built with an older minor version runs with a newer one.
  write_basic_package_version_file(${CMAKE_BINARY_DIR}/package-config/pitrace-config-version.cmake
    COMPATIBILITY SameMajorVersion)
  install(FILES ${CMAKE_BINARY_DIR}/package-config/pitrace-config.cmake
    ${CMAKE_BINARY_DIR}/package-config/pitrace-config-version.cmake DESTINATION ${package_dir} COMPONENT development)
endfunction()
