// SPDX-License-Identifier: Apache-2.0
// Fuzz target: definitions and events of a trace in any order and with any numbers, as the trace
// library calls us with them. Whole archives are given to the library by tests/fuzz/otf2_fuzz.cpp.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <utility>
#include <vector>

#include <weft/workload/traces/ranks.hpp>

using namespace weft;
using namespace weft::detail;

namespace {

class Bytes {
 public:
  Bytes(const std::uint8_t* data, std::size_t size) : at_(data), end_(data + size) {}
  bool empty() const { return at_ == end_; }
  std::uint8_t byte() { return empty() ? std::uint8_t{0} : *at_++; }
  // Mostly a small number, as references are; sometimes any.
  std::uint64_t number() {
    const std::uint8_t first = byte();
    if (first < 0xf0) return first % 16;
    if (first < 0xf8) return ~std::uint64_t{first % 4u};
    std::uint64_t any = 0;
    for (int i = 0; i < 8; ++i) any = any << 8 | byte();
    return any;
  }
  std::uint32_t reference() { return static_cast<std::uint32_t>(number()); }

 private:
  const std::uint8_t* at_;
  const std::uint8_t* end_;
};

bool define(Bytes& in, TraceRanks& ranks) {
  switch (in.byte() % 4) {
    case 0: {
      const std::uint64_t id = in.number(), events = in.number();
      ranks.define_location({id, events, in.reference()});
      return true;
    }
    case 1: {
      TraceGroup group;
      group.kind = static_cast<TraceGroup::Kind>(in.byte() % 3);
      group.uses_world_ranks = in.byte() % 2 == 1;
      const std::uint32_t id = in.reference();
      std::vector<std::uint64_t> members(in.byte() % 32);
      for (std::uint64_t& member : members) member = in.number();
      return ranks.define_group(id, group, members).has_value();
    }
    case 2: {
      const std::uint32_t id = in.reference();
      ranks.define_comm(id, in.reference());
      return true;
    }
    default: {
      const std::uint32_t id = in.reference(), one = in.reference();
      ranks.define_comm_between(id, one, in.reference());
      return true;
    }
  }
}

bool happen(Bytes& in, TraceRanks& ranks) {
  const auto locations = ranks.locations();
  switch (in.byte() % 3) {
    case 0:
      if (!locations.empty()) ranks.enter(locations[in.byte() % locations.size()]);
      return true;
    case 1: {
      const std::uint32_t comm = in.reference(), receiver = in.reference();
      return ranks.send(comm, receiver, in.number()).has_value();
    }
    default: {
      const std::uint32_t comm = in.reference();
      CollectivePart part;
      part.spread = spread_of(in.byte() % 20);
      part.root = in.reference();
      part.sent = in.number();
      part.received = in.number();
      return ranks.collect(comm, part).has_value();
    }
  }
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer calls it so.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  Bytes in(data, size);
  TraceRanks ranks;
  for (int left = in.byte() % 64; left > 0; --left)
    if (!define(in, ranks)) return 0;
  if (!ranks.finish_definitions()) return 0;
  while (!in.empty())
    if (!happen(in, ranks)) return 0;
  const auto matrix = std::move(ranks).finish();
  if (!matrix) return 0;
  for (const Flow& flow : matrix->flows())
    if (flow.from >= matrix->ranks() || flow.to >= matrix->ranks()) std::abort();
  return 0;
}
