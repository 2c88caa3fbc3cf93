# METIS 5 brings no package file of its own. Defines METIS_FOUND, METIS_VERSION and METIS_INCLUDE_DIR.
include(FindPackageHandleStandardArgs)

find_path(METIS_INCLUDE_DIR metis.h)
find_library(METIS_LIBRARY metis)
if(METIS_INCLUDE_DIR AND EXISTS ${METIS_INCLUDE_DIR}/metis.h)
  file(STRINGS ${METIS_INCLUDE_DIR}/metis.h line REGEX "define[ \t]+METIS_VER_MAJOR")
  string(REGEX MATCH "[0-9]+" METIS_VERSION "${line}")
endif()
find_package_handle_standard_args(METIS REQUIRED_VARS METIS_LIBRARY METIS_INCLUDE_DIR VERSION_VAR METIS_VERSION)
mark_as_advanced(METIS_INCLUDE_DIR METIS_LIBRARY)
