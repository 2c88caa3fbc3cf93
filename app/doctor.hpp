// SPDX-License-Identifier: Apache-2.0
// The checks of weft doctor, each a line of its report.
#pragma once

#include <string>
#include <vector>

#include <weft/base/units.hpp>

namespace weft::app {

enum class Health {
  ok,
  note,     // Something optional is absent, or a limit is low: some uses are refused or slow.
  missing,  // Something that every installation needs does not work.
};

struct Check {
  std::string group;
  std::string name;
  Health health = Health::ok;
  std::string found;   // What was found, or what is wrong.
  std::string use;     // The commands and options that need it.
  std::string remedy;  // Empty if all is well.
};
using Checks = std::vector<Check>;

// Compiles a small MPI program with each compiler and starts it alone, simulated and for real. Each
// process may take `limit`; their files are in a folder that is removed afterwards.
Checks check_programs(Duration limit);
// Checks the files of the installation, and the optional libraries.
Checks check_parts();
// Checks limits of the system, network interfaces and launchers.
Checks check_machine();

}  // namespace weft::app
