// SPDX-License-Identifier: Apache-2.0
// Decisions for the processes of one host: on which processors each runs, in which memory the
// buffers of each rail lie, and how a message is split when its memory is far from some rails.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <weft/base/result.hpp>
#include <weft/real/locality/host_layout.hpp>
#include <weft/real/locality/interfaces.hpp>

namespace weft::locality {

enum class Binding : std::uint8_t {
  none,  // The system schedules processes freely.
  core,  // One core each.
  numa,  // NUMA nodes in order; if ranks are fewer, several nodes each.
  // Like numa, but if ranks are fewer than nodes, one node each: those nearest to the rails.
  near_nic,
};

std::string_view to_text(Binding binding);
Result<Binding> parse_binding(std::string_view text);

struct RankPlace {
  int node = -1;          // Where most of its memory will be; -1: the system decides.
  std::vector<int> cpus;  // Where it may run; empty: no change.

  friend bool operator==(const RankPlace&, const RankPlace&) = default;
};

// The location of a rail's NIC.
struct RailSite {
  std::string name;        // Name of the interface or libfabric domain.
  std::vector<int> nodes;  // NUMA nodes next to the NIC; empty: unknown, or equally far from all.
  int buffers = -1;        // Node of the library's buffers; -1: the process's own.
  Rate speed;              // Zero: unknown.

  friend bool operator==(const RailSite&, const RailSite&) = default;
};

struct HostPlaces {
  Binding binding = Binding::none;
  std::vector<RankPlace> ranks;  // By local rank.
  std::vector<RailSite> rails;
  std::vector<std::string> reasons;  // One sentence each, to be printed.
};

// Looks up the machine's NICs by name, then asks the interface itself.
std::vector<RailSite> locate_rails(const HostLayout& layout, std::span<const Interface> rails);
RailSite locate_rail(const HostLayout& layout, const std::string& name);

// Without a request: numa if several nodes have processors, else none. Always none if ranks
// outnumber processors.
HostPlaces decide_places(const HostLayout& layout, std::vector<RailSite> rails, int ranks,
                         std::optional<Binding> request);

// The rates at which rails deliver messages from the memory of a node, given their best rates; 0
// for a rail that is down. Rails next to the node keep their rates. Rails behind a link to another
// node together get at most the node's memory rate times local distance / distance; if that is less
// than their sum, all of them are lowered by one factor. Since this is a limit and not a discount,
// slow rails keep their rates, and rates measured over the link are not lowered twice. An unknown
// memory node (-1) lowers nothing.
std::vector<double> lower_rates(std::span<const double> rates_byte_per_s, int memory_node,
                                const HostLayout& layout, std::span<const RailSite> rails);
// The same as fractions of one message, which add up to 1.
std::vector<double> weigh_rails(std::span<const double> rates_byte_per_s, int memory_node,
                                const HostLayout& layout, std::span<const RailSite> rails);

// The locality of one process; Settings::places is its text.
struct ProcessPlace {
  Binding binding = Binding::none;
  RankPlace place;
  std::vector<RailSite> rails;
  HostLayout layout;  // Without cores.

  friend bool operator==(const ProcessPlace&, const ProcessPlace&) = default;
};

// REQUIRES: 0 <= local_rank < places.ranks.size().
ProcessPlace process_place(const HostLayout& layout, const HostPlaces& places, int local_rank);
// One line; parsing gives the same.
std::string to_text(const ProcessPlace& here);
Result<ProcessPlace> parse_process_place(const std::string& text);

// The text of --show-topology: rails, ranks, their distances, and the reasons.
std::string explain(const HostLayout& layout, std::span<const Interface> rails,
                    const HostPlaces& places);

}  // namespace weft::locality
