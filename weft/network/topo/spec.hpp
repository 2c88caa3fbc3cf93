// SPDX-License-Identifier: Apache-2.0
// Reads a short spec, "kind:unnamed,key=value,...". Private to topo. The first error is kept and
// finish() returns it, so that a generator reads all its parameters without a ladder of ifs; after
// an error every getter answers with its fallback.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <weft/base/result.hpp>
#include <weft/network/topo/kinds.hpp>

namespace weft::detail {

// Beyond these we refuse instead of asking for the memory.
inline constexpr std::uint64_t max_routers = std::uint64_t{1} << 24;
inline constexpr std::uint64_t max_nodes = std::uint64_t{1} << 26;
inline constexpr std::uint64_t max_cables = std::uint64_t{1} << 26;

// Never wraps: stops at 2^62, beyond every limit.
std::uint64_t product(std::uint64_t a, std::uint64_t b);
std::uint64_t product(std::span<const int> factors);
Status check_limits(std::uint64_t routers, std::uint64_t nodes, std::uint64_t cables);

// "16x8x4".
std::string sizes_text(std::span<const int> sizes);

class Spec {
 public:
  // `rest` is what follows the colon.
  Spec(const TopologyKind& kind, std::string_view rest);

  bool has(std::string_view key) const { return find(key).has_value(); }
  int number(std::string_view key, std::optional<int> fallback, int min, int max);
  std::vector<int> sizes(std::string_view key, int min);
  std::string text(std::string_view key);  // Required.
  // As if the text had said key=value; for what a network file says beside the spec.
  void set(std::string_view key, std::string value);
  void fail(std::string message);
  Status finish() const;

 private:
  std::optional<std::string_view> find(std::string_view key) const;
  bool known(std::string_view key) const;
  void add(std::string_view item, bool first);

  const TopologyKind& kind_;
  std::vector<std::pair<std::string, std::string>> items_;
  std::optional<Error> error_;
};

}  // namespace weft::detail
