// SPDX-License-Identifier: Apache-2.0
// Fuzz target: network files: TOML, all tables, units, and whether the values fit together.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>

#include <weft/base/config.hpp>
#include <weft/network/topo/topology.hpp>
#include <weft/simulate/machine/description.hpp>

using namespace weft;

// Each line is a key that goes over the description of a small network.
// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer calls it so.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  static_cast<void>(Config::read_text(text, "input").has_value());
  MachineWords words;
  words.net = "torus:3x2";
  for (std::size_t at = 0; at < text.size() && words.sets.size() < 8;) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = text.substr(at, end - at);
    // The network stays the same: others are large, or read files.
    if (!line.empty() && line.find("network") == std::string_view::npos &&
        line.find("routing") == std::string_view::npos)
      words.sets.emplace_back(line);
    at = end + 1;
  }
  const auto reader = MachineReader::open(words);
  if (!reader) return 0;
  static const auto network = std::make_shared<const Topology>(*make_topology("torus:3x2"));
  const auto machine = reader->read(network);
  if (machine) static_cast<void>(reader->check(*machine).has_value());
  return 0;
}
