// SPDX-License-Identifier: Apache-2.0
// Fuzz target: what is known of a physical network: Slurm's, LLDP's and hwloc's files, lists of
// hosts.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include <weft/network/probe/known.hpp>
#include <weft/real/launch/hosts.hpp>

using namespace weft;

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer calls it so.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data + 1), size - 1);
  switch (data[0] % 6) {
    case 0:
      static_cast<void>(probe::read_slurm(text, "input").has_value());
      break;
    case 1:
      static_cast<void>(probe::read_lldp(text, "input").has_value());
      break;
    case 2:
      static_cast<void>(probe::read_hwloc(text, "input").has_value());
      break;
    case 3:
      static_cast<void>(probe::read_groups(text, "input").has_value());
      break;
    case 4:
      static_cast<void>(probe::expand_names(text).has_value());
      break;
    default:
      static_cast<void>(launch::parse_host_file(text, "input").has_value());
      break;
  }
  return 0;
}
