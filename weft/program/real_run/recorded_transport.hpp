// SPDX-License-Identifier: Apache-2.0
// The transport of a rank whose run is recorded: measures waits and what each rail carries. Without
// a record it is not there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <weft/message/port/fabric.hpp>
#include <weft/program/real_run/early_end.hpp>
#include <weft/program/run_record/run_record.hpp>
#include <weft/real/wire/wire.hpp>

namespace weft {

class RecordedTransport final : public Transport {
 public:
  // `network` stands on the wire, or is the wire's own. The wire knows names of rails and hosts.
  RecordedTransport(const wire::Wire& wire, const Fabric& network, bool shares_memory,
                    EarlyEnd& early_end);

  // Forgets what was measured before.
  void start_anew();
  Duration waited() const { return waited_; }
  std::vector<RailUse> rails_used() const;
  std::uint32_t connections() const { return static_cast<std::uint32_t>(open_.size()); }

  void post(const SendPath& path, const FrameHead& head, Payload payload, bool stable,
            std::uint64_t cookie) override;
  void write(const SendPath& path, Payload payload, RemoteMemory target, const FrameHead& notice,
             std::uint64_t cookie) override;
  bool take_back(RankId peer, std::uint64_t cookie) override;
  std::uint64_t register_memory(RankId peer, std::byte* data, std::size_t size) override {
    return network_.transport.register_memory(peer, data, size);
  }
  void deregister_memory(std::uint64_t key) override { network_.transport.deregister_memory(key); }
  bool poll(Completion& out) override;
  void wait(Time until) override;

 private:
  struct RailState {
    std::string name;
    std::uint64_t bytes = 0, delivered = 0;
    std::uint32_t downs = 0, under_way = 0;
    Duration busy;
    Time busy_since;
  };
  struct Write {
    std::size_t rail = 0;  // Index in rails_.
    std::size_t size = 0;
  };

  Time now() const { return network_.processor.now(); }
  bool is_near(RankId peer) const;
  // The same for all peers that it leads to.
  std::string rail_name(RankId peer, RailId rail) const;
  std::size_t rail_number(RankId peer, RailId rail);
  void end_write(std::uint64_t cookie, bool delivered);
  void note_rails(const Completion& completion);

  const wire::Wire& wire_;
  const Fabric network_;
  const bool shares_memory_;
  EarlyEnd& early_end_;
  Duration waited_;
  std::vector<RailState> rails_;                                 // The first is shared memory.
  std::unordered_map<std::uint64_t, std::size_t> rail_numbers_;  // By peer and its rail.
  std::unordered_multimap<std::uint64_t, Write> writes_;         // Under way, by cookie.
  std::set<std::pair<std::uint32_t, std::uint32_t>> open_;       // Peer and rail.
};

}  // namespace weft
