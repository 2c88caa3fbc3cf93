// SPDX-License-Identifier: Apache-2.0
// weft run: a program's ranks as processes on this machine and others. Options in; the work is done
// by weft/launch.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "command.hpp"
#include "home.hpp"
#include "run_agent.hpp"
#include "run_hosts.hpp"
#include "run_places.hpp"
#include "run_record.hpp"
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <weft/base/file.hpp>
#include <weft/base/quantity.hpp>
#include <weft/base/text.hpp>
#include <weft/message/coll/choose.hpp>
#include <weft/message/conn/request.hpp>
#include <weft/real/launch/agent_protocol.hpp>
#include <weft/real/launch/environment.hpp>
#include <weft/real/launch/launcher.hpp>

namespace weft::app {
namespace {

struct RunOptions {
  RunPlacing placing;
  std::string rsh, remote_weft, bind, machine, grace, timeout, lost_after, profile, merge_events,
      connections;
  std::vector<std::string> rails, collectives, messages, variables;
  bool label = false, events = false, quiet = false, verbose = false, agent = false;
  bool no_shared_memory = false, no_single_copy = false, show_topology = false;
};

Status read_duration(const char* name, const std::string& text, Duration& out) {
  if (text.empty()) return {};
  const auto duration = parse_duration(text);
  if (!duration) return Error::call(fmt::format("{}: {}", name, duration.error().message()));
  if (*duration < Duration::ms(1) || *duration > Duration::ms(30 * 86'400'000LL))
    return Error::call(fmt::format("{}: must lie in 1 ms to 720 h", name));
  out = *duration;
  return {};
}

// The file of groups is read here: other hosts need not have it.
Status read_connections(launch::Settings& settings) {
  if (settings.connections.empty()) return {};
  auto request = conn::parse_request(settings.connections);
  if (!request) return Error::call("--connections: " + request.error().message());
  if (request->groups_file.empty()) return {};
  auto text = read_file(request->groups_file);
  if (!text) return Error(text.error());
  settings.groups = *std::move(text);
  return {};
}

// Options go before variables WEFT_*.
Result<launch::Settings> complete_settings(const RunOptions& options) {
  auto settings = launch::settings_from_environment();
  if (!settings) return settings;
  for (const std::string& text : options.rails) {
    if (&text == &options.rails.front()) settings->rails.clear();
    for (const std::string_view rail : split(text, ',')) {
      if (trim(rail).empty()) return Error::call("--rails: one of '" + text + "' has no name");
      settings->rails.emplace_back(trim(rail));
    }
  }
  if (options.no_shared_memory) settings->shared_memory = false;
  if (options.no_single_copy) settings->single_copy = false;
  if (options.events) settings->events = true;
  if (!options.collectives.empty()) settings->collectives = options.collectives;
  if (!options.messages.empty()) settings->messages = options.messages;
  if (!options.connections.empty()) settings->connections = options.connections;
  if (Status s = read_connections(*settings); !s) return std::move(s).error();
  coll::Choices choices;
  for (const std::string& text : settings->collectives)
    if (Status s = choices.force(text); !s) return Error::call("--coll: " + s.error().message());
  if (Status s = read_duration("--lost-after", options.lost_after, settings->lost_after); !s)
    return std::move(s).error();
  if (!options.profile.empty()) settings->profile = options.profile;
  if (!settings->profile.empty()) {
    settings->profile = std::filesystem::absolute(settings->profile).lexically_normal().string();
  }
  if (settings->events && settings->profile.empty())
    return Error::call("--events writes files: say where with --record DIR");
  return settings;
}

// "NAME=VALUE", or "NAME" for the value it has here.
Result<std::vector<std::string>> read_variables(const std::vector<std::string>& wanted) {
  std::vector<std::string> out;
  for (const std::string& text : wanted) {
    const std::size_t equals = text.find('=');
    if (equals == 0 || text.empty()) return Error::call("-x: '" + text + "' has no name");
    if (equals != std::string::npos) {
      out.push_back(text);
      continue;
    }
    const auto value = launch::variable(text.c_str());
    if (!value) return Error::call("-x: there is no variable " + text + " here; -x NAME=VALUE");
    out.push_back(text + "=" + *value);
  }
  return out;
}

// What programs on other hosts most likely need of ours.
std::vector<std::string> remote_variables() {
  std::vector<std::string> all;
  for (const char* const prefix : {"PATH=", "LD_LIBRARY_PATH=", "OMP_", "WEFT_"})
    for (std::string& entry : launch::variables_beginning(prefix)) all.push_back(std::move(entry));
  return all;
}

// A program of another MPI library finds no other ranks here: each would be alone.
void warn_of_other_library(const std::string& program) {
  std::ifstream file(program, std::ios::binary);
  std::string head(std::size_t{1} << 20, '\0');
  file.read(head.data(), static_cast<std::streamsize>(head.size()));
  head.resize(static_cast<std::size_t>(file.gcount()));
  if (!head.starts_with("\x7f"
                        "ELF") ||
      head.find("libmpi_abi.so") != std::string::npos)
    return;
  for (const char* const library : {"libmpi.so.", "libmpich.so."}) {
    if (head.find(library) == std::string::npos) continue;
    fmt::print(stderr,
               "weft run: warning: {} is linked with another MPI library ({}*); compile it with "
               "'weft cc'\n",
               program, library);
  }
}

// On standard error, as remarks; what the program prints is its own.
void tell_places(const launch::LaunchJob& job) {
  for (const launch::HostRanks& host : job.hosts) {
    std::string ranks;
    for (const std::uint32_t rank : host.ranks) ranks += " " + std::to_string(rank);
    fmt::print(stderr, "weft run: host {} has rank{}{}\n", host.name,
               host.ranks.size() > 1 ? "s" : "", ranks);
    const auto cores = static_cast<std::size_t>(std::max(1L, ::sysconf(_SC_NPROCESSORS_ONLN)));
    if (host.local && host.ranks.size() > cores)
      fmt::print(stderr, "weft run: host {} has {} processors for {} ranks\n", host.name, cores,
                 host.ranks.size());
  }
}

Status check_words(const RunOptions& options, const std::vector<std::string>& words) {
  if (words.empty() && !options.show_topology)
    return Error::call("which program? weft run [options] PROGRAM [arguments]");
  if (!words.empty() && words.front().starts_with('-')) {
    return Error::call("unknown option '" + words.front() +
                       "'; options of weft stand before the program, see weft run --help");
  }
  if (!options.machine.empty() && (!options.show_topology || !words.empty()))
    return Error::call("--machine describes another machine: for --show-topology alone");
  return {};
}

Result<launch::LaunchJob> make_job(const RunOptions& options) {
  launch::LaunchJob job;
  auto hosts = place_ranks(options.placing);
  if (!hosts) return std::move(hosts).error();
  job.hosts = *std::move(hosts);
  auto settings = complete_settings(options);
  if (!settings) return std::move(settings).error();
  job.settings = *std::move(settings);
  auto variables = read_variables(options.variables);
  if (!variables) return std::move(variables).error();
  job.environment = *std::move(variables);
  job.remote_environment = remote_variables();
  if (!options.bind.empty())
    if (Status s = check_binding(options.bind); !s) return std::move(s).error();
  job.bind = options.bind;
  job.machine = options.machine;
  job.explain = options.show_topology;
  job.places = decide_places;
  job.label = options.label;
  std::error_code failed;
  job.folder = std::filesystem::current_path(failed).string();
  for (const std::string_view word : split(options.rsh, ' '))
    if (!word.empty()) job.remote_shell.emplace_back(word);
  if (job.remote_shell.empty()) job.remote_shell = usual_remote_shell(options.placing);
  job.remote_agent = {find_home().lib + "/weft-agent"};
  if (!options.remote_weft.empty()) job.remote_agent = {options.remote_weft, "run", "--agent"};
  for (Status s : {read_duration("--grace", options.grace, job.grace),
                   read_duration("--timeout", options.timeout, job.timeout)})
    if (!s) return std::move(s).error();
  return job;
}

RecordWish record_wish(const RunOptions& options, const launch::LaunchJob& job) {
  RecordWish wish;
  if (job.words.empty()) return wish;
  wish.folder = job.settings.profile;
  wish.events = job.settings.events;
  wish.quiet = options.quiet;
  wish.program = job.words.front();
  for (const launch::HostRanks& host : job.hosts) {
    wish.ranks += static_cast<std::uint32_t>(host.ranks.size());
  }
  return wish;
}

Status run(const RunOptions& options, const std::vector<std::string>& words) {
  if (options.agent) std::exit(serve_agent());
  open_standard_descriptors();
  if (!options.merge_events.empty()) {
    return merge_events(options.merge_events, {.all = false, .quiet = options.quiet});
  }
  if (Status s = check_words(options, words); !s) return s;
  auto job = make_job(options);
  if (!job) return std::move(job).error();
  job->words = words;
  const RecordWish record = record_wish(options, *job);
  if (Status s = prepare_record(record); !s) return s;
  if (options.verbose) tell_places(*job);
  if (!options.quiet && !words.empty()) warn_of_other_library(words.front());
  const auto code = launch::launch_job(*job);
  if (!code) return Error(code.error());
  conclude_record(record, *code);
  if (*code != 0) std::exit(*code);
  return {};
}

void add_options(CLI::App& parser, RunOptions& options) {
  parser
      .add_option("-n,--ranks", options.placing.ranks, "Ranks (default: one for every slot, or 1)")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{launch::ranks_max}));
  parser.add_option("--hosts", options.placing.hosts,
                    "Where: a,b,c or a:4,b:4 with slots, or a file with a line 'NAME [slots=N]' "
                    "for each host (default: the hosts of a Slurm job; else this machine)");
  parser.add_option("--map", options.placing.map,
                    "Which rank runs where: a line 'RANK HOST' for each, as weft map writes it");
  parser.add_option("--rsh", options.rsh,
                    "Starts a command on a host: RSH HOST COMMAND, or with %h for the host "
                    "(default: ssh -o BatchMode=yes; in a Slurm job srun)");
  parser.add_option("--remote-weft", options.remote_weft,
                    "weft on the other hosts (default: the path it has here)");
  parser.add_option("-x", options.variables, "Also this variable: NAME or NAME=VALUE")
      ->allow_extra_args(false);
  parser
      .add_option("--rails", options.rails,
                  "Network interfaces to use: names, addresses or subnets (default: those that "
                  "the hosts have in common)")
      ->allow_extra_args(false);
  parser.add_flag("--no-shared-memory", options.no_shared_memory,
                  "Ranks of one host use the network too");
  parser.add_flag("--no-single-copy", options.no_single_copy,
                  "Never copy from process to process directly");
  parser.add_option("--coll", options.collectives, "Force an algorithm: alltoall=bruck")
      ->allow_extra_args(false);
  parser.add_option("--message", options.messages, "A key of [messages]: eager_limit=32KiB")
      ->allow_extra_args(false);
  parser.add_option("--connections", options.connections,
                    "full, on-demand, or managed (with ,shortcuts=N or ,max=N ,replace=lru|random "
                    ",groups=FILE of 'HOST SWITCH'). Default: on demand, managed where descriptors "
                    "are too few");
  parser.add_option("--lost-after", options.lost_after,
                    "A rank that nobody has heard of for so long is lost (default: 8 s)");
  parser.add_option("--bind", options.bind,
                    "What ranks are bound to: none, core, numa, near-card (default: as the machine "
                    "suggests)");
  parser.add_flag("--show-topology", options.show_topology,
                  "Print rails, memory and cores and what follows from them");
  parser.add_option("--machine", options.machine,
                    "For --show-topology: an hwloc XML file instead of this machine");
}

void add_output_options(CLI::App& parser, RunOptions& options) {
  parser.add_option("--record,--profile", options.profile, "Folder for the record of the run");
  parser.add_flag("--events", options.events, "Also each call and message, for OTF2");
  parser.add_option("--merge-events", options.merge_events,
                    "Make the OTF2 archive of a record's logs; after a run under another launcher");
  parser.add_flag("--label", options.label, "Begin each line of a rank with [rank]");
  parser.add_option("--timeout", options.timeout, "End the job after this time, with code 124");
  parser.add_option("--grace", options.grace,
                    "When a rank fails, the others have so long to end by themselves "
                    "(default: 5 s)");
  parser.add_flag("-q,--quiet", options.quiet, "No warnings");
  parser.add_flag("-v,--verbose", options.verbose, "Also which rank runs where");
  parser.add_flag("--agent", options.agent)->group("");
}

}  // namespace

Command run_command() {
  return {"run", "Run an MPI program on this machine and others", [](CLI::App& parser) {
            auto options = std::make_shared<RunOptions>();
            take_rest(parser, "PROGRAM");
            add_options(parser, *options);
            add_output_options(parser, *options);
            parser.footer(
                "Any program may be run; ranks find each other if it was linked by 'weft cc', "
                "'weft c++' or 'weft fc'.\nThe exit code is that of the worst rank.");
            return std::function<Status()>(
                [options, &parser] { return run(*options, parser.remaining()); });
          }};
}

}  // namespace weft::app
