// SPDX-License-Identifier: Apache-2.0
// The requests of one rank. They never move; an id outlives its request without finding another.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include <weft/message/mp/covered.hpp>
#include <weft/message/mp/messenger.hpp>

namespace weft::mp {

struct Messenger::Slab {
  std::deque<Request> requests;
  std::vector<std::uint32_t> unused;

  Request* make() {
    if (unused.empty()) {
      requests.emplace_back();
      requests.back().index = static_cast<std::uint32_t>(requests.size() - 1);
      return &requests.back();
    }
    Request& request = requests[unused.back()];
    unused.pop_back();
    const std::uint32_t index = request.index, generation = request.generation;
    std::destroy_at(&request);
    std::construct_at(&request);
    request.index = index;
    request.generation = generation;
    return &request;
  }
  // Made new when it is used again: who frees is often in a hurry.
  void free(Request* request) {
    request->kind = Request::Kind::free;
    request->covered.reset();
    ++request->generation;
    unused.push_back(request->index);
  }
  // Ids come over the network: anything may stand in them.
  Request* find(std::uint64_t id) {
    const std::uint64_t index = (id & 0xffffffffu) - 1;
    if (index >= requests.size()) return nullptr;
    Request& request = requests[index];
    const bool same = request.generation == id >> 32 && request.kind != Request::Kind::free;
    return same ? &request : nullptr;
  }
};

}  // namespace weft::mp
