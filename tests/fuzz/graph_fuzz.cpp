// SPDX-License-Identifier: Apache-2.0
// Fuzz target: graph files.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include <weft/network/topo/graph_file.hpp>

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer calls it so.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto read = weft::read_graph_text(text, "input");
  if (!read && read.error().text().empty()) std::abort();  // An error says what is wrong.
  return 0;
}
