// SPDX-License-Identifier: Apache-2.0
// The network of a rank that is a process of its own. The simulator plays it, in another process:
// what is asked here goes over a channel, and the rank waits for the answer. What needs no answer
// is kept until something does. Time that is spent is counted on both sides.
//
// For one thread at a time.
#pragma once

#include <cstdint>
#include <map>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <weft/message/mpi/profile.hpp>
#include <weft/message/port/fabric.hpp>
#include <weft/program/rank_channel/channel.hpp>
#include <weft/program/rank_channel/requests.hpp>

namespace weft {

class RemoteRank final : public Transport,
                         public Connections,
                         public Rails,
                         public Processor,
                         public MessageObserver,
                         public mpi::CallListener {
 public:
  // Tells what its message layer has counted, when the simulator asks.
  class Reporter {
   public:
    virtual ~Reporter() = default;
    virtual RankReport report() = 0;
  };
  // Joins. Ends the process if there is no simulator at the other side.
  explicit RemoteRank(RankChannel channel, Reporter& reporter);

  const RankWelcome& welcome() const { return welcome_; }
  Fabric fabric();

  int rail_count(RankId peer) const override;
  RailFacts rail_facts(RankId peer, RailId rail) const override;
  void lower_rates(RankId, const std::byte*, std::span<double>) const override {}
  Time now() const override;
  void connect(RankId peer) override;
  void disconnect(RankId peer) override;
  bool connected(RankId peer) const override;
  bool needs_connection(RankId peer) const override;
  void post(const SendPath& path, const FrameHead& head, Payload payload, bool stable,
            std::uint64_t cookie) override;
  void write(const SendPath& path, Payload payload, RemoteMemory target, const FrameHead& notice,
             std::uint64_t cookie) override;
  bool take_back(RankId, std::uint64_t) override { return false; }
  // The key is the address: the simulator hands the data of writes over with their notices.
  std::uint64_t register_memory(RankId, std::byte* data, std::size_t) override {
    return reinterpret_cast<std::uint64_t>(data);
  }
  void deregister_memory(std::uint64_t) override {}
  bool poll(Completion& out) override;
  void wait(Time until) override;
  void copy(std::byte* to, const std::byte* from, std::size_t size) override;
  void spend(Duration time) override;
  void compute(Duration time) override;
  void charge(Work work, std::size_t bytes) override;
  void enter_call() override;
  void leave_call() override;
  void catch_up() override;
  void sending(const MessageFacts& message) override;
  void set_teller(const WaitTeller* teller) override { teller_ = teller; }
  void entered(const char* call, Time at) override;
  void left(const char* call, Time at) override;

  // For extensions.
  void place_memory(const void* data, std::size_t size, int socket);
  void begin_window(std::string_view name);
  void end_window();
  void note(std::string_view text);
  bool recall(std::uint64_t key, void* data, std::size_t size);
  void remember(std::uint64_t key, const void* data, std::size_t size);

  void leave();
  // Tells the counts again, at the end of the process.
  void tell_report();
  [[noreturn]] void abort(int code, std::string_view message);
  // After a fork: the child is not a rank.
  void close() { channel_.close(); }

 private:
  Packer& begin(Request request) const;
  // Sends what was kept, which ends with a request that is answered, and waits for the answer.
  Unpacker ask() const;
  void answer_questions(Reply reply) const;
  void spend_here(Duration time);
  void tell_now();

  mutable RankChannel channel_;
  Reporter& reporter_;
  RankWelcome welcome_;
  const WaitTeller* teller_ = nullptr;
  mutable Packer kept_;
  mutable std::vector<std::byte> answer_;
  // The clock, unless the simulator has charged something that only it knows.
  mutable Time now_;
  mutable bool is_exact_ = true;
  bool in_call_ = false;
  std::int64_t user_since_ns_ = -1;
  mutable std::map<std::pair<std::uint32_t, std::uint32_t>, RailFacts> facts_;
  mutable std::unordered_map<std::uint32_t, int> rails_;
  mutable std::unordered_map<std::uint32_t, bool> needs_;
};

}  // namespace weft
