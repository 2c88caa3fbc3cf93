// SPDX-License-Identifier: Apache-2.0
// How the ranks of a job ended, and the exit code that follows.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <weft/real/launch/seat.hpp>

namespace weft::launch {

// The exit code for a status from wait(): the code, or 128 plus the signal.
int code_of(int status);

class JobOutcome {
 public:
  // Takes the host name of each rank.
  explicit JobOutcome(std::vector<std::string> hosts)
      : hosts_(std::move(hosts)), ranks_(hosts_.size()) {}

  // More ranks, on these hosts.
  void add(const std::vector<std::string>& hosts);

  void sat(std::uint32_t rank) { ranks_[rank].sat = true; }
  void left(std::uint32_t rank) { ranks_[rank].left = true; }
  void set_resilience(std::uint32_t rank, Resilience now) { ranks_[rank].resilience = now; }
  // Whether those of these ranks that still run may go on without those that are lost.
  using Among = std::function<bool(std::uint32_t rank)>;
  bool goes_on(const Among& among) const;
  // Whether another one of these ranks still runs.
  bool others_run(std::uint32_t rank, const Among& among) const;
  bool all_ended(const Among& among) const;
  bool anybody_failed() const { return first_lost_ != nobody || code_ != 0; }
  bool has_left(std::uint32_t rank) const { return ranks_[rank].left; }
  bool is_lost(std::uint32_t rank) const { return ranks_[rank].lost; }
  // The rank's program ended without leaving. Returns true if others that are connected to it still
  // run (`others`), and must be notified.
  bool lost(std::uint32_t rank, bool others);
  // `counts`: the rank ended by itself. Returns true if that is a failure of which others must be
  // notified.
  bool ended(std::uint32_t rank, int status, bool counts);
  // The rank's host is gone, or the rank blocks others forever: a failure for this reason.
  void failed(std::uint32_t rank, const std::string& reason);
  // The rank never was part of the job, or no longer counts.
  void discard(std::uint32_t rank);

  bool all_ended() const { return ended_ == ranks_.size(); }
  bool has_ended(std::uint32_t rank) const { return ranks_[rank].ended; }
  bool gone(std::uint32_t rank) const { return ranks_[rank].ended || ranks_[rank].lost; }
  // The worst exit code of the ranks that ended by themselves. A lost rank is a failure in any
  // case.
  int code() const { return code_ == 0 && first_lost_ != nobody ? 1 : code_; }
  // The first failure; empty if there is none or its reason is not known yet.
  const std::string& reason() const { return reason_; }
  // The first rank that was lost, if its end was not seen.
  std::string reason_of_loss() const;
  std::string name(std::uint32_t rank) const;

 private:
  struct State {
    bool sat = false, left = false, lost = false, missed = false, ended = false;
    Resilience resilience = Resilience::none;
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
