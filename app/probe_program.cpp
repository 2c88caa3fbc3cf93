// SPDX-License-Identifier: Apache-2.0
// weft-probe, the MPI program that weft probe starts on every host, real or simulated. Rank 0 reads
// the names of hosts, and perhaps an earlier finding, from standard input. It measures together
// with the other ranks, and prints lines "progress SHARE TEXT" and then the finding.
#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "output.hpp"
#include "probe_local.hpp"
#include "probe_meter.hpp"
#include <fmt/format.h>
#include <mpi.h>

#include <weft/base/text.hpp>
#include <weft/network/probe/files.hpp>
#include <weft/network/probe/find.hpp>
#include <weft/network/probe/paper.hpp>

namespace weft::app {
namespace {

std::atomic<bool> end_requested = false;

struct Request {
  ProbeSettings settings;
  probe::ProbeSettings search;
  bool ask = false, progress = false, by_paper = false;
  bool local = false;  // Of this host, instead of a network.
  LocalRequest local_request;
  std::optional<probe::Finding> earlier;
};

// Reads one setting. weft probe writes them; false for one that does not exist.
bool read_word(const std::string& word, Request& request) {
  const std::size_t equals = word.find('=');
  const std::string key = word.substr(0, equals);
  const std::string value = equals == std::string::npos ? "" : word.substr(equals + 1);
  const double number = std::strtod(value.c_str(), nullptr);
  if (key == "ask")
    request.ask = true;
  else if (key == "progress")
    request.progress = request.local_request.progress = true;
  else if (key == "local" && number > 0) {
    request.local = true;
    request.local_request.seconds = number;
  } else if (key == "crowded")
    request.local_request.crowded = true;
  else if (key == "method" && value == "paper")
    request.by_paper = true;
  else if (key == "messages")
    request.settings.messages_only = true;
  else if (key == "pings" && number >= 1)
    request.settings.pings = static_cast<int>(number);
  else if (key == "flow" && number > 0)
    request.settings.flow_s = number;
  else if (key == "time" && number > 0)
    request.search.seconds_max = number;
  else if (key == "noise" && number >= 0)
    request.settings.noise = number;
  else if (key == "seed")
    request.settings.seed = static_cast<std::uint64_t>(number);
  else if (key == "trials" && value == "never")
    request.search.trials = probe::Trials::never;
  else if (key == "trials" && value == "always")
    request.search.trials = probe::Trials::always;
  else
    return false;
  return true;
}

std::string read_all() {
  std::string text;
  char part[4096];
  for (std::size_t size = 0; (size = std::fread(part, 1, sizeof part, stdin)) > 0;)
    text.append(part, size);
  return text;
}

// The first line has the names in the order of ranks; the rest may be an earlier finding.
bool read_question(Request& request, int count) {
  const std::string text = read_all();
  const std::size_t end = std::min(text.find('\n'), text.size());
  for (const std::string_view name : split(std::string_view(text).substr(0, end), ' '))
    if (!name.empty()) request.search.hosts.emplace_back(name);
  if (request.search.hosts.size() != static_cast<std::size_t>(count)) {
    tell("weft probe: {} names for {} ranks\n", request.search.hosts.size(), count);
    return false;
  }
  if (trim(std::string_view(text).substr(end)).empty()) return true;
  auto earlier = probe::from_json(std::string_view(text).substr(end), "the earlier finding");
  if (!earlier) {
    tell("weft probe: {}\n", earlier.error().text());
    return false;
  }
  request.earlier = *std::move(earlier);
  request.search.earlier = &*request.earlier;
  return true;
}

// Without a question the hosts' own names are used. Two ranks of one host cannot measure anything.
bool gather_names(Request& request, int rank, int count) {
  char own[MPI_MAX_PROCESSOR_NAME] = {};
  int length = 0;
  MPI_Get_processor_name(own, &length);
  std::vector<char> all(rank == 0 ? static_cast<std::size_t>(count) * sizeof own : 0);
  MPI_Gather(own, sizeof own, MPI_CHAR, all.data(), sizeof own, MPI_CHAR, 0, MPI_COMM_WORLD);
  if (rank != 0 || request.ask) return true;
  std::set<std::string> seen;
  for (int i = 0; i < count; ++i) {
    request.search.hosts.emplace_back(all.data() + static_cast<std::size_t>(i) * sizeof own);
    if (seen.insert(request.search.hosts.back()).second) continue;
    tell("weft probe: two ranks are on host {}; start one on each\n", request.search.hosts.back());
    return false;
  }
  return true;
}

int run(int argc, char** argv) {
  int rank = 0, count = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &count);
  Request request;
  for (int i = 1; i < argc; ++i) {
    if (read_word(argv[i], request)) continue;
    if (rank == 0) tell("weft probe: '{}' is not a setting of this program\n", argv[i]);
    return 2;
  }
  // Ctrl-C reaches every rank: rank 0 ends in order, and the others serve it until then. Simulated
  // ranks share one process, which handles Ctrl-C itself.
  if (!request.settings.messages_only)
    std::signal(SIGINT, rank == 0 ? [](int) { end_requested = true; } : SIG_IGN);
  if (request.local) return measure_local(request.local_request, end_requested);
  if (!gather_names(request, rank, count)) MPI_Abort(MPI_COMM_WORLD, 3);
  if (rank == 0 && request.ask && !read_question(request, count)) MPI_Abort(MPI_COMM_WORLD, 3);
  ProbeRank self(request.settings);
  self.choose_echoes();
  if (rank != 0) {
    self.serve();
    return 0;
  }
  if (request.progress) {
    request.search.progress = [](double share, const std::string& what) {
      fmt::print("progress {:.3f} {}\n", share, what);
      std::fflush(stdout);
    };
  }
  ProbeMeter meter(self, end_requested);
  const probe::Finding found = request.by_paper ? probe::find_by_paper(meter, request.search)
                                                : probe::find_network(meter, request.search);
  meter.dismiss();
  fmt::print("{}", probe::to_json(found));
  std::fflush(stdout);
  return 0;
}

}  // namespace
}  // namespace weft::app

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int code = weft::app::run(argc, argv);
  MPI_Finalize();
  return code;
}
