// SPDX-License-Identifier: Apache-2.0
#include <numeric>
#include <string>
#include <utility>

#include <weft/base/rng.hpp>
#include <weft/base/text.hpp>
#include <weft/network/topo/random_map.hpp>

namespace weft {

Result<std::optional<std::uint64_t>> random_map_seed(std::string_view word) {
  constexpr std::string_view name = "random";
  if (word == name) return std::optional<std::uint64_t>(1);
  if (!word.starts_with("random:")) return std::optional<std::uint64_t>();
  const auto seed = parse_int(word.substr(name.size() + 1));
  if (!seed || *seed < 0) {
    return Error::call("map '" + std::string(word) +
                       "' must look like random or random:7, with a seed from 0 on; "
                       "write ./ before the name of a file");
  }
  return std::optional(static_cast<std::uint64_t>(*seed));
}

std::vector<std::uint32_t> random_places(std::uint32_t count, std::uint64_t seed) {
  std::vector<std::uint32_t> places(count);
  std::iota(places.begin(), places.end(), 0u);
  Rng rng = Rng(seed).stream("random map");
  for (std::size_t i = places.size(); i > 1; --i) std::swap(places[i - 1], places[rng.below(i)]);
  return places;
}

}  // namespace weft
