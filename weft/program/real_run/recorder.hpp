// SPDX-License-Identifier: Apache-2.0
// Records one rank of a real run; at the end rank 0 writes the record of all.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include <weft/base/result.hpp>
#include <weft/message/conn/managed.hpp>
#include <weft/message/mpi/process.hpp>
#include <weft/message/mpi/profile.hpp>
#include <weft/program/real_run/early_end.hpp>
#include <weft/program/real_run/recorded_messages.hpp>
#include <weft/program/real_run/recorded_transport.hpp>
#include <weft/program/run_record/call_timeline.hpp>
#include <weft/program/run_record/event_log.hpp>
#include <weft/program/run_record/run_record.hpp>
#include <weft/real/launch/seat.hpp>
#include <weft/real/wire/wire.hpp>

namespace weft {

class RunRecorder final : private mpi::CallListener {
 public:
  // `network` is the wire's or stands on top of it; `managed` likewise, or null.
  RunRecorder(const wire::Wire& wire, const Fabric& network, const conn::Managed* managed,
              const launch::Seat& seat);

  const Fabric& fabric() const { return fabric_; }
  // Collective, after MPI_Init has connected the ranks.
  void begin(mpi::Process& process);
  // Collective, in MPI_Finalize. Never takes longer than the limits of RecordExchange.
  void finish();
  // Called when the job ends early: saves what this rank has recorded.
  void end_early();

 private:
  void entered(const char* call, Time at) override;
  void left(const char* call, Time at) override;

  void open_log();
  void close_log(bool whole);
  void compare_clocks();
  RankNumbers own_numbers(bool ended) const;
  RunRecord start_record() const;
  void gather(RankNumbers own);
  void write(const RunRecord& record) const;
  Status write_settings(const RunRecord& record) const;
  void warn(const std::string& text) const;

  std::int64_t now_ns() const { return fabric_.processor.now().in_ps() / 1000; }

  const wire::Wire& wire_;
  const launch::Seat& seat_;
  const conn::Managed* managed_;
  const std::string folder_;
  const bool events_;
  EarlyEnd early_end_;
  RecordedTransport transport_;
  RecordedMessages messages_;
  const Fabric fabric_;
  mpi::Process* process_ = nullptr;
  std::unique_ptr<EventLogWriter> log_;
  std::optional<CallTimeline> timeline_;
  Time start_;  // Start of the record: when all ranks were connected.
  Duration processor_time_before_;
  bool over_ = false;
};

}  // namespace weft
