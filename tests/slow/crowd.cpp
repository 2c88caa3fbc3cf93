// SPDX-License-Identifier: Apache-2.0
// Messages among 64 ranks that hold two shortcuts each, under connections that are refused, frames
// that overtake each other, relays that are lost: order and content must be exact for every seed.
//   crowd [messages] [seeds] [first seed]
#include <cstdio>
#include <cstdlib>

#include <weft/message/conn/test_crowd.hpp>

namespace {

weft::conn::Crowd make(std::uint64_t seed, std::uint64_t messages) {
  weft::conn::Crowd crowd;
  weft::Rng random = weft::Rng(seed).stream("circumstances");
  crowd.messages = messages;
  crowd.local.seed = seed;
  crowd.local.ordered = random.next() % 2 == 0;
  crowd.local.rails = 1 + static_cast<int>(random.next() % 2);
  crowd.local.connections.refused_percent = static_cast<int>(random.next() % 3) * 10;
  crowd.local.connections.host_ranks = random.next() % 4 == 0 ? 2 : 1;
  if (random.next() % 3 == 0) crowd.local.connections.most = 14;
  crowd.options.replace =
      random.next() % 4 == 0 ? weft::conn::Replace::random : weft::conn::Replace::lru;
  if (random.next() % 2 == 0) {
    crowd.settings.split = weft::mp::Split::measured;
    if (random.next() % 2 == 0) crowd.settings.head_start = weft::Bytes{2000};
    if (random.next() % 3 == 0) crowd.local.unsent_percent = 5;
  }
  crowd.options.patience = random.next() % 2 == 0 ? 1 : 4;
  for (std::uint64_t lost = random.next() % 4; lost > 0; --lost) {
    const auto rank = static_cast<std::uint32_t>(random.next() % crowd.ranks());
    if (crowd.is_silent(rank)) continue;
    crowd.silent.push_back(rank);
    const std::int64_t before = crowd.local.losses.empty() ? 0 : crowd.local.losses.back().step;
    const auto later = static_cast<std::int64_t>(random.next() % (messages * 4));
    crowd.local.losses.push_back({weft::RankId(rank), before + later});
  }
  return crowd;
}

}  // namespace

int main(int count, char** words) {
  const auto number = [&](int i, std::uint64_t otherwise) {
    return i < count ? std::strtoull(words[i], nullptr, 10) : otherwise;
  };
  const std::uint64_t messages = number(1, 1'000'000), seeds = number(2, 20), first = number(3, 1);
  for (std::uint64_t seed = first; seed < first + seeds; ++seed) {
    weft::conn::Crowd crowd = make(seed, messages);
    const std::string wrong = crowd.run();
    const weft::conn::Counts all = crowd.sum();
    std::printf(
        "seed %llu: %s; %u lost, %u shortcuts, %u evicted, %u declined, %u refused, %llu "
        "relayed, %llu again, %u held, %llu bytes held for others\n",
        static_cast<unsigned long long>(seed), wrong.empty() ? "exact" : wrong.c_str(),
        static_cast<unsigned>(crowd.silent.size()), all.shortcuts, all.evicted, all.declined,
        all.refused, static_cast<unsigned long long>(all.relayed_frames),
        static_cast<unsigned long long>(all.repeated), all.held_most,
        static_cast<unsigned long long>(all.passing_most));
    std::fflush(stdout);
    if (!wrong.empty()) return 1;
  }
  return 0;
}
