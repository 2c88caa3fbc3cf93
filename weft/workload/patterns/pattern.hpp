// SPDX-License-Identifier: Apache-2.0
// Where a node sends. A pattern does not change after construction, so one object serves every node
// and worker; what is random comes from the generator passed in.
#pragma once  // Public, for traffic: names and meanings stay within 0.1.

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include <weft/base/id.hpp>
#include <weft/base/result.hpp>
#include <weft/base/rng.hpp>

namespace weft {

// The nodes as a pattern sees them: node = local + per_point * (x0 + r0 * (x1 + r1 * ...)). A
// network without coordinates is a grid of one dimension.
struct Grid {
  std::vector<int> radix;
  int per_point = 1;  // Nodes at one point (router); patterns by coordinates keep the local number.

  std::uint32_t nodes() const {
    std::uint32_t count = static_cast<std::uint32_t>(per_point);
    for (const int r : radix) count *= static_cast<std::uint32_t>(r);
    return count;
  }
};

class Pattern {
 public:
  struct Share {
    NodeId to;
    std::uint64_t weight;
  };

  virtual ~Pattern() = default;
  virtual NodeId destination(NodeId source, Rng& rng) const = 0;
  // All destinations of a source with their weights, appended; a node may appear more than once.
  // The weights of every source have the same sum.
  virtual void shares(NodeId source, std::vector<Share>& out) const = 0;
  // Every source has one destination.
  virtual bool fixed() const = 0;
};

struct PatternRequest {
  const Grid& grid;
  std::string_view name;        // As it was asked for.
  std::string_view parameters;  // What follows the colon.
  std::uint64_t seed = 1;       // For patterns that are drawn once.
};

struct PatternEntry {
  std::string_view name;
  std::string_view alias;  // BookSim's word, where it differs.
  std::string_view usage;  // With parameters.
  std::string_view help;
  bool takes_parameters;
  Result<std::unique_ptr<Pattern>> (*make)(const PatternRequest&);
};

std::span<const PatternEntry> builtin_patterns();

// "uniform", "hotspot:0.2@5,9", ... The error names the nearest name, or why the pattern does not
// fit the grid. REQUIRES: the grid has a node.
Result<std::unique_ptr<Pattern>> make_pattern(std::string_view spec, const Grid& grid,
                                              std::uint64_t seed);

}  // namespace weft
