// SPDX-License-Identifier: Apache-2.0
// Fuzz target: traffic between ranks in every format that weft map reads as text.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include <weft/workload/patterns/traffic_file.hpp>

using namespace weft;

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer calls it so.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const auto formats = traffic_formats();
  TrafficReading how;
  // The first byte chooses the format; one more than there are: by looking.
  const std::size_t chosen = data[0] % (formats.size() + 1);
  if (chosen < formats.size()) how.format = &formats[chosen];
  if (how.format != nullptr && how.format->read == nullptr) return 0;
  how.ranks = data[0] >= 128 ? 16 : 0;
  const std::string_view text(reinterpret_cast<const char*>(data + 1), size - 1);
  const auto read = read_traffic_text(text, "input", how);
  if (read) static_cast<void>(write_traffic_text(*read).size());
  return 0;
}
