// SPDX-License-Identifier: Apache-2.0
// Head starts that are under way to us: what comes of a large message before we have answered.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include <weft/message/mp/matching.hpp>
#include <weft/message/port/fabric.hpp>

namespace weft::mp {

struct Heads {
  struct Entry {
    std::uint64_t receive = 0;           // The request that takes it, or
    UnexpectedRecord* record = nullptr;  // the message, which nobody has asked for yet.
    std::size_t missing = 0;
    std::vector<Completion> early;  // Neither: they came before the envelope.
  };
  std::map<std::pair<std::uint32_t, std::uint64_t>, Entry> open;  // By peer and its request.
};

}  // namespace weft::mp
