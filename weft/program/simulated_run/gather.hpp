// SPDX-License-Identifier: Apache-2.0
// Gathers values about items that live in different processes, in process 0.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include <weft/base/pack.hpp>
#include <weft/parallel/processes/process_group.hpp>

namespace weft {

template <typename T>
class IndexedGather {
 public:
  // `here` lists the items of this process. Collective; `peers` may be null.
  IndexedGather(ProcessGroup* peers, std::vector<std::uint32_t> here)
      : peers_(peers), here_(std::move(here)) {
    if (peers_ == nullptr) return;
    Packer mine;
    mine.put_list(here_);
    for (const PeerBytes& bytes : peers_->gather(mine.take()))
      theirs_.push_back(Unpacker(bytes).take_list<std::uint32_t>());
  }
  const std::vector<std::uint32_t>& here() const { return here_; }

  // Puts each process's values into process 0's list of all items. Collective.
  void collect(const std::vector<T>& mine, std::vector<T>& all) const {
    if (peers_ == nullptr) {
      place(here_, mine, all);
      return;
    }
    Packer packed;
    packed.put_list(mine);
    const std::vector<PeerBytes> lists = peers_->gather(packed.take());
    for (std::size_t p = 0; p < lists.size(); ++p)
      place(theirs_[p], Unpacker(lists[p]).take_list<T>(), all);
  }

 private:
  static void place(const std::vector<std::uint32_t>& where, const std::vector<T>& values,
                    std::vector<T>& all) {
    for (std::size_t i = 0; i < where.size(); ++i) all[where[i]] = values[i];
  }

  ProcessGroup* peers_;
  std::vector<std::uint32_t> here_;
  std::vector<std::vector<std::uint32_t>> theirs_;  // By process; only in process 0.
};

}  // namespace weft
