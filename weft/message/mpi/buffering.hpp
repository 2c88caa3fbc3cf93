// SPDX-License-Identifier: Apache-2.0
// Buffered sends: the data is copied to memory that the program has attached, and the library sends
// it from there. A rank has such a buffer for each communicator and session, if the program wants
// that, and one for all others.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include <weft/message/mp/messenger.hpp>

namespace weft::mpi {

class Buffering;

// One message in the buffer. Removed when it is sent and no request refers to it any more.
struct BufferedSend {
  Buffering* owner = nullptr;
  std::size_t offset = 0;
  std::size_t size = 0;
  mp::Request* low = nullptr;  // Null once sent.
  bool held = false;           // A request of the program refers to it.
  bool cancelled = false;
  std::unique_ptr<std::byte[]> own;  // For automatic buffering.
};

class Buffering {
 public:
  explicit Buffering(mp::Messenger& messenger) : messenger_(messenger) {}

  bool attached() const { return automatic_ || memory_ != nullptr; }
  void attach(void* memory, std::size_t size);
  void attach_automatic() { automatic_ = true; }
  // REQUIRES: everything has been sent. Returns what was attached.
  void detach(void*& memory, std::size_t& size);

  // Reserves room for a message; null when there is none. `with_data`: the memory will be written
  // to.
  BufferedSend* reserve(std::size_t size, bool with_data);
  std::byte* memory_of(const BufferedSend& message) const;

  // Frees the room of messages that have been sent.
  void sweep();
  bool empty() const { return messages_.empty(); }
  bool sent() const { return under_way() == nullptr; }
  // A send in flight, or null.
  mp::Request* under_way() const;

 private:
  mp::Messenger& messenger_;
  std::byte* memory_ = nullptr;
  std::size_t size_ = 0;
  bool automatic_ = false;
  std::vector<std::unique_ptr<BufferedSend>> messages_;  // By offset, if they have one.
};

struct Communicator;
struct Process;

// The buffer that sends on this communicator use: its own, that of its session, or that of the
// process. Null: none is attached.
Buffering* buffering_of(Process& process, const Communicator& comm);

}  // namespace weft::mpi
