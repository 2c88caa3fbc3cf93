# Builds for another architecture than this machine's, with Debian's cross compilers and the libraries that scripts/sysroot fetched.
# The presets cross-arm64 and cross-x86-64 use it.
set(WEFT_CROSS_ARCH "" CACHE STRING "Debian's name of the architecture to build for: arm64 or amd64")
set(WEFT_SYSROOT "" CACHE PATH "Folder that scripts/sysroot filled with libraries of that architecture")
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES WEFT_CROSS_ARCH WEFT_SYSROOT)

set(CMAKE_SYSTEM_NAME Linux)
if(WEFT_CROSS_ARCH STREQUAL "arm64")
  set(CMAKE_SYSTEM_PROCESSOR aarch64)
elseif(WEFT_CROSS_ARCH STREQUAL "amd64")
  set(CMAKE_SYSTEM_PROCESSOR x86_64)
else()
  message(FATAL_ERROR "WEFT_CROSS_ARCH is '${WEFT_CROSS_ARCH}'; say arm64 or amd64, as Debian does")
endif()
set(weft_triple ${CMAKE_SYSTEM_PROCESSOR}-linux-gnu)
if(NOT EXISTS ${WEFT_SYSROOT}/sysroot.txt)
  message(FATAL_ERROR "'${WEFT_SYSROOT}' has no libraries for ${WEFT_CROSS_ARCH}: run scripts/sysroot ${WEFT_CROSS_ARCH} '${WEFT_SYSROOT}'")
endif()

string(REPLACE _ - weft_package ${weft_triple})  # Debian writes x86-64 in names of packages.
find_program(WEFT_CROSS_CC ${weft_triple}-gcc)
find_program(WEFT_CROSS_CXX ${weft_triple}-g++)
find_program(WEFT_CROSS_FC ${weft_triple}-gfortran)
if(NOT WEFT_CROSS_CC OR NOT WEFT_CROSS_CXX)
  message(FATAL_ERROR "No compiler for ${weft_triple} (Debian: apt-get install g++-${weft_package} gfortran-${weft_package})")
endif()
set(CMAKE_C_COMPILER ${WEFT_CROSS_CC})
set(CMAKE_CXX_COMPILER ${WEFT_CROSS_CXX})
if(WEFT_CROSS_FC)
  set(CMAKE_Fortran_COMPILER ${WEFT_CROSS_FC})
else()
  set(CMAKE_Fortran_COMPILER NOTFOUND)  # The machine's own would be taken.
endif()

# Libraries, headers and packages come from the sysroot alone; programs are this machine's.
set(CMAKE_SYSROOT ${WEFT_SYSROOT})
set(CMAKE_LIBRARY_ARCHITECTURE ${weft_triple})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(ENV{PKG_CONFIG_PATH} "")
set(ENV{PKG_CONFIG_LIBDIR} ${WEFT_SYSROOT}/usr/lib/${weft_triple}/pkgconfig:${WEFT_SYSROOT}/usr/share/pkgconfig)
set(ENV{PKG_CONFIG_SYSROOT_DIR} ${WEFT_SYSROOT})

# Runs what was built: the program makes its own manual pages, and a test compares what it computes.
find_program(WEFT_QEMU NAMES qemu-${CMAKE_SYSTEM_PROCESSOR} qemu-${CMAKE_SYSTEM_PROCESSOR}-static)
if(NOT WEFT_QEMU)
  message(FATAL_ERROR "No qemu-${CMAKE_SYSTEM_PROCESSOR} (Debian: apt-get install qemu-user)")
endif()
set(CMAKE_CROSSCOMPILING_EMULATOR ${WEFT_QEMU} -L ${WEFT_SYSROOT})
