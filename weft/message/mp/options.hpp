// SPDX-License-Identifier: Apache-2.0
// How the message layer behaves; the same for all ranks of a job.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <weft/base/config.hpp>
#include <weft/base/result.hpp>
#include <weft/base/units.hpp>

namespace weft::mp {

// How a large message is cut over several rails.
enum class Split {
  equal,
  proportional,  // To the rails' rates.
  measured,      // By what each rail delivers, part by part.
};

// Wishes for one message.
struct Tuning {
  enum class Protocol : std::uint8_t { by_size, eager, rendezvous };
  Protocol protocol = Protocol::by_size;
  bool zero_copy = false;  // An eager message goes out of the program's own memory.
  int rails = 0;           // Use at most this many; 0: all.
  Duration gap;            // Between packets.
};

struct Options {
  Bytes eager_limit{16384};  // Larger messages go by rendezvous.
  // Bytes of a large message sent with its request, so that the rail is not idle until the receiver
  // answers. Needs `split` measured; not used inside a host.
  Bytes head_start{0};
  Bytes stripe_min{8192};  // No rail gets a smaller part of a message.
  Split split = Split::proportional;
  bool zero_copy = false;  // Eager messages go out of the program's own memory.
  // Eager bytes that one rank may have at another, not yet received by the program. Bounds what a
  // flood costs: beyond it messages go by rendezvous.
  Bytes credit{65536};
};

// Fills `options` from the table [messages] of a network file.
Status read_options(const Config& config, Options& options);

}  // namespace weft::mp
