// SPDX-License-Identifier: Apache-2.0
// The end: a relay serves until nobody needs it. Who has nothing under way any more tells the first
// of its group; who has heard so of all of a group tells the first of all; and that tells
// everybody, from neighbour to neighbour. If one of them is lost the next takes its place.
#include <algorithm>

#include <weft/message/conn/managed.hpp>

namespace weft::conn {

RankId Managed::leader(std::uint32_t group) const {
  for (const std::uint32_t rank : layout_.groups().members(group)) {
    if (!is_gone(RankId(rank))) return RankId(rank);
  }
  return self_;
}

RankId Managed::root() const {
  for (std::uint32_t r = 0; r < layout_.ranks(); ++r) {
    if (!is_gone(RankId(r))) return leader(layout_.group(RankId(r)));
  }
  return self_;
}

bool Managed::drained() const {
  return owing_.empty() && std::all_of(outgoing_.begin(), outgoing_.end(),
                                       [](const auto& one) { return one.second.empty(); });
}

void Managed::report() {
  reported_ = true;
  const RankId first = leader(layout_.group(self_));
  if (first == self_) {
    on_done(Wish::rank_done, self_);
  } else {
    say(first, Wish::rank_done);
  }
}

void Managed::on_done(Wish wish, RankId from) {
  if (wish == Wish::rank_done) {
    done_ranks_.insert(from.index);
    const auto members = layout_.groups().members(layout_.group(self_));
    const bool all = std::all_of(members.begin(), members.end(), [&](std::uint32_t rank) {
      return done_ranks_.contains(rank) || is_gone(RankId(rank));
    });
    if (!all || leader(layout_.group(self_)) != self_) return;
    if (root() != self_) {
      say(root(), Wish::group_done);
      return;
    }
    from = self_;
  }
  done_groups_.insert(layout_.group(from));
  for (std::uint32_t g = 0; g < layout_.groups().count(); ++g) {
    const auto members = layout_.groups().members(g);
    const bool empty = std::all_of(members.begin(), members.end(),
                                   [&](std::uint32_t rank) { return is_gone(RankId(rank)); });
    if (!empty && !done_groups_.contains(g)) return;
  }
  if (root() != self_ || all_done_) return;
  all_done_ = true;
  Head news;
  news.verb = Verb::all_done;
  spread(news, self_);
}

bool Managed::holds_frames() const {
  return std::any_of(links_.begin(), links_.end(),
                     [](const auto& one) { return one.second.held != nullptr; });
}

void Managed::leave() {
  leaving_ = true;
  Completion ignored;
  // Nobody is a relay; but the last frames may wait for their connections.
  while (options_.mode != Mode::managed && holds_frames()) {
    while (poll(ignored)) {
    }
    if (holds_frames()) wait(Time::never());
  }
  while (options_.mode == Mode::managed && !all_done_) {
    while (poll(ignored)) {
    }
    settle_acks(true);
    if (!reported_ && drained()) report();
    if (!all_done_) wait(Time::never());
  }
}

}  // namespace weft::conn
