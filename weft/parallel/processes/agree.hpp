// SPDX-License-Identifier: Apache-2.0
// What several processes must decide together. With null peers a process is alone, and decides.
#pragma once

#include <atomic>
#include <vector>

#include <weft/base/pack.hpp>
#include <weft/base/result.hpp>
#include <weft/parallel/processes/peers.hpp>

namespace weft {

// Everyone's, by process.
std::vector<PeerBytes> share_among(Peers* peers, PeerBytes mine);

// All processes make this call. All get the error of the first that has one.
Status agree(Peers* peers, Status mine);

void pack_error(const Error& error, Packer& letter);
Error unpack_error(Unpacker& letter);

// A flag that somebody may raise at any time. Processes see different moments of it: whether it is
// up they find out together.
class StopSign {
 public:
  StopSign(const std::atomic<bool>* flag, Peers* peers) : flag_(flag), peers_(peers) {}

  bool raised_here() const { return flag_ != nullptr && flag_->load(); }
  // A call that all processes make, as often as all others.
  bool raised() const {
    return peers_ == nullptr ? raised_here() : peers_->least(raised_here() ? 0 : 1) == 0;
  }

 private:
  const std::atomic<bool>* flag_;
  Peers* peers_;
};

}  // namespace weft
