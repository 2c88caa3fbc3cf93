# OTF2 brings no package file of its own. Defines OTF2_FOUND, OTF2_VERSION, OTF2_INCLUDE_DIR and OTF2_LIBRARY.
include(FindPackageHandleStandardArgs)

find_path(OTF2_INCLUDE_DIR otf2/otf2.h)
find_library(OTF2_LIBRARY NAMES open-trace-format2 otf2)  # Debian's name, and the usual one.
if(OTF2_INCLUDE_DIR AND EXISTS ${OTF2_INCLUDE_DIR}/otf2/OTF2_GeneralDefinitions.h)
  file(STRINGS ${OTF2_INCLUDE_DIR}/otf2/OTF2_GeneralDefinitions.h line REGEX "define[ \t]+OTF2_VERSION[ \t]")
  string(REGEX MATCH "[0-9]+\\.[0-9]+(\\.[0-9]+)?" OTF2_VERSION "${line}")
endif()
find_package_handle_standard_args(OTF2 REQUIRED_VARS OTF2_LIBRARY OTF2_INCLUDE_DIR VERSION_VAR OTF2_VERSION)
mark_as_advanced(OTF2_INCLUDE_DIR OTF2_LIBRARY)
