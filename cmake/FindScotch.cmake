# Scotch 7's own package file is not in Debian. Defines Scotch_FOUND, Scotch_VERSION, Scotch_INCLUDE_DIR and Scotch_SONAME.
include(FindPackageHandleStandardArgs)

find_path(Scotch_INCLUDE_DIR scotch.h PATH_SUFFIXES scotch)
find_library(Scotch_LIBRARY scotch)
if(Scotch_INCLUDE_DIR AND EXISTS ${Scotch_INCLUDE_DIR}/scotch.h)
  file(STRINGS ${Scotch_INCLUDE_DIR}/scotch.h line REGEX "define[ \t]+SCOTCH_VERSION")
  string(REGEX MATCH "[0-9]+" Scotch_VERSION "${line}")
  file(STRINGS ${Scotch_INCLUDE_DIR}/scotch.h line REGEX "define[ \t]+SCOTCH_RELEASE")
  string(REGEX MATCH "[0-9]+" release "${line}")
  set(Scotch_SONAME libscotch-${Scotch_VERSION}.${release}.so)
endif()
find_package_handle_standard_args(Scotch REQUIRED_VARS Scotch_LIBRARY Scotch_INCLUDE_DIR VERSION_VAR Scotch_VERSION)
mark_as_advanced(Scotch_INCLUDE_DIR Scotch_LIBRARY)
