// SPDX-License-Identifier: Apache-2.0
// Routing policies in a shared library of one's own, which weft loads by itself:
//
//   weft traffic --net mesh:8x8 --routing ./libmine.so:my-policy
//
// The library defines one table, and is built against the headers of the weft that loads it:
//
//   extern const weft::PolicyEntry entries[] = {{.name = "my-policy", ...}};
//   WEFT_POLICY_PLUGIN(entries)
//
// A library stays loaded until the process ends.
#pragma once  // Public, for policies: stays within 0.1.

#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>

#include <weft/base/result.hpp>
#include <weft/network/route/policy.hpp>

namespace weft {

// Rises with every change of what a plug-in and weft call of each other: Policy, PortView, Lines,
// Shape, PolicyEntry.
inline constexpr std::uint32_t policy_interface_version = 4;

// What the library was built with. Sizes find headers of another weft and another C++ library.
struct PolicyPlugin {
  std::uint32_t version = policy_interface_version;
  std::uint32_t entry_size = sizeof(PolicyEntry);
  std::uint32_t topology_size = sizeof(Topology);
  std::uint32_t choices_size = sizeof(Choices);
  std::uint32_t flight_size = sizeof(Flight);
  std::uint32_t string_size = sizeof(std::string);
  const PolicyEntry* entries = nullptr;
  std::uint64_t count = 0;
};

inline constexpr const char* policy_plugin_symbol = "weft_policies_v1";

// "./libmine.so:my-policy", "/opt/lib/libmine.so:my-policy:words": is it a policy of a library, by
// the look of it?
bool names_plugin(std::string_view routing);

// The same with the library's path made absolute, for processes that start in another folder; any
// other routing as it is.
std::string with_absolute_path(std::string_view routing);

// The same with a relative path taken from this folder, such as that of the file it stands in.
std::string with_path_from(std::string_view routing, std::string_view folder);

}  // namespace weft

// Defines the symbol that weft looks for.
#define WEFT_POLICY_PLUGIN(table)                                                              \
  extern "C" __attribute__((visibility("default"))) const weft::PolicyPlugin weft_policies_v1; \
  const weft::PolicyPlugin weft_policies_v1{.entries = (table), .count = std::size(table)};
