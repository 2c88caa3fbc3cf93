// SPDX-License-Identifier: Apache-2.0
// The state of a job in `weft run`; launcher.cpp drives it, launcher_events.cpp handles what
// arrives.
#pragma once

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <weft/real/launch/agents.hpp>
#include <weft/real/launch/clock.hpp>
#include <weft/real/launch/growth.hpp>
#include <weft/real/launch/job_outcome.hpp>
#include <weft/real/launch/launcher.hpp>
#include <weft/real/launch/poll_set.hpp>
#include <weft/real/launch/printer.hpp>
#include <weft/real/launch/worlds.hpp>

namespace weft::launch {

// Worlds that have lost a rank, and the end of their time of grace.
struct Failure {
  std::vector<World*> worlds;
  Deadline grace = Deadline::never();
};
// The ranks of these worlds.
inline JobOutcome::Among ranks_of(const std::vector<World*>& worlds) {
  return [worlds](std::uint32_t rank) {
    return std::any_of(worlds.begin(), worlds.end(),
                       [&](const World* world) { return world->has(rank); });
  };
}

class Launcher {
 public:
  explicit Launcher(const LaunchJob& job);
  Launcher(const Launcher&) = delete;
  Launcher& operator=(const Launcher&) = delete;
  ~Launcher();
  Result<int> run();

 private:
  Status open();
  Status start(HostAgent& agent);
  void loop();
  void turn();
  void wait_for(HostAgent& agent);
  Deadline next_deadline() const;
  void check_deadlines();
  // From agents.
  void handle_agent(HostAgent& agent);
  void handle(HostAgent& agent, const Frame& frame);
  void handle_ready(HostAgent& agent, const std::string& version);
  void handle_card(const Frame& frame);
  // What a rank said that wants the job to end.
  struct Abort {
    std::uint32_t rank = 0, code = 0;
    std::string text;
  };
  void handle_abort(Abort abort, bool for_loss);
  void release_abort();
  void end_for(const Abort& abort);
  void handle_explained(HostAgent& agent, std::string text);
  void handle_output(HostAgent& agent, FieldReader& in);
  void handle_end_of(HostAgent& agent);
  void lose_spare(HostAgent& agent, const std::string& why);
  void check_exchanges();
  // From the user.
  void handle_signal();
  void interrupt(int number);
  void read_input();

  void handle_rank(FromAgent kind, std::uint32_t rank, FieldReader& in);
  void notify_lost(std::uint32_t rank);
  void handle_ended(std::uint32_t rank, int status);
  void tell_leaving(World& world);
  Failure& failure_of(World& world);
  void begin_grace(Failure& failure);
  void consider_grace();
  void end_worlds(const std::vector<World*>& worlds, int ms_until_kill);
  void print_reason();
  void end_ranks(int ms_until_kill);
  void refuse(Error error);
  int stop_grace_ms() const;
  void stop(int ms_until_kill);
  void flush_output();
  void drop_output();
  void confirm_output();
  void write_printer(Printer& printer);
  int exit_code() const;

  const LaunchJob& job_;
  JobOutcome outcome_;
  Printer out_, err_;
  Agents agents_;
  Secret secret_{};
  Worlds worlds_;
  Growth growth_;
  std::list<Failure> failures_;
  PollSet set_;
  int signals_ = -1;
  sigset_t mask_before_ = {};
  std::size_t input_room_ = window_bytes / 16;
  bool input_ended_ = false;
  Deadline ready_by_ = Deadline::never(), grace_ = Deadline::never(), timeout_ = Deadline::never(),
           finish_by_ = Deadline::never();
  // Set once a signal or the time limit ends the job: when to wait no longer for agents, and for
  // readers of the output.
  Deadline stop_by_ = Deadline::never(), drop_by_ = Deadline::never();
  // When a reader of the last output counts as stalled.
  Deadline stalled_at_ = Deadline::never();
  // From a rank that misses another, until it is known how that one ended.
  std::optional<Abort> held_abort_;
  Deadline held_until_ = Deadline::never();
  bool ending_ = false;     // Ranks were asked to end: their exit status no longer counts.
  bool finishing_ = false;  // All ranks have ended.
  bool said_reason_ = false;
  std::string said_;               // The reason.
  int interrupted_ = 0;            // The signal, or 0.
  std::optional<int> fixed_code_;  // From an abort or the time limit.
  std::optional<Error> refusal_;   // Why the job could not be started.
};

}  // namespace weft::launch
