// SPDX-License-Identifier: Apache-2.0
#include "world.hpp"

namespace weft::testnet {

void World::launch(RankId to, Completion&& completion, RemoteMemory target) {
  if (options.frames != nullptr) ++*options.frames;
  if (options.bytes != nullptr) *options.bytes += completion.size;
  if (ranks[to.index]->lost) return;
  Lane& way = lane(completion.peer, to);
  way.flying.push_back({std::move(completion), target});
  if (!way.listed) busy_.push_back(&way);
  way.listed = true;
}

void World::ask(RankId self, RankId peer) {
  if (ranks[peer.index]->lost) {
    ranks[self.index]->tell(Completion::Kind::peer_lost, peer);
  } else if (connections.ask(self, peer)) {
    opening_.emplace_back(self, peer);
  }
}

void World::disconnect(RankId self, RankId peer) {
  if (ranks[peer.index]->lost) return;
  const auto closing = connections.close(self, peer);
  if (closing == LocalConnectionTable::Closing::half) return;
  // Both have agreed: nothing may be under way.
  WEFT_CHECK(lane(self, peer).flying.empty() && lane(peer, self).flying.empty());
  if (closing == LocalConnectionTable::Closing::again) opening_.emplace_back(self, peer);
}

void World::open_one() {
  const std::size_t chosen = draw(opening_.size());
  const auto [a, b] = opening_[chosen];
  opening_.erase(opening_.begin() + static_cast<std::ptrdiff_t>(chosen));
  if (ranks[a.index]->lost || ranks[b.index]->lost) return;  // They have been told.
  const TestnetConnections& rules = options.connections;
  const bool room = connections.has_room(a, rules.most) && connections.has_room(b, rules.most) &&
                    !chance(rules.refused_percent);
  LocalConnection& one = connections.between(a, b);
  const auto asked = one.asked;
  if (room) {
    connections.open(a, b);
  } else {
    one = {};
  }
  for (const auto& [self, peer] : {std::pair(a, b), std::pair(b, a)}) {
    TestnetRank& rank = *ranks[self.index];
    if (!room && asked[LocalConnectionTable::side(self, peer)]) {
      rank.tell(Completion::Kind::refused, peer);
    }
    for (int i = 0; room && i < options.rails; ++i) {
      rank.tell(Completion::Kind::rail_up, peer);
      rank.inbox.back().rail = RailId(static_cast<std::uint32_t>(i));
    }
  }
}

void World::let_one_happen() {
  if (!opening_.empty() && (busy_.empty() || draw(8) == 0)) {
    open_one();
  } else {
    deliver_one();
  }
}

void World::deliver_one() {
  const std::size_t which = draw(busy_.size());
  Lane& way = *busy_[which];
  const std::size_t chosen = options.ordered ? 0 : draw(way.flying.size());
  Flying flying = std::move(way.flying[chosen]);
  way.flying.erase(way.flying.begin() + static_cast<std::ptrdiff_t>(chosen));
  if (way.flying.empty()) {
    way.listed = false;
    busy_[which] = busy_.back();
    busy_.pop_back();
  }
  TestnetRank& rank = *ranks[way.to.index];
  Completion& c = flying.completion;
  if (c.kind == Completion::Kind::written && c.data != nullptr) {
    const auto found = rank.regions.find(flying.target.key);
    if (found == rank.regions.end()) {
      // Only what came another way before may be late.
      WEFT_CHECK(options.unsent_percent > 0 || !options.losses.empty());
      return;
    }
    const Region& region = found->second;
    WEFT_CHECK(flying.target.offset + c.size <= region.size);
    std::memcpy(region.data + flying.target.offset, c.data.get(), c.size);
    c.data.reset();
  }
  rank.inbox.push_back(std::move(c));
  if (options.most_waiting != nullptr) {
    *options.most_waiting = std::max<std::uint64_t>(*options.most_waiting, rank.inbox.size());
  }
}

void World::lose_due() {
  for (; losses_ < options.losses.size() && options.losses[losses_].step <= steps; ++losses_) {
    lose(options.losses[losses_].rank);
  }
}

// A part of what it has sent arrives; then connected ranks are told.
void World::lose(RankId rank) {
  if (ranks[rank.index]->fiber->done()) return;
  ranks[rank.index]->lost = true;
  for (const auto& other : ranks) {
    const RankId peer = other->self();
    if (peer == rank || other->lost) continue;
    lane(peer, rank).flying.clear();
    Lane& way = lane(rank, peer);
    if (!way.flying.empty()) way.flying.resize(draw(way.flying.size() + 1));
    const LocalConnection& one = connections.between(rank, peer);
    const bool knows = one.state == LocalConnection::State::open ||
                       one.asked[LocalConnectionTable::side(peer, rank)] ||
                       !options.connections.needed;
    if (knows) {
      Completion gone;
      gone.kind = Completion::Kind::peer_lost;
      gone.peer = rank;
      launch(peer, std::move(gone), {});
    }
    connections.forget(rank, peer);
  }
  std::erase_if(busy_, [](Lane* way) {
    if (way->flying.empty()) way->listed = false;
    return way->flying.empty();
  });
}

void World::run_rank(TestnetRank& rank) {
  rank.waits = false;
  Current::set(&rank.fabric(), rank.layer);
  rank.fiber->resume();
  rank.layer = Current::layer();
  Current::set(nullptr, nullptr);
}

Status World::stuck() const {
  std::string text = "nothing can move:";
  for (const auto& rank : ranks) {
    if (rank->fiber->done()) continue;
    text += " rank " + std::to_string(rank->self().index);
    if (rank->teller != nullptr) {
      const Waiting w = rank->teller->waiting();
      text += " in " + w.call + " waits for " + w.what;
    } else {
      text += " waits";
    }
    text += ";";
  }
  return Error::run(text);
}

Status World::run() {
  auto stacks = Stacks::make(static_cast<std::uint32_t>(ranks.size()), options.stack_bytes);
  if (!stacks) return std::move(stacks).error();
  std::vector<Start> starts;
  starts.reserve(ranks.size());
  for (const auto& rank : ranks) {
    starts.push_back({this, rank.get()});
    rank->fiber = std::make_unique<Fiber>((*stacks)->low(rank->self().index), (*stacks)->size(),
                                          [](void* argument) {
                                            const auto& start = *static_cast<Start*>(argument);
                                            try {
                                              start.world->body_(start.rank->fabric());
                                            } catch (const Lost&) {
                                            }
                                          },
                                          &starts.back());
  }
  Status ended;
  for (std::vector<TestnetRank*> able; ended && step(able);) {
    if (something_flies() && (able.empty() || draw(2) == 0)) {
      let_one_happen();
    } else if (!able.empty()) {
      run_rank(*able[draw(able.size())]);
    } else {
      const auto timed = std::find_if(ranks.begin(), ranks.end(), [](const auto& rank) {
        return !rank->fiber->done() && rank->until < Time::never();
      });
      const bool has_time = timed != ranks.end();
      if (has_time) steps = std::max(steps, (*timed)->until.in_ps());
      if (!has_time) ended = stuck();
    }
  }
  if (options.most_connected != nullptr) *options.most_connected = connections.most();
  return ended;
}

// Finds the ranks that can run now; false: all have ended.
bool World::step(std::vector<TestnetRank*>& able) {
  ++steps;
  lose_due();
  able.clear();
  bool all_done = true;
  for (const auto& rank : ranks) {
    all_done = all_done && rank->fiber->done();
    if (runnable(*rank)) able.push_back(rank.get());
  }
  return !all_done;
}

}  // namespace weft::testnet
