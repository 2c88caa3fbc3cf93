// SPDX-License-Identifier: Apache-2.0
// The state of a job in `weft run`; launcher.cpp drives it, launcher_events.cpp handles what
// arrives.
#pragma once

#include <csignal>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <weft/real/launch/agent_link.hpp>
#include <weft/real/launch/clock.hpp>
#include <weft/real/launch/exchanges.hpp>
#include <weft/real/launch/job_outcome.hpp>
#include <weft/real/launch/launcher.hpp>
#include <weft/real/launch/poll_set.hpp>
#include <weft/real/launch/printer.hpp>

namespace weft::launch {

struct HostAgent {
  const HostRanks* host = nullptr;
  std::unique_ptr<AgentLink> link;
  bool ready = false, gone = false;
  std::size_t owed = 0;  // Bytes of output not yet confirmed.
};

class Launcher {
 public:
  explicit Launcher(const LaunchJob& job);
  Launcher(const Launcher&) = delete;
  Launcher& operator=(const Launcher&) = delete;
  ~Launcher();
  Result<int> run();

 private:
  Status open();
  Status start(const HostRanks& host);
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
  void check_exchanges();
  // From the user.
  void handle_signal();
  void interrupt(int number);
  void read_input();

  void send_to_all(ToAgent kind, std::initializer_list<std::uint64_t> numbers);
  void send_to_all(ToAgent kind, std::string_view body);
  void notify_lost(std::uint32_t rank);
  void begin_grace();
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
  const std::uint32_t ranks_;
  JobOutcome outcome_;
  Printer out_, err_;
  std::vector<HostAgent> agents_;
  Secret secret_{};
  PollSet set_;
  int signals_ = -1;
  sigset_t mask_before_ = {};
  Exchanges exchanges_;
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
