// SPDX-License-Identifier: Apache-2.0
// Where weft's own files lie, seen from its program: the same in a build tree and when installed.
#pragma once

#include <string>

namespace weft::app {

struct Home {
  std::string program;  // weft itself.
  std::string lib;      // libmpi_abi.so, the compiler pass
  std::string include;  // mpi.h, mpif.h and modules
  std::string share;    // report.html
};
Home find_home();

}  // namespace weft::app
