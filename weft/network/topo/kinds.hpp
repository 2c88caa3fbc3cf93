// SPDX-License-Identifier: Apache-2.0
// The kinds of network a short spec can name. The listing, the errors and the conformance test read
// this table. Its rows stand in kinds.inc; each kind's file defines its own `NAME_kind`.
#pragma once  // Public, for networks: stays within 0.1; shapes and fields may be added.

#include <optional>
#include <span>
#include <string_view>

#include <weft/base/result.hpp>
#include <weft/network/topo/topology.hpp>

namespace weft {

namespace detail {
class Spec;
}

struct SpecParameter {
  std::string_view name;  // Empty: the part without a name, first after the colon.
  std::string_view help;
};

struct TopologyKind {
  std::string_view name;
  std::string_view usage;    // "torus:SIZES[,p=N]"
  std::string_view example;  // A small network of this kind; the tests build it. Empty: none.
  std::string_view help;
  std::span<const SpecParameter> parameters;
  Result<Topology> (*make)(detail::Spec& spec);
};

std::span<const TopologyKind> topology_kinds();
const TopologyKind* find_kind(std::string_view name);  // Null when there is none.

// Every kind also takes planes=N and rails=N (planes.hpp). As make_topology(spec), with
// p=nodes_per_router where one is given.
Result<Topology> make_topology(std::string_view spec, std::optional<int> nodes_per_router);

}  // namespace weft
