// SPDX-License-Identifier: Apache-2.0
// Fuzz target: what is known of a physical network: Slurm's, LLDP's and hwloc's files, lists of
// hosts.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include <weft/network/probe/known.hpp>
#include <weft/real/launch/hosts.hpp>

using namespace weft;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data + 1), size - 1);
  switch (data[0] % 6) {
    case 0:
      return probe::read_slurm(text, "input").has_value() ? 0 : 0;
    case 1:
      return probe::read_lldp(text, "input").has_value() ? 0 : 0;
    case 2:
      return probe::read_hwloc(text, "input").has_value() ? 0 : 0;
    case 3:
      return probe::read_groups(text, "input").has_value() ? 0 : 0;
    case 4:
      return probe::expand_names(text).has_value() ? 0 : 0;
    default:
      return launch::parse_host_file(text, "input").has_value() ? 0 : 0;
  }
}
