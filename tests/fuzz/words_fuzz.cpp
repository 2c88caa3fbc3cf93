// SPDX-License-Identifier: Apache-2.0
// Fuzz target: quantities, lists and other words of options.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <weft/base/quantity.hpp>
#include <weft/base/text.hpp>
#include <weft/message/coll/choose.hpp>
#include <weft/message/conn/request.hpp>
#include <weft/network/part/part.hpp>
#include <weft/real/locality/address.hpp>
#include <weft/real/locality/number_list.hpp>
#include <weft/simulate/nodes/time_by_size.hpp>
#include <weft/study/map/objective.hpp>
#include <weft/study/traffic/load.hpp>
#include <weft/study/traffic/variation.hpp>
#include <weft/workload/patterns/packet_sizes.hpp>

using namespace weft;

namespace {

template <typename Read>
void use(const Read& read) {
  static_cast<void>(read.has_value());
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer calls it so.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  use(parse_duration(text));
  use(parse_bytes(text));
  use(parse_length(text));
  use(parse_rate(text));
  use(parse_int(text));
  use(parse_number(text));
  use(PacketSizes::parse(text));
  use(parse_cut(text));
  use(parse_loads(text));
  use(parse_variation(text));
  use(map::parse_objective(text));
  use(locality::parse_list(text));
  use(locality::parse_address(text));
  use(locality::parse_subnet(text));
  use(conn::parse_request(text));
  use(TimeBySize::parse({text, text}));
  coll::Choices choices;
  use(choices.force(text));
  return 0;
}
