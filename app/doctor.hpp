// SPDX-License-Identifier: Apache-2.0
// What weft doctor looks at: a list of checks, each a line of its report.
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
  std::string found;   // What there is, or what is the matter.
  std::string use;     // What it is for: commands and options.
  std::string remedy;  // What to do; nothing if all is well.
};
using Checks = std::vector<Check>;

// Each compiler makes a small MPI program, which is started alone, simulated and for real. No
// process gets more than `limit`; what they write lies in a folder that is gone afterwards.
Checks check_programs(Duration limit);
// Files of the installation, and libraries that weft may be built with.
Checks check_parts();
// Limits of the system, network interfaces, launchers.
Checks check_machine();

}  // namespace weft::app
