// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <weft/message/mp/request_table.hpp>

namespace weft::mp {

Request::Request() = default;
Request::~Request() = default;
Request::Request(Request&&) noexcept = default;
Request& Request::operator=(Request&&) noexcept = default;

Request* RequestTable::add() {
  const std::uint32_t index = made_++;
  const std::uint32_t chunk = std::bit_width(index / first_chunk);
  if (chunk == chunks_.size())
    chunks_.push_back(std::make_unique<Request[]>(chunk == 0 ? first_chunk : index));
  Request& request = at(index);
  request.index = index;
  return &request;
}

void RequestTable::add_arrived(Request* receive, std::size_t offset, std::size_t size) {
  const std::size_t total = std::min(receive->size, receive->arrival.size);
  std::size_t fresh = size;
  if (fresh < total) {
    if (receive->covered == nullptr) receive->covered = std::make_unique<Covered>();
    fresh = receive->covered->add(offset, size);
  }
  receive->missing -= std::min(fresh, receive->missing);
  if (receive->missing == 0 && !receive->done) complete_data(receive);
}

void RequestTable::complete_data(Request* receive) {
  if (observer_ != nullptr) observer_->completed(receive->peer, receive->sender);
  complete(receive);
}

}  // namespace weft::mp
