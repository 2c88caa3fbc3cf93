// SPDX-License-Identifier: Apache-2.0
// Everything a launcher decides for its host, in one call. Part of weft::locality_hwloc, the only
// target that needs hwloc; what runs inside programs links weft::locality alone.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <weft/base/result.hpp>
#include <weft/real/locality/interfaces.hpp>
#include <weft/real/locality/machine.hpp>
#include <weft/real/locality/places.hpp>

namespace weft::locality {

// This machine; from an hwloc XML file if a path is given (lstopo writes such files). Of this
// machine only processors that this process may use.
Result<Machine> read_machine(const std::string& xml_path = "");

struct HostWish {
  int ranks = 1;                   // On this host.
  std::vector<std::string> rails;  // As Settings::rails.
  std::optional<Binding> binding;  // As the machine suggests, if nothing is asked for.
  std::string machine_file;        // An hwloc XML file instead of this machine.
};

struct HostPlan {
  Machine machine;
  std::vector<Interface> rails;
  Places places;

  std::string explain() const { return locality::explain(machine, rails, places); }
  // Settings::places of a local rank; empty where nothing is worth telling.
  std::string text_for(int local_rank) const;
};

// Reads interfaces and machine, and decides. Without hwloc what Linux tells has to do, and if that
// is nothing ranks run unbound; a reason says so. Errors: wishes that cannot be met.
Result<HostPlan> plan_host(const HostWish& wish);
// The same for interfaces and a machine that were read before.
Result<HostPlan> plan_host(const HostWish& wish, std::vector<Interface> interfaces,
                           Machine machine);

}  // namespace weft::locality
