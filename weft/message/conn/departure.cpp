// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include <weft/message/conn/departure.hpp>

namespace weft::conn {

RankId Departure::first_of(std::uint32_t group) const {
  for (const std::uint32_t rank : state_.layout.groups().members(group)) {
    if (!state_.is_gone(RankId(rank))) return RankId(rank);
  }
  return state_.self;
}

RankId Departure::first_of_all() const {
  for (std::uint32_t r = 0; r < state_.layout.ranks(); ++r) {
    if (!state_.is_gone(RankId(r))) return first_of(state_.layout.group(RankId(r)));
  }
  return state_.self;
}

void Departure::report() {
  reported_ = true;
  const RankId first = first_of(state_.layout.group(state_.self));
  if (first == state_.self) {
    hear(Control::rank_done, state_.self);
  } else {
    relays_.send(first, Control::rank_done);
  }
}

void Departure::hear(Control control, RankId from) {
  const Layout& layout = state_.layout;
  if (control == Control::rank_done) {
    done_ranks_.insert(from.index);
    const auto members = layout.groups().members(layout.group(state_.self));
    const bool all = std::all_of(members.begin(), members.end(), [&](std::uint32_t rank) {
      return done_ranks_.contains(rank) || state_.is_gone(RankId(rank));
    });
    if (!all || first_of(layout.group(state_.self)) != state_.self) return;
    if (first_of_all() != state_.self) {
      relays_.send(first_of_all(), Control::group_done);
      return;
    }
    from = state_.self;
  }
  done_groups_.insert(layout.group(from));
  for (std::uint32_t g = 0; g < layout.groups().count(); ++g) {
    const auto members = layout.groups().members(g);
    const bool empty = std::all_of(members.begin(), members.end(), [&](std::uint32_t rank) {
      return state_.is_gone(RankId(rank));
    });
    if (!empty && !done_groups_.contains(g)) return;
  }
  if (first_of_all() != state_.self) return;
  Head news;
  news.verb = Verb::all_done;
  all_done(news, state_.self);
}

void Departure::all_done(const Head& news, RankId from) {
  if (!std::exchange(all_done_, true)) state_.spread(news, from);
}

}  // namespace weft::conn
