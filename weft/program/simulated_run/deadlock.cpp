// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include <weft/base/pack.hpp>
#include <weft/base/quantity.hpp>
#include <weft/program/simulated_run/deadlock.hpp>

namespace weft {

namespace {

constexpr std::size_t lines_max = 12;
constexpr Duration idle_limit = idle_max / 2;

// Returns null if the rank has ended.
const WaitingRank* find(const std::vector<WaitingRank>& open, RankId rank) {
  const auto at = std::lower_bound(open.begin(), open.end(), rank,
                                   [](const WaitingRank& w, RankId r) { return w.rank < r; });
  return at != open.end() && at->rank == rank ? &*at : nullptr;
}

// A thread per line. Outside of calls it waits for something of the program's own.
std::string lines_of_threads(const std::vector<WaitingRank>& open, const WaitingRank& one) {
  constexpr std::size_t threads_max = 9;
  std::string text;
  std::size_t lines = 0;
  for (const Waiting& w : one.threads) {
    if (lines++ == threads_max) break;
    text += fmt::format("\n  rank {}, thread {} {}waits for {}", one.rank.index, w.thread,
                        w.call.empty() ? "" : "in " + w.call + " ", w.what);
    for (const RankId on : w.on) {
      if (find(open, on) == nullptr) text += fmt::format("; rank {} has ended", on.index);
    }
  }
  if (one.threads.size() > threads_max)
    text += fmt::format("\n  and {} more threads of rank {}", one.threads.size() - threads_max,
                        one.rank.index);
  return text;
}

std::string line_of(const std::vector<WaitingRank>& open, RankId rank) {
  const WaitingRank& one = *find(open, rank);
  const Waiting& w = one.waiting;
  if (!one.threads.empty()) return lines_of_threads(open, one);
  if (!one.is_known) return fmt::format("\n  rank {} waits", rank.index);
  if (one.asks)
    return fmt::format("\n  rank {} polls with {} and finds nothing", rank.index, w.call);
  std::string text = fmt::format("\n  rank {} in {} waits for {}", rank.index, w.call, w.what);
  for (const RankId on : w.on) {
    if (find(open, on) == nullptr) text += fmt::format("; rank {} has ended", on.index);
  }
  return text;
}

// Follows the wait-for edges of ranks that wait for exactly one other until they close a cycle.
std::vector<RankId> find_cycle(const std::vector<WaitingRank>& open) {
  std::vector<std::size_t> seen(open.size(), 0);
  for (std::size_t start = 0; start < open.size(); ++start) {
    std::vector<RankId> path;
    const WaitingRank* at = &open[start];
    const auto mark = [&](const WaitingRank* one) -> std::size_t& {
      return seen[static_cast<std::size_t>(one - open.data())];
    };
    while (mark(at) == 0) {
      mark(at) = start + 1;
      path.push_back(at->rank);
      const WaitingRank* next = nullptr;
      for (const RankId on : at->waiting.on) {
        if (next == nullptr) next = find(open, on);
      }
      if (next == nullptr) break;
      at = next;
    }
    const auto back = std::find(path.begin(), path.end(), at->rank);
    if (back != path.end() && path.size() > 1 && mark(at) == start + 1 && at->rank != path.back())
      return {back, path.end()};
  }
  return {};
}

void pack(const WaitingRank& one, Packer& out) {
  out.put(one.rank);
  out.put(one.is_known);
  out.put(one.asks);
  out.put_text(one.waiting.call);
  out.put_text(one.waiting.what);
  out.put_list(one.waiting.on);
  out.put(one.threads.size());
  for (const Waiting& thread : one.threads) {
    out.put(thread.thread);
    out.put_text(thread.call);
    out.put_text(thread.what);
    out.put_list(thread.on);
  }
}

WaitingRank unpack(Unpacker& in) {
  WaitingRank one;
  one.rank = in.take<RankId>();
  one.is_known = in.take<bool>();
  one.asks = in.take<bool>();
  one.waiting.call = in.take_text();
  one.waiting.what = in.take_text();
  one.waiting.on = in.take_list<RankId>();
  one.threads.resize(in.take<std::size_t>());
  for (Waiting& thread : one.threads) {
    thread.thread = in.take<std::uint32_t>();
    thread.call = in.take_text();
    thread.what = in.take_text();
    thread.on = in.take_list<RankId>();
  }
  return one;
}

std::vector<Waiting> threads_of(const World& world, RankId rank, const WaitTeller* teller) {
  const std::vector<RankThreads::Wait> waits = world.threads_waiting(rank);
  const std::vector<Waiting> calls =
      teller == nullptr ? std::vector<Waiting>() : teller->threads_waiting();
  std::vector<Waiting> all;
  if (waits.empty() || (waits.size() == 1 && waits[0].in_call && calls.empty())) return all;
  for (const RankThreads::Wait& wait : waits) {
    Waiting said;
    said.what = wait.reason;
    const auto call = std::find_if(calls.begin(), calls.end(), [&](const Waiting& one) {
      return one.thread == wait.thread && !one.call.empty();
    });
    if (call != calls.end()) {
      said = *call;
    } else if (wait.in_call && teller != nullptr) {
      said = teller->waiting();
    }
    said.thread = wait.thread;
    all.push_back(said);
  }
  return all;
}

}  // namespace

bool ranks_stuck(const World& world, std::uint32_t ranks) {
  for (std::uint32_t r = 0; r < ranks; ++r) {
    const RankId rank(r);
    if (!world.is_here(rank) || world.done(rank) || world.blocked(rank)) continue;
    const WaitTeller* const teller = world.teller(rank);
    if (teller == nullptr || teller->idle() < idle_limit) return false;
  }
  return true;
}

std::vector<WaitingRank> waiting_ranks(ProcessGroup* peers, const World& world,
                                       std::uint32_t ranks) {
  std::vector<WaitingRank> open;
  for (std::uint32_t r = 0; r < ranks; ++r) {
    const RankId rank(r);
    if (!world.is_here(rank) || world.done(rank)) continue;
    const WaitTeller* const teller = world.teller(rank);
    open.push_back({rank, teller != nullptr, teller != nullptr && teller->idle() >= idle_limit,
                    teller != nullptr ? teller->waiting() : Waiting{},
                    threads_of(world, rank, teller)});
  }
  if (peers == nullptr) return open;
  Packer mine;
  for (const WaitingRank& one : open) pack(one, mine);
  open.clear();
  for (const PeerBytes& bytes : peers->gather(mine.take())) {
    for (Unpacker in(bytes); !in.empty();) open.push_back(unpack(in));
  }
  std::sort(open.begin(), open.end(),
            [](const WaitingRank& a, const WaitingRank& b) { return a.rank < b.rank; });
  return open;
}

std::string describe_deadlock(const std::vector<WaitingRank>& open, const RunTotals& totals,
                              const std::string& network) {
  Time last;
  for (const RankEntry& entry : totals.ranks) {
    if (!entry.done) last = std::max(last, entry.reached);
  }
  std::string text = fmt::format("deadlock at {}: {} of {} ranks wait forever",
                                 to_text(last - Time::zero()), open.size(), totals.ranks.size());
  if (!network.empty()) return text + "\n  packets in the network block each other: " + network;
  const std::vector<RankId> cycle = find_cycle(open);
  std::size_t lines = 0;
  if (!cycle.empty()) text += fmt::format("; {} of them in a cycle:", cycle.size());
  for (const RankId rank : cycle) {
    if (lines++ < lines_max) text += line_of(open, rank);
  }
  for (const WaitingRank& one : open) {
    if (lines >= lines_max) break;
    if (std::find(cycle.begin(), cycle.end(), one.rank) != cycle.end()) continue;
    text += line_of(open, one.rank);
    ++lines;
  }
  if (open.size() > lines) text += fmt::format("\n  and {} more", open.size() - lines);
  return text;
}

}  // namespace weft
