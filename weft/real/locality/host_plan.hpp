// SPDX-License-Identifier: Apache-2.0
// Everything that a launcher decides for its host, in one call. Part of weft::locality_hwloc, the
// only target that needs hwloc; code inside programs links only weft::locality.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <weft/base/result.hpp>
#include <weft/real/locality/host_layout.hpp>
#include <weft/real/locality/interfaces.hpp>
#include <weft/real/locality/places.hpp>

namespace weft::locality {

// Reads this machine, or an hwloc XML file if a path is given (lstopo writes such files). On this
// machine, includes only processors that this process may use.
Result<HostLayout> read_host_layout(const std::string& xml_path = "");

struct HostRequest {
  int ranks = 1;                   // On this host.
  std::vector<std::string> rails;  // Interfaces, addresses, subnets, as choose_rails takes them.
  // NICs that other kinds of rails drive. Without `rails` no interfaces are chosen beside them.
  std::vector<std::string> cards;
  std::optional<Binding> binding;  // Empty: the machine's default.
  std::string machine_file;        // An hwloc XML file instead of this machine.
};

struct HostPlan {
  HostLayout layout;
  std::vector<Interface> rails;
  HostPlaces places;

  std::string explain() const { return locality::explain(layout, rails, places); }
  // Settings::places of a local rank; empty if there is nothing to report.
  std::string text_for(int local_rank) const;
};

// Reads interfaces and layout, and decides. Without hwloc it uses /sys, and if that says nothing
// ranks run unbound; a reason says so. Returns an error if a request cannot be met.
Result<HostPlan> plan_host(const HostRequest& request);
// The same for interfaces and a layout that were read before.
Result<HostPlan> plan_host(const HostRequest& request, std::vector<Interface> interfaces,
                           HostLayout layout);

}  // namespace weft::locality
