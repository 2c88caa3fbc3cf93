# PMIx brings a pkg-config file only. Defines PMIx_FOUND, PMIx_VERSION, PMIx_INCLUDE_DIR and PMIx_LIBRARY.
include(FindPackageHandleStandardArgs)

find_package(PkgConfig QUIET)
if(PkgConfig_FOUND)
  pkg_check_modules(PC_PMIX QUIET pmix)
endif()
# Open MPI has a pmix.h of its own, which is another one.
find_path(PMIx_INCLUDE_DIR NAMES pmix_common.h HINTS ${PC_PMIX_INCLUDE_DIRS} PATH_SUFFIXES pmix)
find_library(PMIx_LIBRARY NAMES pmix HINTS ${PC_PMIX_LIBRARY_DIRS})
set(PMIx_VERSION ${PC_PMIX_VERSION})
find_package_handle_standard_args(PMIx REQUIRED_VARS PMIx_LIBRARY PMIx_INCLUDE_DIR VERSION_VAR PMIx_VERSION)
mark_as_advanced(PMIx_INCLUDE_DIR PMIx_LIBRARY)
