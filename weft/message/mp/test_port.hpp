// SPDX-License-Identifier: Apache-2.0
// For tests of one part of the message layer: one rank's network, which records what it is asked.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <utility>
#include <vector>

#include <weft/message/mp/header.hpp>
#include <weft/message/port/fabric.hpp>

namespace weft::mp {

class TestPort final : public Transport,
                       public Connections,
                       public Rails,
                       public Processor,
                       public MessageObserver {
 public:
  Fabric fabric(bool ordered = true) {
    return {.self = RankId(0),
            .ranks = 4,
            .ordered = ordered,
            .transport = *this,
            .connections = *this,
            .rails = *this,
            .processor = *this,
            .observer = this};
  }

  struct Frame {
    SendPath path;
    Header header;
    std::size_t size = 0;
    std::uint64_t cookie = 0;
    RemoteMemory target;  // For a write.
  };
  std::deque<Frame> posted, written;
  std::vector<std::uint64_t> closed;                              // Memory, by key.
  std::vector<std::pair<std::uint32_t, std::uint64_t>> complete;  // As the observer heard.
  std::vector<RailFacts> rails{RailFacts{Rate::gbyte_per_s(1), Duration::us(1)}};

  void post(const SendPath& path, const FrameHead& head, Payload payload, bool,
            std::uint64_t cookie) override {
    posted.push_back({path, decode(head), payload.size, cookie, {}});
  }
  void write(const SendPath& path, Payload payload, RemoteMemory target, const FrameHead& notice,
             std::uint64_t cookie) override {
    written.push_back({path, decode(notice), payload.size, cookie, target});
  }
  bool take_back(RankId, std::uint64_t) override { return false; }
  std::uint64_t register_memory(RankId, std::byte*, std::size_t) override { return 77; }
  void deregister_memory(std::uint64_t key) override { closed.push_back(key); }
  bool poll(Completion&) override { return false; }
  void wait(Time) override {}
  void connect(RankId) override {}
  void disconnect(RankId) override {}
  bool connected(RankId) const override { return true; }
  bool needs_connection(RankId peer) const override { return peer != RankId(0); }
  int rail_count(RankId) const override { return static_cast<int>(rails.size()); }
  RailFacts rail_facts(RankId, RailId rail) const override { return rails[rail.index]; }
  void lower_rates(RankId, const std::byte*, std::span<double>) const override {}
  Time now() const override { return {}; }
  void copy(std::byte*, const std::byte*, std::size_t) override {}
  void completed(RankId source, std::uint64_t number) override {
    complete.emplace_back(source.index, number);
  }
};

}  // namespace weft::mp
