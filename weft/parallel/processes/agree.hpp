// SPDX-License-Identifier: Apache-2.0
// Decisions that several processes take together. A null group means that this process is alone.
#pragma once

#include <atomic>
#include <vector>

#include <weft/base/pack.hpp>
#include <weft/base/result.hpp>
#include <weft/parallel/processes/process_group.hpp>

namespace weft {

// Every process's bytes, by process.
std::vector<PeerBytes> all_gather(ProcessGroup* peers, PeerBytes mine);

// Collective. Every process gets the error of the lowest process that has one.
Status agree(ProcessGroup* peers, Status mine);

void pack_error(const Error& error, Packer& letter);
Error unpack_error(Unpacker& letter);

// A flag that may be raised in any process at any time. Processes see it at different moments, so
// they find out together whether it is raised.
class StopSign {
 public:
  StopSign(const std::atomic<bool>* flag, ProcessGroup* peers) : flag_(flag), peers_(peers) {}

  bool raised_here() const { return flag_ != nullptr && flag_->load(); }
  // Collective: all processes make this call equally often.
  bool raised() const {
    return peers_ == nullptr ? raised_here() : peers_->all_reduce_min(raised_here() ? 0 : 1) == 0;
  }

 private:
  const std::atomic<bool>* flag_;
  ProcessGroup* peers_;
};

}  // namespace weft
