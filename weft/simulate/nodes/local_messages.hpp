// SPDX-License-Identifier: Apache-2.0
// Messages of a rank to and from others of its node, as weft run has them: what frames cost the
// processors of both, and large messages that both copy. The sender announces such a copy and
// begins; a receiver that polls meanwhile takes stretches, too.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>

#include <weft/base/units.hpp>
#include <weft/message/port/rank.hpp>

namespace weft {

class SimRank;
struct Parcel;

// A copy on which the processors of two ranks work.
struct LocalCopy {
  RankId from, to;
  std::uint64_t cookie = 0;  // The sender's.
  std::size_t size = 0;
  std::size_t claimed = 0, copied = 0;  // Bytes.
  bool cached = true;
  std::unique_ptr<Parcel> notice;  // The receiver's, while it waits for the sender's last stretch.
  bool done() const { return copied == size; }
};

class LocalMessages {
 public:
  explicit LocalMessages(SimRank& rank) : rank_(rank) {}

  bool reach(RankId peer) const;  // Another rank of the same node.
  // The copy itself is charged by the message layer.
  void spend_on_sending(std::size_t size);
  void spend_on_receiving(std::size_t size);
  // Writes into a peer's memory, if processors do that here.
  bool writes(RankId peer, Parcel* parcel);
  // Works on a copy that was announced. false: its sender still copies, and announces its end.
  bool finish(std::unique_ptr<Parcel>& parcel);

 private:
  void write_to_self(Parcel* parcel);
  void write(Parcel* parcel);
  void work_on(LocalCopy& copy);
  // Whether the memory at `target` was written so recently that the cache has it; notes the write.
  bool finds_in_cache(const std::byte* target, std::size_t size);

  using WriteTimes = std::unordered_map<const std::byte*, std::uint64_t>;
  SimRank& rank_;
  std::unique_ptr<WriteTimes> written_at_;  // By address: written_ at that time.
  std::uint64_t written_ = 0;               // Bytes of large messages from ranks of the node.
};

}  // namespace weft
