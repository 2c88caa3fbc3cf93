// SPDX-License-Identifier: Apache-2.0
#include "recorder.hpp"

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <set>
#include <utility>
#include <vector>

#include <sys/resource.h>

#include <weft/base/file.hpp>
#include <weft/message/coll/choose.hpp>
#include <weft/program/real_run/record_exchange.hpp>
#include <weft/program/run_record/run_settings.hpp>
#include <weft/real/wire/clock.hpp>

namespace weft {

namespace {

std::int64_t host_clock_ns() {
  return wire::real_now().in_ps() / 1000;
}

Duration processor_time() {
  rusage used = {};
  ::getrusage(RUSAGE_SELF, &used);
  const auto seconds = std::int64_t{used.ru_utime.tv_sec} + used.ru_stime.tv_sec;
  return Duration::us(seconds * 1'000'000 + used.ru_utime.tv_usec + used.ru_stime.tv_usec);
}

// The lowest rank of each node, which measures its clock for all.
std::vector<std::pair<std::uint32_t, RankId>> first_of_nodes(const wire::Wire& wire) {
  std::set<std::uint32_t> seen;
  std::vector<std::pair<std::uint32_t, RankId>> firsts;
  for (std::uint32_t rank = 0; rank < wire.ranks(); ++rank) {
    const std::uint32_t node = wire.node_of(RankId(rank));
    if (seen.insert(node).second) firsts.emplace_back(node, RankId(rank));
  }
  return firsts;
}

}  // namespace

RunRecorder::RunRecorder(const wire::Wire& wire, const Fabric& network,
                         const conn::Managed* managed, const launch::Seat& seat)
    : wire_(wire),
      seat_(seat),
      managed_(managed),
      folder_(seat.settings().record),
      events_(seat.settings().events),
      transport_(wire, network, seat.settings().shared_memory, early_end_),
      messages_(network.processor, network.ranks),
      fabric_{.self = network.self,
              .ranks = network.ranks,
              .ordered = network.ordered,
              .carries_data = network.carries_data,
              .transport = transport_,
              .connections = network.connections,
              .rails = network.rails,
              .processor = network.processor,
              .observer = &messages_} {}

void RunRecorder::warn(const std::string& text) const {
  std::fprintf(stderr, "weft: warning: %s\n", text.c_str());
}

void RunRecorder::begin(mpi::Process& process) {
  process_ = &process;
  if (events_ || wire_.self() == RankId(0)) {
    std::error_code failed;
    std::filesystem::create_directories(folder_, failed);
    if (failed) warn("no record of the run: " + folder_ + ": " + failed.message());
  }
  if (events_) {
    open_log();
    messages_.set_log(log_.get());  // Set first: other ranks may be ahead of us and already send.
    compare_clocks();
  }
  if (events_ || wire_.self() == RankId(0)) {
    early_end_.watch([this] { end_early(); });
  }
  processor_time_before_ = processor_time();
  transport_.start_anew();
  messages_.count_traffic();
  start_ = fabric_.processor.now();
  timeline_.emplace(
      spans_per_rank(wire_.ranks()), [this] { return transport_.waited(); }, start_);
  process.profile.listener = this;
}

void RunRecorder::open_log() {
  EventLogStart start;
  start.rank = wire_.self().index;
  start.ranks = wire_.ranks();
  start.node = wire_.node_of(wire_.self());
  start.host = wire_.host_of(wire_.self());
  start.start_ns = host_clock_ns() - now_ns();
  auto log = EventLogWriter::create(event_log_path(folder_, start.rank), start);
  if (log) {
    log_ = *std::move(log);
  } else {
    warn("no events of rank " + std::to_string(start.rank) + ": " + log.error().text());
  }
}

// Ranks of a host share its clock, so only one of them is asked.
void RunRecorder::compare_clocks() {
  RecordExchange exchange(process_->messenger);
  for (const auto& [node, first] : first_of_nodes(wire_)) {
    if (first == RankId(0)) continue;
    if (wire_.self() == first) exchange.answer_clock(host_clock_ns);
    if (wire_.self() != RankId(0)) continue;
    const auto clock = exchange.ask_clock(first, host_clock_ns);
    if (clock && log_ != nullptr) log_->clock(node, clock->at_ns, clock->ahead_ns);
  }
}

void RunRecorder::close_log(bool whole) {
  messages_.set_log(nullptr);
  if (log_ == nullptr) return;
  if (process_->call != nullptr) log_->leave(process_->call, now_ns());
  if (whole) {
    log_->finish();
  } else {
    log_->flush();
  }
  if (!log_->problem().empty()) {
    warn("the events of rank " + std::to_string(wire_.self().index) +
         " are not complete: " + log_->problem());
  }
  log_.reset();
}

void RunRecorder::entered(const char* call, Time at) {
  early_end_.enter_call();
  if (log_ != nullptr) log_->enter(call, at.in_ps() / 1000);
  timeline_->entered(call, at);
}

void RunRecorder::left(const char* call, Time at) {
  if (log_ != nullptr) log_->leave(call, at.in_ps() / 1000);
  timeline_->left(call, at);
  early_end_.leave_call();
}

RankNumbers RunRecorder::own_numbers(bool ended) const {
  RankNumbers numbers;
  const RankId self = wire_.self();
  const Time now = fabric_.processor.now();
  const Time end = Time::zero() + (now - start_);
  RankRow& row = numbers.row;
  row.rank = self;
  row.node = wire_.node_of(self);
  row.end_ps = ended ? end.in_ps() : -1;
  row.counts.ended = end;
  row.counts.waited = transport_.waited();
  row.counts.spent = processor_time() - processor_time_before_;
  for (const auto& [to, traffic] : messages_.traffic()) {
    numbers.pairs.push_back({self, RankId(to), traffic.messages, traffic.bytes});
    row.counts.messages += traffic.messages;
    row.counts.bytes += traffic.bytes;
  }
  mpi::Profile profile = process_->profile;
  // A call in progress ends with the record.
  if (process_->call != nullptr) profile.add(process_->call, now - process_->entered, 0);
  for (const mpi::Profile::Record& record : profile.records()) {
    numbers.calls[record.call].add({record.count, record.bytes, record.inside, {}, {}});
  }
  numbers.host = wire_.host_of(self);
  numbers.timeline.rank = self.index;
  if (timeline_) numbers.timeline = timeline_->read(self.index, now);
  numbers.rails = transport_.rails_used();
  numbers.connections = transport_.connections();
  if (managed_ != nullptr) {
    numbers.managed = managed_->counts();
    numbers.connections = numbers.managed.held_most;
  }
  if (process_->choices != nullptr && process_->choices->usage() != nullptr)
    numbers.algorithms = process_->choices->usage()->by_name();
  return numbers;
}

RunRecord RunRecorder::start_record() const {
  RunRecord record;
  record.program = ::program_invocation_short_name;
  record.ranks = wire_.ranks();
  return record;
}

void RunRecorder::finish() {
  if (std::exchange(over_, true)) return;
  RankNumbers own = own_numbers(true);
  process_->profile.listener = nullptr;
  early_end_.leave_call();  // The listener is gone, so the end of this call is not reported.
  if (events_) {
    compare_clocks();
    close_log(true);
  }
  if (wire_.self() == RankId(0)) {
    gather(std::move(own));
  } else {
    RecordExchange(process_->messenger).give(pack(own));
  }
}

void RunRecorder::gather(RankNumbers own) {
  RecordExchange exchange(process_->messenger);
  const Time deadline = fabric_.processor.now() + RecordExchange::gather_max;
  RunRecord record = start_record();
  record.add(std::move(own));
  for (std::uint32_t rank = 1; rank < record.ranks; ++rank) {
    if (const auto bytes = exchange.take(RankId(rank), deadline))
      record.add(unpack_numbers(*bytes));
  }
  if (record.rows.size() < record.ranks) {
    record.ending = "incomplete";
    warn("the record of the run lacks " + std::to_string(record.ranks - record.rows.size()) +
         " ranks, which did not answer");
  }
  write(record);
}

void RunRecorder::end_early() {
  if (process_ == nullptr || std::exchange(over_, true)) return;
  RankNumbers own = own_numbers(false);
  process_->profile.listener = nullptr;
  if (events_) close_log(false);
  if (wire_.self() != RankId(0)) return;
  RunRecord record = start_record();
  record.ending = "aborted";
  record.add(std::move(own));
  write(record);
}

// Under another launcher nobody else can say what was asked for.
Status RunRecorder::write_settings(const RunRecord& record) const {
  if (seat_.by_weft_run()) return {};
  RunSettings run;
  run.kind = "run";
  std::error_code failed;
  run.folder = std::filesystem::current_path(failed).string();
  add_host(run);
  add_program(run, own_command_line(), "/proc/self/exe");
  run.settings.emplace_back("ranks", std::to_string(record.ranks));
  std::string hosts;
  for (const auto& [node, host] : record.hosts) hosts += (hosts.empty() ? "" : ",") + host;
  run.settings.emplace_back("hosts", hosts);
  std::string places;
  for (std::uint32_t rank = 0; rank < record.ranks; ++rank)
    places += std::to_string(wire_.node_of(RankId(rank))) + "\n";
  run.settings.emplace_back("map.fingerprint", fingerprint(places));
  add_job_lines(run, to_text(seat_.settings()));
  return write_file(folder_ + "/" + settings_file_name, to_json(run));
}

void RunRecorder::write(const RunRecord& record) const {
  if (Status wrote = write_settings(record); !wrote) warn(wrote.error().text());
  if (Status wrote = write_record(folder_, record); !wrote) {
    warn("no record of the run: " + wrote.error().text());
  }
}

}  // namespace weft
