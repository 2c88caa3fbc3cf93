// SPDX-License-Identifier: Apache-2.0
// Fuzz target: arbitrary bytes as the stream between `weft run` and an agent, and as packets of a
// seat.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include <weft/real/launch/agent_protocol.hpp>
#include <weft/real/launch/exchanges.hpp>
#include <weft/real/launch/frame.hpp>
#include <weft/real/launch/settings.hpp>

using namespace weft::launch;

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer calls it so.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data + 1), size - 1);
  // The first byte determines the size of the pieces in which the stream arrives.
  const std::size_t step = 1 + data[0];
  FrameReader reader;
  Exchanges exchanges(0, 4);
  for (std::size_t at = 0; at < bytes.size(); at += step) {
    const std::string_view part = bytes.substr(at, step);
    reader.add(part.data(), part.size());
    for (Frame frame;;) {
      const auto got = reader.next(frame);
      if (!got || !*got) break;
      FieldReader in(frame.body);
      const CardPart card = read_card_part(in);
      if (in.whole()) static_cast<void>(exchanges.add(card));
      if (const auto job = parse_host_job(frame.body); job && to_bytes(*job).size() > size)
        std::abort();  // More came out than went in.
      static_cast<void>(parse_settings(frame.body).has_value());
    }
  }
  return 0;
}
