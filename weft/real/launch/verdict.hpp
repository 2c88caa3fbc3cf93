// SPDX-License-Identifier: Apache-2.0
// What became of the ranks, and the exit code that follows.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace weft::launch {

// Of a status as wait() tells it: the code, or 128 and the signal.
int code_of(int status);

class Verdict {
 public:
  // Names by rank: of the host each runs on.
  explicit Verdict(std::vector<std::string> hosts)
      : hosts_(std::move(hosts)), ranks_(hosts_.size()) {}

  void sat(std::uint32_t rank) { ranks_[rank].sat = true; }
  void left(std::uint32_t rank) { ranks_[rank].left = true; }
  // Its program has ended without leaving. True: others still run, and must be told.
  bool lost(std::uint32_t rank);
  // `counts`: nobody made it end. True: it is a failure, and others must be told.
  bool ended(std::uint32_t rank, int status, bool counts);
  // Its host is gone, or it keeps others waiting for ever: a failure for this reason.
  void failed(std::uint32_t rank, const std::string& reason);

  bool all_ended() const { return ended_ == ranks_.size(); }
  bool has_ended(std::uint32_t rank) const { return ranks_[rank].ended; }
  bool gone(std::uint32_t rank) const { return ranks_[rank].ended || ranks_[rank].lost; }
  // The worst of the ranks that ended by themselves.
  // A rank that was lost is a failure, whatever is heard of it.
  int code() const { return code_ == 0 && first_lost_ != nobody ? 1 : code_; }
  // The first failure; empty: none, or none whose reason is known yet.
  const std::string& reason() const { return reason_; }
  // The first one that was lost, when its end was not seen.
  std::string reason_of_loss() const;
  std::string name(std::uint32_t rank) const;

 private:
  struct State {
    bool sat = false, left = false, lost = false, missed = false, ended = false;
  };
  void note(std::uint32_t rank, const std::string& reason, int code);
  std::vector<std::string> hosts_;
  std::vector<State> ranks_;
  std::size_t ended_ = 0;
  static constexpr std::uint32_t nobody = 0xffffffffu;
  std::uint32_t first_lost_ = nobody;
  int code_ = 0;
  std::string reason_;
};

}  // namespace weft::launch
