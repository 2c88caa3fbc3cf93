// SPDX-License-Identifier: Apache-2.0
// The end of a job: ranks serve as relays until none needs them. A rank with nothing under way
// tells the first of its group; that one tells the first of all once it has heard from its whole
// group; and that one tells everybody, from neighbour to neighbour. If one of them is lost, the
// next takes its place.
#pragma once

#include <cstdint>
#include <set>

#include <weft/message/conn/relays.hpp>
#include <weft/message/conn/state.hpp>

namespace weft::conn {

class Departure {
 public:
  Departure(State& state, Relays& relays) : state_(state), relays_(relays) {}

  // This rank needs no relays any more.
  void report();
  bool reported() const { return reported_; }
  // A rank was lost: it may be the one that this rank reported to.
  void report_again() { reported_ = false; }
  // What others report.
  void hear(Control control, RankId from);
  // Everybody is done; news of it came from a peer.
  void all_done(const Head& news, RankId from);
  bool is_all_done() const { return all_done_; }

 private:
  RankId first_of(std::uint32_t group) const;
  RankId first_of_all() const;

  State& state_;
  Relays& relays_;
  bool reported_ = false, all_done_ = false;
  std::set<std::uint32_t> done_ranks_, done_groups_;
};

}  // namespace weft::conn
