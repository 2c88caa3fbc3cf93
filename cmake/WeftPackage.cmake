# What others build on: find_package(weft), with weft::base, weft::topo, ..., and pkg-config's weft; and the package for Debian.
include(CMakePackageConfigHelpers)

set(weft_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/weft)
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/weft-config.cmake.in ${PROJECT_BINARY_DIR}/weft-config.cmake
  INSTALL_DESTINATION ${weft_package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/weft-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/weft-config.cmake ${PROJECT_BINARY_DIR}/weft-config-version.cmake
  DESTINATION ${weft_package_dir})
install(EXPORT weft-targets NAMESPACE weft:: DESTINATION ${weft_package_dir})

# The same for pkg-config: all modules in one group, of which the linker takes what is used. The prefix is where the file lies.
get_property(weft_modules GLOBAL PROPERTY WEFT_MODULES)
list(TRANSFORM weft_modules PREPEND -lweft_ OUTPUT_VARIABLE weft_libraries)
list(APPEND weft_libraries -lweft_locality_hwloc)
list(JOIN weft_libraries " " weft_libraries)
# Modules that only the program uses may need these: pkg-config --static names them too.
set(weft_optional -lsodium)
get_target_property(linked weft_traces LINK_LIBRARIES)
if(linked MATCHES "/lib([^/;>]+)[.]so")  # OTF2 is the first; the others are its own affair.
  list(APPEND weft_optional -l${CMAKE_MATCH_1})
endif()
get_target_property(linked weft_locality_hwloc COMPILE_DEFINITIONS)
if(linked MATCHES "WEFT_HWLOC")
  list(APPEND weft_optional -lhwloc)
endif()
list(JOIN weft_optional " " weft_optional)
file(RELATIVE_PATH weft_up /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
string(REGEX REPLACE "/$" "" weft_up "${weft_up}")
configure_file(${CMAKE_CURRENT_LIST_DIR}/weft.pc.in ${PROJECT_BINARY_DIR}/weft.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/weft.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

# A build tree finds its presets at the place where an installed weft does.
file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/${CMAKE_INSTALL_DATADIR}/weft)
file(CREATE_LINK ${PROJECT_SOURCE_DIR}/presets ${PROJECT_BINARY_DIR}/${CMAKE_INSTALL_DATADIR}/weft/presets SYMBOLIC)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/presets DESTINATION ${CMAKE_INSTALL_DATADIR}/weft)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/examples DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/doc/weft)
include(WeftDebian)
