// SPDX-License-Identifier: Apache-2.0
#include "run_settings.hpp"

#include <algorithm>
#include <vector>

#include "home.hpp"
#include <fmt/format.h>

#include <weft/base/file.hpp>
#include <weft/base/quantity.hpp>
#include <weft/program/run_record/run_settings.hpp>
#include <weft/real/launch/environment.hpp>

namespace weft::app {
namespace {

void add_ranks(const launch::LaunchJob& job, const std::string& map, RunSettings& run) {
  std::string hosts;
  std::vector<std::string> host_of;
  for (const launch::HostRanks& host : job.hosts) {
    hosts += fmt::format("{}{}:{}", hosts.empty() ? "" : ",", host.name, host.ranks.size());
    for (const std::uint32_t rank : host.ranks) {
      host_of.resize(std::max<std::size_t>(host_of.size(), rank + 1));
      host_of[rank] = host.name;
    }
  }
  std::string places;
  for (const std::string& host : host_of) places += host + "\n";
  auto& settings = run.settings;
  settings.emplace_back("ranks", std::to_string(host_of.size()));
  settings.emplace_back("hosts", hosts);
  settings.emplace_back("map", map.empty() ? "in blocks" : map);
  settings.emplace_back("map.fingerprint", fingerprint(places));
  settings.emplace_back("bind", job.bind.empty() ? "as suits the machine" : job.bind);
}

void add_variables(const std::vector<std::string>& variables, RunSettings::Pairs& to) {
  for (const std::string& variable : variables) {
    const std::size_t equals = variable.find('=');
    to.emplace_back("environment." + variable.substr(0, equals), variable.substr(equals + 1));
  }
}

// The program is looked for as the ranks of this host look for it.
std::string path_of(const std::string& program) {
  return program.find('/') == std::string::npos ? find_in_path(program) : program;
}

}  // namespace

Status write_run_settings(const launch::LaunchJob& job, const std::string& map) {
  RunSettings run;
  run.kind = "run";
  run.command = own_command_line();
  run.folder = job.folder;
  add_host(run);
  add_program(run, job.words, path_of(job.words.front()));
  add_ranks(job, map, run);
  add_job_lines(run, to_text(job.settings));
  add_variables(job.environment, run.settings);
  // Those that count are among the settings already.
  add_variables(launch::variables_beginning("WEFT_"), run.circumstances);
  run.circumstances.emplace_back("grace", to_text(job.grace));
  run.circumstances.emplace_back("timeout",
                                 job.timeout == Duration::zero() ? "none" : to_text(job.timeout));
  return write_file(job.settings.record + "/" + settings_file_name, to_json(run));
}

}  // namespace weft::app
