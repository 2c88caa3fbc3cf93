// SPDX-License-Identifier: Apache-2.0
// Ranks that send to each other at random over managed connections, and check what they get: every
// message once, in the order of its sender, every byte as it was.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <weft/base/rng.hpp>
#include <weft/message/conn/managed.hpp>
#include <weft/message/mp/messenger.hpp>
#include <weft/message/testnet/testnet.hpp>

namespace weft::conn {

struct Crowd {
  std::uint32_t groups = 8, group_size = 8;
  std::uint64_t messages = 1000;  // Sent by all ranks together.
  Options options;
  TestnetOptions local;
  mp::Options settings;
  std::vector<std::uint32_t> silent;  // Ranks that neither send nor receive.
  std::vector<Counts> counts;         // By rank, when it has ended.

  Crowd() {
    options.shortcuts = 2;
    options.patience = 1;
    options.chunk = 512;
    options.relay_window = 4096;
    options.pair_window = 4096;
    options.pair_frames = 16;
    local.connections.needed = true;
    settings.eager_limit = Bytes{1000};
    settings.credit = Bytes{8192};
    settings.stripe_min = Bytes{256};
  }
  std::uint32_t ranks() const { return groups * group_size; }
  bool is_silent(std::uint32_t rank) const {
    return std::find(silent.begin(), silent.end(), rank) != silent.end();
  }

  struct Planned {
    std::uint32_t to;
    std::uint32_t number;  // Counts messages to this receiver.
    std::size_t size;
  };
  std::vector<Planned> plan(std::uint32_t rank) const {
    Rng random = Rng(local.seed).stream("crowd", rank);
    std::vector<std::uint32_t> numbers(ranks());
    std::vector<Planned> list;
    for (std::uint64_t i = 0; i < messages / ranks(); ++i) {
      // Runs of messages to the same one, as programs have.
      std::uint32_t to = static_cast<std::uint32_t>(random.next() % ranks());
      for (std::uint64_t run = 1 + random.next() % 4; run > 0 && i < messages / ranks(); --run) {
        const std::uint64_t kind = random.next() % 100;
        const std::size_t most = kind < 80 ? 100 : kind < 95 ? 2500 : 12000;
        const std::size_t size = sizeof(std::uint32_t) + random.next() % most;
        if (!is_silent(to) && !is_silent(rank)) list.push_back({to, numbers[to]++, size});
        if (run > 1) ++i;
      }
    }
    return list;
  }

  static std::byte content(std::uint32_t from, std::uint32_t number, std::size_t at) {
    return static_cast<std::byte>((from * 131 + number * 31 + at * 7) & 0xff);
  }
  static std::vector<std::byte> make(std::uint32_t from, const Planned& planned) {
    std::vector<std::byte> data(planned.size);
    for (std::size_t i = 0; i < data.size(); ++i) data[i] = content(from, planned.number, i);
    std::memcpy(data.data(), &planned.number, sizeof planned.number);
    return data;
  }

  // What one rank does, a few messages in flight at a time. Returns what was wrong, if anything.
  std::string talk(mp::Messenger& m, std::uint32_t me, std::uint64_t expected) const {
    const std::vector<Planned> list = plan(me);
    struct Sent {
      mp::Request* request;
      std::vector<std::byte> data;
    };
    std::deque<Sent> sends, receives;
    std::vector<std::uint32_t> seen(ranks());
    std::uint64_t posted = 0, got = 0;
    std::size_t next = 0;
    while (got < expected || next < list.size() || !sends.empty()) {
      for (; posted < expected && receives.size() < 4; ++posted) {
        receives.push_back({nullptr, std::vector<std::byte>(16384)});
        mp::Receiving r;
        r.data = receives.back().data.data();
        r.size = receives.back().data.size();
        receives.back().request = m.receive(r);
      }
      for (; next < list.size() && sends.size() < 6; ++next) {
        sends.push_back({nullptr, make(me, list[next])});
        mp::Sending s;
        s.to = RankId(list[next].to);
        s.source = static_cast<int>(me);
        s.data = sends.back().data.data();
        s.size = sends.back().data.size();
        sends.back().request = m.send(s);
      }
      m.progress();
      bool moved = false;
      for (; !sends.empty() && sends.front().request->done; sends.pop_front(), moved = true) {
        if (sends.front().request->failed) return "a send failed";
        m.release(sends.front().request);
      }
      for (; !receives.empty() && receives.front().request->done; receives.pop_front(), ++got) {
        std::string wrong = check(receives.front().request->arrival, receives.front().data, seen);
        if (!wrong.empty()) return wrong;
        m.release(receives.front().request);
        moved = true;
      }
      if (!moved) m.pause();
    }
    return {};
  }

  static std::string check(const mp::Arrival& arrival, const std::vector<std::byte>& data,
                           std::vector<std::uint32_t>& seen) {
    const auto from = static_cast<std::uint32_t>(arrival.source);
    std::uint32_t number = 0;
    std::memcpy(&number, data.data(), sizeof number);
    const std::string which = "message " + std::to_string(number) + " of " + std::to_string(from);
    if (number != seen[from]) return which + " came as number " + std::to_string(seen[from]);
    ++seen[from];
    for (std::size_t i = sizeof number; i < arrival.size; ++i) {
      if (data[i] != content(from, number, i)) return which + " differs at " + std::to_string(i);
    }
    return {};
  }

  // What was wrong, if anything.
  std::string run() {
    std::vector<std::uint32_t> group_of;
    for (std::uint32_t r = 0; r < ranks(); ++r) group_of.push_back(r / group_size);
    const Layout layout(group_of);
    std::vector<std::uint64_t> expected(ranks());
    for (std::uint32_t r = 0; r < ranks(); ++r) {
      for (const Planned& planned : plan(r)) ++expected[planned.to];
    }
    counts.assign(ranks(), {});
    std::string wrong;
    const Status status = run_on_testnet(ranks(), local, [&](const Fabric& fabric) {
      const std::uint32_t me = fabric.self.index;
      Managed managed(fabric, layout, options);
      mp::Messenger m(managed.fabric(), settings);
      const std::string mine = talk(m, me, expected[me]);
      if (!mine.empty()) wrong += "rank " + std::to_string(me) + ": " + mine + "; ";
      if (mine.empty()) managed.leave();
      counts[me] = managed.counts();
    });
    if (!wrong.empty() || status) return wrong;
    return status.error().text();
  }

  Counts sum() const {
    Counts all;
    for (const Counts& one : counts) {
      all.opened += one.opened;
      all.shortcuts += one.shortcuts;
      all.evicted += one.evicted;
      all.declined += one.declined;
      all.refused += one.refused;
      all.relayed_frames += one.relayed_frames;
      all.passed_frames += one.passed_frames;
      all.repeated += one.repeated;
      all.passing_most = std::max(all.passing_most, one.passing_most);
      all.held_most = std::max(all.held_most, one.held_most);
    }
    return all;
  }
};

}  // namespace weft::conn
