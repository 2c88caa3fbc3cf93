// SPDX-License-Identifier: Apache-2.0
// Fuzz target: what hosts tell each other as text: layouts, interfaces, places, options of a
// simulation. What was read is written, and read again as the same.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include <weft/real/locality/host_layout.hpp>
#include <weft/real/locality/interfaces.hpp>
#include <weft/real/locality/places.hpp>
#include <weft/simulate/setup/simulation_options.hpp>

using namespace weft;

namespace {

template <typename Parse>
void read_twice(const std::string& text, const Parse& parse) {
  const auto first = parse(text);
  if (!first) {
    if (first.error().text().empty()) std::abort();
    return;
  }
  const auto second = parse(std::string(to_text(*first)));
  if (!second || to_text(*second) != to_text(*first)) std::abort();
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer calls it so.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string text(reinterpret_cast<const char*>(data + 1), size - 1);
  switch (data[0] % 5) {
    case 0:
      read_twice(text, locality::parse_host_layout);
      break;
    case 1:
      read_twice(text, locality::parse_interfaces);
      break;
    case 2:
      read_twice(text, locality::parse_process_place);
      break;
    case 3:
      read_twice(text, [](const std::string& word) { return locality::parse_binding(word); });
      break;
    default:
      read_twice(text, parse_simulation_options);
      break;
  }
  return 0;
}
