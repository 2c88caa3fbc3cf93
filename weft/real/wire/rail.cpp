// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include <weft/real/wire/rail.hpp>

namespace weft::wire {

Outgoing outgoing_from(const Frame& frame) {
  Outgoing outgoing;
  outgoing.record.kind = RecordKind::frame;
  outgoing.record.size = frame.payload.size;
  outgoing.record.sequence = frame.sequence;
  outgoing.record.head = frame.head;
  outgoing.cookie = frame.cookie;
  outgoing.data = frame.payload.data;
  if (frame.stable && frame.payload.data != nullptr) return outgoing;
  if (frame.payload.size > 0) {
    outgoing.owned = std::make_unique_for_overwrite<std::byte[]>(frame.payload.size);
    if (frame.payload.data != nullptr) {
      std::memcpy(outgoing.owned.get(), frame.payload.data, frame.payload.size);
    } else {
      std::memset(outgoing.owned.get(), 0, frame.payload.size);
    }
  }
  outgoing.data = outgoing.owned.get();
  return outgoing;
}

Outgoing outgoing_from(const RemoteWrite& write) {
  Outgoing outgoing;
  outgoing.record.kind = RecordKind::write;
  outgoing.record.size = write.payload.size;
  outgoing.record.key = write.target.key;
  outgoing.record.offset = write.target.offset;
  outgoing.record.head = write.notice;
  outgoing.record.sequence = write.revoked;
  outgoing.cookie = write.cookie;
  outgoing.data = write.payload.data;
  return outgoing;
}

}  // namespace weft::wire
