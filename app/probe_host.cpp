// SPDX-License-Identifier: Apache-2.0
#include "probe_host.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

namespace weft::app {
namespace {

constexpr double main_s = 8, crowded_s = 1.5;
constexpr int ranks_max = 128;  // More copy no faster together, and take long to start.

// The processors on which this process may run.
std::vector<int> own_processors() {
  std::vector<int> list;
  cpu_set_t set;
  CPU_ZERO(&set);
  if (::sched_getaffinity(0, sizeof set, &set) != 0) return list;
  for (int i = 0; i < CPU_SETSIZE; ++i)
    if (CPU_ISSET(static_cast<unsigned>(i), &set)) list.push_back(i);
  return list;
}

std::string own_name() {
  std::array<char, 256> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0 || name[0] == '\0') return "here";
  std::string text(name.data());
  // As a graph file has names.
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c == ' ' || c == '#'; }, '-');
  return text;
}

struct Part {
  int ranks = 2, only_on = -1;
  double seconds = main_s, first_share = 0, last_share = 1;
  bool crowded = false;
};

Result<probe::LocalMeasures> measure(const HostProbe& request, const Part& part) {
  ProbeProgram program;
  program.words = {"run", "--quiet", "-n", std::to_string(part.ranks)};
  if (!request.host.empty())
    program.words.insert(program.words.end(),
                         {"--hosts", fmt::format("{}:{}", request.host, part.ranks)});
  program.words.insert(program.words.end(), request.options.begin(), request.options.end());
  program.settings = {fmt::format("local={}", part.seconds)};
  if (part.crowded) program.settings.emplace_back("crowded");
  program.only_on = part.only_on;
  if (request.progress)
    program.progress = [&](double share, const std::string& what) {
      request.progress(part.first_share + share * (part.last_share - part.first_share), what);
    };
  const auto output = run_probe_program(program);
  if (!output)
    return Error(output.error().broken(),
                 "this machine was not measured, nothing is written: " + output.error().message());
  if (output->interrupted) return Error::run("interrupted; nothing is written");
  return probe::measures_from_json(output->text, "the probe program's answer");
}

Result<HostFound> finish(HostFound found, const probe::LocalMeasures* crowded, int cores) {
  auto node = probe::fit_local(found.measures, crowded, cores);
  if (!node)
    return Error(node.error().broken(), node.error().message() +
                                            "; nothing is written. Try again when the machine is "
                                            "less busy");
  found.node = *std::move(node);
  return found;
}

}  // namespace

// Ranks that share a core are measured apart, on one core of this machine; on other hosts there is
// no way to have that, so that more ranks than cores are not predicted for these.
Result<HostFound> probe_host(const HostProbe& request) {
  const std::vector<int> processors = own_processors();
  const bool here = request.host.empty();
  const int own = std::max(static_cast<int>(processors.size()), 1);
  Part part;
  part.ranks = here ? std::clamp(own, 2, ranks_max) : 2;
  part.crowded = here && own < 2;
  if (here && !part.crowded) part.last_share = main_s / (main_s + crowded_s);
  HostFound found;
  found.host = here ? own_name() : request.host;
  auto measures = measure(request, part);
  if (!measures) return std::move(measures).error();
  found.measures = *std::move(measures);
  if (part.crowded) return finish(std::move(found), nullptr, own);
  if (!here) {
    const probe::LocalMeasures same = found.measures;  // As if a switch cost nothing.
    return finish(std::move(found), &same, same.cores);
  }
  const Part shared{.ranks = 2,
                    .only_on = processors[0],
                    .seconds = crowded_s,
                    .first_share = part.last_share,
                    .last_share = 1,
                    .crowded = true};
  const auto crowded = measure(request, shared);
  if (!crowded) return Error(crowded.error());
  return finish(std::move(found), &*crowded, own);
}

}  // namespace weft::app
