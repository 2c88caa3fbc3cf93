// SPDX-License-Identifier: Apache-2.0
// The requests of one rank, from their making to their end. They never move; an id outlives its
// request without finding another.
#pragma once

#include <bit>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <weft/message/mp/covered.hpp>
#include <weft/message/mp/request.hpp>
#include <weft/message/port/fabric.hpp>

namespace weft::mp {

class RequestTable {
 public:
  explicit RequestTable(const Fabric& fabric)
      : transport_(fabric.transport), observer_(fabric.observer) {}
  RequestTable(const RequestTable&) = delete;
  RequestTable& operator=(const RequestTable&) = delete;

  Request* make(Request::Kind kind) {
    Request* const request = unused_ == nullptr ? add() : reuse();
    request->kind = kind;
    if (kind == Request::Kind::send) ++sends_open_;
    return request;
  }
  // Ids come over the network: any number may stand in them. Null: there is no such request.
  Request* find(std::uint64_t id) {
    const std::uint64_t index = (id & 0xffffffffu) - 1;
    if (index >= made_) return nullptr;
    Request& request = at(static_cast<std::uint32_t>(index));
    const bool same = request.generation == id >> 32 && request.kind != Request::Kind::free;
    return same ? &request : nullptr;
  }
  static std::uint64_t id_of(const Request* request) {
    return (std::uint64_t{request->generation} << 32) | (request->index + 1);
  }

  void complete(Request* request) {
    request->done = true;
    if (request->kind == Request::Kind::send) --sends_open_;
    if (request->released) {
      free(request);
    } else if (request->waiter) {
      ready.push_back(request->waiter);
      request->waiter = {};
    }
  }
  // The caller lets go; what is not done yet goes on and is freed then.
  void release(Request* request) {
    if (request->done) {
      free(request);
    } else {
      request->released = true;
    }
  }

  // Bytes of a receive by rendezvous have arrived, some perhaps again.
  void add_arrived(Request* receive, std::size_t offset, std::size_t size);
  // The data of a receive by rendezvous is complete.
  void complete_data(Request* receive);

  bool any_send_open() const { return sends_open_ > 0; }
  template <typename Visit>
  void each_open(Visit&& visit) {
    for (std::uint32_t i = 0; i < made_; ++i) {
      Request& request = at(i);
      if (request.kind != Request::Kind::free && !request.done) visit(request);
    }
  }

  std::vector<std::coroutine_handle<>> ready;  // To be resumed: what they waited for is done.
  std::size_t resumed = 0;                     // So many of these have been, in this round.

 private:
  // A rank has few requests at a time and there are many ranks: the first chunk holds
  // `first_chunk`, each other one as many as all before it.
  static constexpr std::uint32_t first_chunk = 4;
  Request& at(std::uint32_t index) {
    const auto chunk = static_cast<std::size_t>(std::bit_width(index / first_chunk));
    return chunks_[chunk][chunk == 0 ? index : index - (first_chunk << (chunk - 1))];
  }
  Request* add();
  Request* reuse() {
    Request& request = *unused_;
    unused_ = request.after;
    const std::uint32_t index = request.index, generation = request.generation;
    std::destroy_at(&request);
    std::construct_at(&request);
    request.index = index;
    request.generation = generation;
    return &request;
  }
  // Made new only when it is used again, to keep this short.
  void free(Request* request) {
    if (request->region != 0) transport_.deregister_memory(request->region);
    request->kind = Request::Kind::free;
    request->covered.reset();
    ++request->generation;
    request->after = unused_;
    unused_ = request;
  }

  Transport& transport_;
  MessageObserver* const observer_;
  std::vector<std::unique_ptr<Request[]>> chunks_;
  Request* unused_ = nullptr;  // A list by `after`: last freed, first used.
  std::uint32_t made_ = 0, sends_open_ = 0;
};

}  // namespace weft::mp
