// SPDX-License-Identifier: Apache-2.0
#include "buffering.hpp"

#include <algorithm>

#include <weft/message/mpi/include/mpi.h>
#include <weft/message/mpi/process.hpp>
#include <weft/message/mpi/session.hpp>

namespace weft::mpi {

void Buffering::attach(void* memory, std::size_t size) {
  memory_ = static_cast<std::byte*>(memory);
  size_ = size;
}

void Buffering::detach(void*& memory, std::size_t& size) {
  memory = automatic_ ? MPI_BUFFER_AUTOMATIC : memory_;
  size = size_;
  memory_ = nullptr;
  size_ = 0;
  automatic_ = false;
}

BufferedSend* Buffering::reserve(std::size_t size, bool with_data) {
  sweep();
  auto message = std::make_unique<BufferedSend>();
  BufferedSend* result = message.get();
  message->owner = this;
  message->size = size;
  if (automatic_) {
    if (with_data) message->own = std::make_unique_for_overwrite<std::byte[]>(size);
    messages_.push_back(std::move(message));
    return result;
  }
  // The first gap that is wide enough.
  std::size_t start = 0;
  auto place = messages_.begin();
  for (; place != messages_.end(); ++place) {
    if ((*place)->offset >= start && (*place)->offset - start >= size) break;
    start = std::max(start, (*place)->offset + (*place)->size);
  }
  if (start > size_ || size_ - start < size) return nullptr;
  message->offset = start;
  messages_.insert(place, std::move(message));
  return result;
}

std::byte* Buffering::memory_of(const BufferedSend& message) const {
  return message.own ? message.own.get() : memory_ + message.offset;
}

void Buffering::sweep() {
  for (const auto& message : messages_) {
    if (!message->low || !message->low->done) continue;
    message->cancelled = message->low->arrival.cancelled;
    messenger_.release(message->low);
    message->low = nullptr;
    message->size = 0;
    message->own.reset();
  }
  std::erase_if(messages_, [](const auto& message) { return !message->low && !message->held; });
}

mp::Request* Buffering::under_way() const {
  for (const auto& message : messages_) {
    if (message->low && !message->low->done) return message->low;
  }
  return nullptr;
}

Buffering* buffering_of(Process& process, const Communicator& comm) {
  const auto attached = [](Buffering* buffering) { return buffering && buffering->attached(); };
  if (attached(comm.buffering.get())) return comm.buffering.get();
  const Session* const session = process.sessions.find(comm.session);
  if (session && attached(session->buffering.get())) return session->buffering.get();
  return attached(process.buffering.get()) ? process.buffering.get() : nullptr;
}

}  // namespace weft::mpi
