// SPDX-License-Identifier: Apache-2.0
// Fuzz target: what hosts tell each other as text: layouts, interfaces, places, options of a
// simulation.
#include <cstddef>
#include <cstdint>
#include <string>

#include <weft/real/locality/host_layout.hpp>
#include <weft/real/locality/interfaces.hpp>
#include <weft/real/locality/places.hpp>
#include <weft/simulate/setup/simulation_options.hpp>

using namespace weft;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string text(reinterpret_cast<const char*>(data + 1), size - 1);
  switch (data[0] % 5) {
    case 0:
      return locality::parse_host_layout(text).has_value() ? 0 : 0;
    case 1:
      return locality::parse_interfaces(text).has_value() ? 0 : 0;
    case 2:
      return locality::parse_process_place(text).has_value() ? 0 : 0;
    case 3:
      return locality::parse_binding(text).has_value() ? 0 : 0;
    default:
      return parse_simulation_options(text).has_value() ? 0 : 0;
  }
}
