// SPDX-License-Identifier: Apache-2.0
// The state of an agent; agent.cpp handles commands of `weft run`, agent_ranks.cpp handles the
// ranks.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <weft/real/launch/agent.hpp>
#include <weft/real/launch/clock.hpp>
#include <weft/real/launch/poll_set.hpp>
#include <weft/real/launch/rank_process.hpp>
#include <weft/real/launch/stream.hpp>

namespace weft::launch {

struct LocalRank {
  std::uint32_t rank = 0;
  std::shared_ptr<const HostJob> job;
  std::string settings;
  RankProcess process;
  std::uint64_t sittings = 0;  // Number of programs that have taken the seat, one after the other.
  bool seated = false;         // A program holds the seat now.
  bool child_ended = false, reported = false;
  int status = 0;
  Deadline kill_at = Deadline::never();
};

class Agent {
 public:
  Agent(int in, int out, const DecideBinding& places) : stream_(in, out), places_(places) {}
  int serve();

 private:
  void turn();
  void wait_for(LocalRank& rank);
  // From `weft run`.
  void handle(const Frame& frame);
  Status begin(const std::string& body);
  Status start_ranks(const std::shared_ptr<const HostJob>& job,
                     const std::vector<RankBinding>& places);
  void start_more(const std::string& body);
  void end_world(std::uint32_t first, std::uint32_t ms_until_kill);
  void relay_card(const Frame& frame);
  void relay_answer(const Frame& frame);
  void feed_input();
  // From ranks.
  void handle_rank(LocalRank& rank);
  void seat(LocalRank& rank, pid_t holder);
  void handle_packet(LocalRank& rank, const std::string& packet, pid_t sender);
  std::size_t read_output(LocalRank& rank, int stream, std::int64_t room);
  void drain_output(LocalRank& rank, int stream);
  void lose(LocalRank& rank);
  void check_holder(LocalRank& rank);
  void settle(LocalRank& rank);
  // From the kernel.
  void handle_signal();
  void reap();
  void note_end(pid_t child, int status);

  void report(FromAgent kind, std::initializer_list<std::uint64_t> numbers, std::string_view text);
  void report(FromAgent kind, std::initializer_list<std::uint64_t> numbers);
  void send_all(SeatPacket kind, std::string_view body);
  // To those that started together with this rank.
  void send_world(std::uint32_t of, SeatPacket kind, std::string_view body);
  void kill_all();
  void flush();

  Stream stream_;
  const DecideBinding& places_;
  std::shared_ptr<const HostJob> job_;  // The one that everything began with.
  std::vector<std::unique_ptr<LocalRank>> ranks_;
  PollSet set_;
  int signals_ = -1;
  // Credit for output; less than 0 after the last output of ranks that have ended.
  std::int64_t window_ = window_bytes;
  std::string input_;
  bool input_ended_ = false;
  Deadline kill_at_ = Deadline::never();
  bool done_ = false;
};

}  // namespace weft::launch
