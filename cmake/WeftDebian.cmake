# `cpack -G DEB` in a build tree makes weft_VERSION_ARCH.deb.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME weft)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_VENDOR "weft")
set(CPACK_PACKAGE_CONTACT "weft maintainers <weft@localhost.localdomain>" CACHE STRING "Maintainer of the package")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "predicts how interconnection networks carry messages")
set(CPACK_PACKAGE_DESCRIPTION "Simulates MPI programs and synthetic traffic on networks of up to many
thousand nodes (tori, fat trees, dragonflies, HyperX, any graph), finds the
best node for each rank, probes real networks, and runs the same MPI
programs for real over TCP, shared memory and RDMA.
.
This package has the program, the MPI library that programs link, the
libraries and headers for plug-ins, and the documentation.")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${PROJECT_BINARY_DIR}/${CMAKE_INSTALL_LIBDIR}/weft)
# Loaded when they are needed, so that nothing that is linked tells of them: records, pictures.
set(CPACK_DEBIAN_PACKAGE_DEPENDS "libhdf5-103-1, librsvg2-2")
# Compilers behind weft cc, c++ and fc; what is loaded only if it is there; ways to other hosts.
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "clang-14, g++, gfortran, libmetis5, libscotch-7.0, openssh-client")
# For find_package(weft) and pkg-config; jobs of several processes.
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "cmake, pkg-config, libfmt-dev, libboost-context-dev, libtomlplusplus-dev, nlohmann-json3-dev, \
openmpi-bin, mpich, slurm-client, bash-completion")
set(CPACK_DEBIAN_COMPRESSION_TYPE xz CACHE STRING "How the package is compressed: xz, gzip, zstd or none")
set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_CURRENT_LIST_DIR}/WeftDebianFiles.cmake)
set(CPACK_WEFT_SOURCE ${PROJECT_SOURCE_DIR})
include(CPack)
