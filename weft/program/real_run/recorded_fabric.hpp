// SPDX-License-Identifier: Apache-2.0
// Stands between the message layer and the real network of a rank whose run is recorded: counts,
// measures, and logs messages. Without a record it is not there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <weft/message/mp/messenger.hpp>
#include <weft/message/port/fabric.hpp>
#include <weft/program/run_record/event_log.hpp>
#include <weft/program/run_record/run_record.hpp>
#include <weft/real/wire/wire.hpp>

namespace weft {

// Of messages about the record itself, which are no part of it.
inline constexpr mp::ContextId record_context = 0xffffffff;

class RecordedFabric final : public Fabric {
 public:
  RecordedFabric(wire::Wire& wire, Fabric& network, bool shares_memory);

  // Null: messages are not logged.
  void set_log(EventLogWriter* log) { log_ = log; }
  // Called when the process is asked to end (SIGTERM) inside a call of the library.
  void set_on_end(std::function<void()> on_end);

  // What was before does not count.
  void start_anew();
  Duration waited() const { return waited_; }
  std::vector<RailUse> rails_used() const;
  std::uint32_t connections() const { return static_cast<std::uint32_t>(open_.size()); }
  std::int64_t now_ns() const { return now().in_ps() / 1000; }

  RankId self() const override { return network_.self(); }
  std::uint32_t ranks() const override { return network_.ranks(); }
  int rails(RankId peer) const override { return network_.rails(peer); }
  RailFacts rail(RankId peer, RailId rail) const override { return network_.rail(peer, rail); }
  void weigh(RankId peer, const std::byte* data, std::span<double> rates) const override {
    network_.weigh(peer, data, rates);
  }
  bool ordered() const override { return network_.ordered(); }
  bool carries_data() const override { return network_.carries_data(); }
  Time now() const override { return network_.now(); }
  void connect(RankId peer) override { network_.connect(peer); }
  void disconnect(RankId peer) override { network_.disconnect(peer); }
  bool connected(RankId peer) const override { return network_.connected(peer); }
  bool needs_connection(RankId peer) const override { return network_.needs_connection(peer); }
  void post(const Way& way, const FrameHead& head, Payload payload, bool stable,
            std::uint64_t cookie) override;
  void write(const Way& way, Payload payload, RemoteMemory target, const FrameHead& notice,
             std::uint64_t cookie) override;
  bool take_back(RankId peer, std::uint64_t cookie) override;
  std::uint64_t register_memory(RankId peer, std::byte* data, std::size_t size) override {
    return network_.register_memory(peer, data, size);
  }
  void deregister_memory(std::uint64_t key) override { network_.deregister_memory(key); }
  bool poll(Completion& out) override;
  void wait(Time until) override;
  void copy(std::byte* to, const std::byte* from, std::size_t size) override {
    network_.copy(to, from, size);
  }
  void spend(Duration time) override { network_.spend(time); }
  void enter_call() override;
  void leave_call() override;
  void catch_up() override { network_.catch_up(); }
  void note_message(RankId to, std::size_t size) override { network_.note_message(to, size); }
  void set_teller(const WaitTeller* teller) override { network_.set_teller(teller); }

 private:
  struct RailState {
    std::string name;
    std::uint64_t bytes = 0, delivered = 0;
    std::uint32_t downs = 0, under_way = 0;
    Duration busy;
    Time busy_since;
  };
  struct Write {
    std::size_t rail = 0;  // Of rails_.
    std::size_t size = 0;
  };
  struct Coming {
    std::uint64_t number = 0;
    std::size_t missing = 0;
  };

  void end();
  bool is_near(RankId peer) const;
  // The same of all peers that it leads to.
  std::string rail_name(RankId peer, RailId rail) const;
  std::size_t rail_number(RankId peer, RailId rail);
  void end_write(std::uint64_t cookie, bool delivered);
  void log_post(RankId peer, const FrameHead& head, std::size_t size);
  void log_arrival(const Completion& completion);
  void note_rails(const Completion& completion);

  wire::Wire& wire_;  // Names of rails and hosts.
  Fabric& network_;   // What stands on it: the same, or connections that are managed.
  const bool shares_memory_;
  EventLogWriter* log_ = nullptr;
  std::function<void()> on_end_;
  Duration waited_;
  std::vector<RailState> rails_;                                 // The first is shared memory.
  std::unordered_map<std::uint64_t, std::size_t> rail_numbers_;  // By peer and its rail.
  std::unordered_multimap<std::uint64_t, Write> writes_;         // Under way, by cookie.
  std::set<std::pair<std::uint32_t, std::uint32_t>> open_;       // Peer and rail.
  std::uint64_t comings_ = 0;
  // Large messages that were announced, by peer and its number for them; then by ours.
  struct Announced {
    std::uint64_t number = 0;
    std::size_t ahead = 0, size = 0;  // What comes before the answer, and in all.
  };
  std::map<std::pair<std::uint32_t, std::uint64_t>, Announced> announced_;
  std::unordered_map<std::uint64_t, Coming> coming_;
};

}  // namespace weft
