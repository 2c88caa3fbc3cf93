// SPDX-License-Identifier: Apache-2.0
// The paths of weft's own files, relative to its program: the same in a build tree and when
// installed.
#pragma once

#include <string>

#include <weft/base/result.hpp>

namespace weft::app {

struct Home {
  std::string program;  // weft itself
  std::string lib;      // libmpi_abi.so, the compiler pass
  std::string include;  // mpi.h, mpif.h and modules
  std::string share;    // report.html
  std::string doc;      // texts of weft help
};
Home find_home();

// Programs that this process starts find weft's MPI library before another one of that name, and
// also without a path of their own to it.
void put_own_library_first();

// The template of pages; an error if this weft was built without it.
Result<std::string> read_page_template();

// The path of a program as a shell would find it; empty if it is nowhere in PATH.
std::string find_in_path(const std::string& name);

}  // namespace weft::app
