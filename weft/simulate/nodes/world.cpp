// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <weft/simulate/nodes/machinery.hpp>
#include <weft/simulate/nodes/world.hpp>

namespace weft {

struct World::State {
  State(const WorldSetup& setup, RankBody& program) : machinery(setup, program) {}
  Machinery machinery;
};

World::World(std::unique_ptr<State> state) : state_(std::move(state)) {}

World::~World() {
  for (const auto& rank : state_->machinery.ranks) {
    if (rank != nullptr) rank->drop_parcels();
  }
  state_->machinery.storage.drop();
}

Result<std::unique_ptr<World>> World::make(const WorldSetup& setup, RankBody& program) {
  auto state = std::make_unique<State>(setup, program);
  if (Status status = state->machinery.build(); !status) return std::move(status).error();
  return std::unique_ptr<World>(new World(std::move(state)));
}

Result<bool> World::run(Time until) {
  auto more = state_->machinery.network->run(until);
  if (Status fit = state_->machinery.check_stacks(); !fit) return std::move(fit).error();
  return more;
}

void World::stop(RankId /*rank*/, Time at) {
  state_->machinery.stop(at);
}

Time World::stopped_at() const {
  return Time::ps(state_->machinery.stop_ps.load());
}

bool World::is_here(RankId rank) const {
  return state_->machinery.ranks[rank.index] != nullptr;
}

bool World::done(RankId rank) const {
  return state_->machinery.ranks[rank.index]->done;
}

bool World::blocked(RankId rank) const {
  const SimRank& one = *state_->machinery.ranks[rank.index];
  return (one.waits() || one.threads != nullptr) && one.next_turn() == Time::never();
}

std::uint32_t World::ranks_open() const {
  const auto& ranks = state_->machinery.ranks;
  return static_cast<std::uint32_t>(std::count_if(
      ranks.begin(), ranks.end(), [](const auto& rank) { return rank != nullptr && !rank->done; }));
}

const RankCounts& World::counts(RankId rank) const {
  return state_->machinery.ranks[rank.index]->counts;
}

const WaitTeller* World::teller(RankId rank) const {
  return state_->machinery.ranks[rank.index]->teller;
}

std::vector<RankThreads::Wait> World::threads_waiting(RankId rank) const {
  const RankThreads* const threads = state_->machinery.ranks[rank.index]->threads.get();
  return threads == nullptr ? std::vector<RankThreads::Wait>() : threads->waits();
}

RankThreads& World::current_threads() {
  return RankThreads::of(static_cast<SimRank&>(Current::fabric()->transport));
}

RankThreads* World::current_threads_if_any() {
  return static_cast<SimRank&>(Current::fabric()->transport).threads.get();
}

Time World::now(RankId rank) const {
  return state_->machinery.ranks[rank.index]->now();
}

std::vector<PairCount> World::pairs() const {
  std::vector<PairCount> list;
  for (const auto& rank : state_->machinery.ranks) {
    if (rank == nullptr || rank->pairs == nullptr) continue;
    for (const auto& [to, pair] : *rank->pairs) {
      list.push_back({rank->self(), RankId(to), pair.messages, pair.bytes});
    }
  }
  std::sort(list.begin(), list.end(), [](const PairCount& a, const PairCount& b) {
    return a.from != b.from ? a.from < b.from : a.to < b.to;
  });
  return list;
}

Histogram World::latencies_ps() const {
  Histogram all;
  for (const auto& tally : state_->machinery.tallies) all.merge(tally.latencies_ps);
  return all;
}

Network& World::network() {
  return *state_->machinery.network;
}

bool World::find_stack(const void* address, RankId& owner, bool& beyond) const {
  const auto index = state_->machinery.stacks->owner(address);
  if (!index) return false;
  owner = RankId(*index);
  beyond = state_->machinery.stacks->in_guard(address);
  return true;
}

std::size_t World::stack_bytes() const {
  return state_->machinery.stacks->size();
}

World::Memory World::stack_memory() const {
  const Stacks& stacks = *state_->machinery.stacks;
  return {reinterpret_cast<std::uintptr_t>(stacks.begin()), stacks.bytes()};
}

std::uint32_t World::ranks() const {
  return state_->machinery.setup.placement->ranks();
}

std::uint32_t World::routers() const {
  return state_->machinery.setup.topology->graph.router_count();
}

bool World::current(RankId& rank, Time& now) {
  const Fabric* const fabric = Current::fabric();
  if (fabric == nullptr) return false;
  rank = fabric->self;
  now = fabric->processor.now();
  return true;
}

void World::end_current() {
  static_cast<SimRank&>(Current::fabric()->transport).end();
}

Storage* World::storage(RankId rank) const {
  return state_->machinery.ranks[rank.index]->storage.get();
}

void World::place_memory(RankId rank, const void* data, std::size_t size, int socket) {
  auto& placed = state_->machinery.ranks[rank.index]->placed;
  if (placed == nullptr) placed = std::make_unique<std::vector<SimRank::Placed>>();
  placed->push_back({static_cast<const std::byte*>(data), size, socket});
}

}  // namespace weft
