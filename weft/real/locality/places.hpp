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
#include <weft/real/locality/interfaces.hpp>
#include <weft/real/locality/machine.hpp>

namespace weft::locality {

enum class Binding : std::uint8_t {
  none,       // The system moves processes as it likes.
  core,       // A core each.
  numa,       // The NUMA nodes are dealt out in order; fewer ranks have several nodes each.
  near_card,  // As numa, but fewer ranks than nodes have one each: those nearest to the rails.
};

std::string_view to_text(Binding binding);
Result<Binding> parse_binding(std::string_view text);

struct Place {
  int node = -1;          // Where most of its memory will be; -1: the system decides.
  std::vector<int> cpus;  // Where it may run; none: wherever it may now.

  friend bool operator==(const Place&, const Place&) = default;
};

// Where a rail's card is.
struct RailSite {
  std::string name;        // Of the interface or libfabric domain.
  std::vector<int> nodes;  // NUMA nodes next to the card; none: unknown, or alike to all.
  int buffers = -1;        // The node for the library's buffers; -1: that of the process.
  Rate speed;              // Zero: unknown.

  friend bool operator==(const RailSite&, const RailSite&) = default;
};

struct Places {
  Binding binding = Binding::none;
  std::vector<Place> ranks;  // By local rank.
  std::vector<RailSite> rails;
  std::vector<std::string> reasons;  // One sentence each, for people.
};

// Asks the machine's cards by name, then the interface itself.
std::vector<RailSite> locate_rails(const Machine& machine, std::span<const Interface> rails);
RailSite locate_rail(const Machine& machine, const std::string& name);

// Without a wish: numa if there are several nodes with processors, else none. None as well,
// whatever the wish, if there are more ranks than processors.
Places decide_places(const Machine& machine, std::vector<RailSite> rails, int ranks,
                     std::optional<Binding> wish);

// What rails deliver of messages that lie in the memory of a node, given what they deliver at best;
// a rail that is down has none. Rails next to the node are as they are. Those behind a link to
// another node have together at most the node's memory rate times distance at home / distance; if
// that is less than their rates, all of them are lowered by one factor. Since this is a limit and
// not a discount, slow rails stay as they are, and rates measured over the link are not lowered
// twice. An unknown memory node (-1) lowers nothing.
std::vector<double> lower_rates(std::span<const double> rates_byte_per_s, int memory_node,
                                const Machine& machine, std::span<const RailSite> rails);
// The same as parts of one message: their sum is 1.
std::vector<double> weigh_rails(std::span<const double> rates_byte_per_s, int memory_node,
                                const Machine& machine, std::span<const RailSite> rails);

// What one process is told; Settings::places is its text.
struct Here {
  Binding binding = Binding::none;
  Place place;
  std::vector<RailSite> rails;
  Machine machine;  // Without cores.

  friend bool operator==(const Here&, const Here&) = default;
};

// REQUIRES: 0 <= local_rank < places.ranks.size().
Here here_of(const Machine& machine, const Places& places, int local_rank);
// One line; reading gives the same.
std::string to_text(const Here& here);
Result<Here> parse_here(const std::string& text);

// The text of --show-topology: rails, ranks, how far they are from each other, and why.
std::string explain(const Machine& machine, std::span<const Interface> rails, const Places& places);

}  // namespace weft::locality
