// SPDX-License-Identifier: Apache-2.0
// Merges the event logs of all ranks into one archive, on the clock of rank 0's host.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <system_error>
#include <unordered_map>
#include <vector>

#include "run_record.hpp"
#include <fmt/format.h>

#include <weft/base/text.hpp>
#include <weft/output/record/timeline.hpp>
#include <weft/program/run_record/event_log.hpp>
#include <weft/workload/traces/otf2_write.hpp>

namespace weft::app {
namespace {

namespace fs = std::filesystem;

constexpr const char* archive_name = "trace";

// The offset of a node's clock, measured at the start and at the end of the run and interpolated
// linearly in between.
class NodeClock {
 public:
  void add(std::int64_t at_ns, std::int64_t ahead_ns) {
    (count_++ == 0 ? first_ : last_) = {at_ns, ahead_ns};
  }
  std::int64_t correct(std::int64_t at_ns) const {
    if (count_ == 0) return at_ns;
    const auto span = static_cast<double>(last_.at - first_.at);
    if (count_ < 2 || span <= 0) return at_ns - first_.ahead;
    const double share = static_cast<double>(at_ns - first_.at) / span;
    const auto drift = static_cast<double>(last_.ahead - first_.ahead);
    return at_ns - first_.ahead - static_cast<std::int64_t>(share * drift);
  }

 private:
  struct Sample {
    std::int64_t at = 0, ahead = 0;
  };
  Sample first_, last_;
  int count_ = 0;
};

struct Logs {
  std::uint32_t ranks = 0;
  std::vector<std::string> hosts;                    // By rank.
  std::vector<std::optional<EventLogStart>> starts;  // Nothing if the log is missing.
  std::map<std::uint32_t, NodeClock> clocks;         // By node.
  std::int64_t origin_ns = 0;                        // The earliest start.

  std::vector<std::uint32_t> missing() const {
    std::vector<std::uint32_t> list;
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      if (!starts[rank]) list.push_back(rank);
    }
    return list;
  }
};

std::string list_text(const std::vector<std::uint32_t>& ranks) {
  std::string text;
  for (std::size_t i = 0; i < ranks.size() && i < 8; ++i) {
    text += (i > 0 ? ", " : "") + std::to_string(ranks[i]);
  }
  return ranks.size() > 8 ? fmt::format("{} and {} more", text, ranks.size() - 8) : text;
}

void warn(const std::string& text) {
  std::fputs(("weft run: warning: " + text + "\n").c_str(), stderr);
}

std::vector<std::string> find_logs(const std::string& folder) {
  std::vector<std::string> paths;
  std::error_code failed;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, failed)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("events.") && name.ends_with(".bin")) {
      paths.push_back(entry.path().string());
    }
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

Status read_clocks(const std::string& path, Logs& logs) {
  auto log = EventLogReader::open(path);
  if (!log) return std::move(log).error();
  for (LoggedEvent event;;) {
    const auto more = log->next(event);
    if (!more) return Error(more.error());
    if (!*more) return {};
    if (event.kind == EventKind::clock) logs.clocks[event.node].add(event.at_ns, event.ahead_ns);
  }
}

Result<Logs> survey(const std::string& folder) {
  Logs logs;
  for (const std::string& path : find_logs(folder)) {
    auto log = EventLogReader::open(path);
    if (!log) return std::move(log).error();
    const EventLogStart& start = log->start();
    if (logs.ranks == 0) {
      logs.ranks = start.ranks;
      logs.starts.resize(start.ranks);
      logs.hosts.resize(start.ranks, "unknown");
    }
    const fs::path expected = event_log_path(folder, start.rank);
    if (start.ranks != logs.ranks || fs::path(path).filename() != expected.filename()) {
      return Error::input("this is the log of another run; remove it").at(path, 0);
    }
    logs.hosts[start.rank] = start.host;
    logs.starts[start.rank] = start;
  }
  if (logs.ranks == 0) return Error::input(folder + " has no logs of events (events.0.bin)");
  if (logs.starts[0]) {
    if (Status read = read_clocks(event_log_path(folder, 0), logs); !read) {
      return std::move(read).error();
    }
  }
  std::optional<std::int64_t> origin;
  for (const auto& start : logs.starts) {
    if (!start) continue;
    const std::int64_t begin = logs.clocks[start->node].correct(start->start_ns);
    origin = std::min(origin.value_or(begin), begin);
  }
  logs.origin_ns = *origin;
  return logs;
}

// Writes the events of one rank into the archive.
class Transcript {
 public:
  Transcript(const Logs& logs, EventLogReader& log, Otf2Writer& out)
      : log_(log), out_(out), origin_ns_(logs.origin_ns) {
    const auto clock = logs.clocks.find(log.start().node);
    if (clock != logs.clocks.end()) clock_ = clock->second;
  }

  Status write();

 private:
  std::uint64_t moment(std::int64_t at_ns) const {
    const std::int64_t at = clock_.correct(log_.start().start_ns + at_ns) - origin_ns_;
    return static_cast<std::uint64_t>(std::max<std::int64_t>(at, 0));
  }
  static TracedMessage traced(const LoggedMessage& m) {
    return {m.peer, m.context, m.tag, m.bytes};
  }
  void write(const LoggedEvent& event);

  EventLogReader& log_;
  Otf2Writer& out_;
  NodeClock clock_;
  std::int64_t origin_ns_;
  std::int64_t last_ns_ = 0;
  std::vector<std::uint32_t> open_;  // Calls that have not returned.
  std::unordered_map<std::uint64_t, LoggedMessage> pending_;
};

void Transcript::write(const LoggedEvent& event) {
  const std::uint64_t at = moment(event.at_ns);
  switch (event.kind) {
    case EventKind::enter:
      open_.push_back(event.name);
      out_.enter(at, log_.names()[event.name]);
      break;
    case EventKind::leave:
      if (open_.empty()) break;
      out_.leave(at, log_.names()[open_.back()]);
      open_.pop_back();
      break;
    case EventKind::send:
      out_.send(at, traced(event.message));
      break;
    case EventKind::receive:
      out_.receive(at, traced(event.message));
      break;
    case EventKind::receive_begin:
      pending_[event.number] = event.message;
      out_.receive_begin(at, event.number);
      break;
    case EventKind::receive_end:
      if (const auto found = pending_.find(event.number); found != pending_.end()) {
        out_.receive_end(at, traced(found->second), event.number);
        pending_.erase(found);
      }
      break;
    case EventKind::start:
    case EventKind::name:
    case EventKind::clock:
    case EventKind::end:
      return;
  }
  last_ns_ = event.at_ns;
}

Status Transcript::write() {
  if (Status begun = out_.begin_rank(log_.start().rank); !begun) return begun;
  for (LoggedEvent event;;) {
    const auto more = log_.next(event);
    if (!more) return Error(more.error());
    if (!*more) break;
    write(event);
  }
  // Close the calls in which a rank was ended.
  for (; !open_.empty(); open_.pop_back()) {
    out_.leave(moment(last_ns_), log_.names()[open_.back()]);
  }
  return {};
}

// A communicator has four contexts, numbered as in weft/message/mpi/comm.hpp.
std::string name_of_context(std::uint32_t context) {
  const std::uint32_t number = context / 4;
  const std::string comm = number == 0   ? "MPI_COMM_WORLD"
                           : number == 1 ? "MPI_COMM_SELF"
                                         : fmt::format("communicator {}", number);
  constexpr const char* kinds[] = {"", " (collective)", " (collective, local)", " (creation)"};
  return comm + kinds[context % 4];
}

// `cut` receives the ranks whose logs have no end.
Status write_archive(const std::string& folder, const Logs& logs, const std::string& into,
                     std::vector<std::uint32_t>& cut) {
  auto out = Otf2Writer::create(into, archive_name);
  if (!out) return std::move(out).error();
  for (std::uint32_t rank = 0; rank < logs.ranks; ++rank) {
    if (!logs.starts[rank]) continue;
    auto log = EventLogReader::open(event_log_path(folder, rank));
    if (!log) return std::move(log).error();
    if (Status s = Transcript(logs, *log, **out).write(); !s) return s;
    if (!log->whole()) cut.push_back(rank);
  }
  Otf2Writer::Names names{logs.hosts, {}};
  for (const std::uint32_t context : (*out)->comms()) {
    names.comms.push_back(name_of_context(context));
  }
  return (*out)->finish(names);
}

// An archive is two files and a folder. All of the old one go before the new one is moved here.
Status put_in_place(const std::string& from, const std::string& folder) {
  std::error_code failed;
  for (const char* const ending : {"", ".def", ".otf2"}) {
    const std::string name = std::string(archive_name) + ending;
    fs::remove_all(fs::path(folder) / name, failed);
    if (!failed) fs::rename(fs::path(from) / name, fs::path(folder) / name, failed);
    if (failed) return Error::run(fmt::format("{}/{}: {}", folder, name, failed.message()));
  }
  return {};
}

}  // namespace

Status merge_events(const std::string& folder, const MergeOptions& options) {
  auto logs = survey(folder);
  if (!logs) return std::move(logs).error();
  const std::vector<std::uint32_t> missing = logs->missing();
  if (!missing.empty()) {
    const std::string text = fmt::format("{} has no log of rank {}", folder, list_text(missing));
    if (options.all) {
      return Error::input(text +
                          "; if they ran on other hosts, copy events.*.bin from there; then: weft "
                          "run --merge-events " +
                          folder);
    }
    if (!options.quiet) warn(text);
  }
  const std::string made = folder + "/.trace";
  std::error_code failed;
  fs::remove_all(made, failed);
  std::vector<std::uint32_t> cut;
  Status done = write_archive(folder, *logs, made, cut);
  if (done) done = put_in_place(made, folder);
  fs::remove_all(made, failed);
  if (!done) {
    return Error(done.error().broken(),
                 done.error().text() + "; the logs are kept: weft run --merge-events " + folder);
  }
  if (!cut.empty() && !options.quiet)
    warn("events of rank " + list_text(cut) + " end before the run");
  for (const std::string& path : find_logs(folder)) fs::remove(path, failed);
  // After a run under another launcher the timeline is still raw.
  return fs::exists(folder + "/timeline.raw", failed) ? convert_timeline(folder) : Status();
}

}  // namespace weft::app
