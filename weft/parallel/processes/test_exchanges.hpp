// SPDX-License-Identifier: Apache-2.0
// Conformance test of a process group, whatever implements it: every member runs it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <weft/parallel/processes/process_group.hpp>

namespace weft {

class Exchanges {
 public:
  Exchanges(ProcessGroup& peers, std::size_t largest) : peers_(peers), largest_(largest) {}

  // Returns the promises that were broken; empty when all hold.
  std::vector<std::string> run() {
    minima();
    all_gathers();
    broadcasts();
    order();
    sizes();
    streams();
    flood();
    minima();
    return std::move(broken_);
  }

  static PeerBytes pattern(std::size_t size, unsigned seed) {
    PeerBytes bytes(size);
    for (std::size_t i = 0; i < size; ++i)
      bytes[i] = static_cast<std::byte>(i * 7 + (i >> 8) + seed);
    return bytes;
  }

 private:
  void hold(bool holds, const std::string& promise) {
    if (!holds) broken_.push_back("process " + std::to_string(peers_.self()) + ": " + promise);
  }
  int next() const { return (peers_.self() + 1) % peers_.count(); }
  int previous() const { return (peers_.self() + peers_.count() - 1) % peers_.count(); }

  void minima() {
    constexpr std::int64_t top = std::numeric_limits<std::int64_t>::max();
    const int count = peers_.count();
    hold(peers_.all_reduce_min(100 - peers_.self()) == 101 - count, "minimum of one number");
    hold(peers_.all_reduce_min(top) == top, "minimum of the largest");
    for (int holder = 0; holder < count; ++holder) {
      std::vector<std::int64_t> numbers = {peers_.self() == holder ? -holder - 1 : top, 5,
                                           peers_.self()};
      peers_.all_reduce_min(numbers);
      hold(numbers == std::vector<std::int64_t>{-holder - 1, 5, 0}, "minimum of each number");
    }
    peers_.all_reduce_min({});
  }

  // Each process gives a different size; one gives nothing.
  static PeerBytes part(int process) {
    return pattern(static_cast<std::size_t>(process * 1000 % 4001), static_cast<unsigned>(process));
  }

  void all_gathers() {
    const std::vector<PeerBytes> all = peers_.all_gather(part(peers_.self()));
    const std::vector<PeerBytes> gathered = peers_.gather(part(peers_.self()));
    hold(all.size() == static_cast<std::size_t>(peers_.count()), "all_gather has one of each");
    hold(gathered.size() == (peers_.self() == 0 ? all.size() : 0), "gather has one of each");
    for (int i = 0; i < peers_.count(); ++i) {
      const auto index = static_cast<std::size_t>(i);
      hold(all.at(index) == part(i), "all_gather");
      if (peers_.self() == 0) hold(gathered.at(index) == part(i), "gather");
    }
  }

  void broadcasts() {
    for (const std::size_t size : {0, 1, 100'000}) {
      const PeerBytes told =
          peers_.broadcast(peers_.self() == 0 ? pattern(size, 3) : pattern(9, 9));
      hold(told == pattern(size, 3), "broadcast");
    }
  }

  void order() {
    constexpr unsigned messages = 1000;
    for (unsigned i = 0; i < messages; ++i) {
      peers_.send(next(), PeerStream::windows, pattern(i % 17, i));
    }
    for (unsigned i = 0; i < messages; ++i) {
      hold(peers_.receive(previous(), PeerStream::windows) == pattern(i % 17, i), "order");
    }
  }

  void sizes() {
    for (std::size_t size = 1; size <= largest_; size *= 4) {
      for (const std::size_t near : {size - 1, size, size + 1}) {
        peers_.send(next(), PeerStream::messages, pattern(near, 1));
        hold(peers_.receive(previous(), PeerStream::messages) == pattern(near, 1),
             "size " + std::to_string(near));
      }
    }
  }

  // The stream that was sent to last may be received from first.
  void streams() {
    for (unsigned stream = 0; stream < peer_streams; ++stream) {
      peers_.send(next(), static_cast<PeerStream>(stream), pattern(20'000, stream));
    }
    for (unsigned stream = peer_streams; stream-- > 0;) {
      hold(peers_.receive(previous(), static_cast<PeerStream>(stream)) == pattern(20'000, stream),
           "streams apart");
    }
  }

  // Every process sends much to all others before any receives.
  void flood() {
    std::vector<std::size_t> amounts = {largest_ / 8};
    for (int i = 0; i < 30; ++i) amounts.insert(amounts.end(), {0, 64, largest_ / 250});
    for (const std::size_t amount : amounts) {
      for (int to = 0; to < peers_.count(); ++to) {
        peers_.send(to, PeerStream::windows, pattern(amount, static_cast<unsigned>(peers_.self())));
      }
    }
    for (int from = 0; from < peers_.count(); ++from) {
      for (const std::size_t amount : amounts) {
        hold(peers_.receive(from, PeerStream::windows) ==
                 pattern(amount, static_cast<unsigned>(from)),
             "flood");
      }
    }
  }

  ProcessGroup& peers_;
  std::size_t largest_;
  std::vector<std::string> broken_;
};

}  // namespace weft
