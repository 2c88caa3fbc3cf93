// SPDX-License-Identifier: Apache-2.0
// weft run: starts a program's ranks as processes on this machine and others. This file reads the
// options; weft/real/launch does the work.
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "command.hpp"
#include "home.hpp"
#include "output.hpp"
#include "piped_file.hpp"
#include "run_agent.hpp"
#include "run_hosts.hpp"
#include "run_places.hpp"
#include "run_record.hpp"
#include "run_settings.hpp"
#include "shared_options.hpp"
#include "unknown_option.hpp"
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <weft/base/file.hpp>
#include <weft/base/quantity.hpp>
#include <weft/base/shell_word.hpp>
#include <weft/base/text.hpp>
#include <weft/message/coll/choose.hpp>
#include <weft/message/conn/request.hpp>
#include <weft/program/run_record/output_log.hpp>
#include <weft/real/launch/agent_protocol.hpp>
#include <weft/real/launch/environment.hpp>
#include <weft/real/launch/launcher.hpp>

namespace weft::app {
namespace {

struct RunOptions {
  RunPlacing placing;
  RemoteOptions remote;
  std::string bind, hwloc, grace, timeout, lost_after, record, merge_events, connections, protect;
  std::vector<std::string> collectives, sets, messages, variables;
  bool label = false, events = false, record_output = false, quiet = false, verbose = false,
       agent = false;
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

// Reads the file of groups here, because other hosts may not have it.
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

// The message layer is the only part of a machine's description that real hosts do not bring along.
Result<std::vector<std::string>> read_message_keys(const RunOptions& options) {
  if (options.sets.empty()) return options.messages;
  std::vector<std::string> keys;
  for (const std::string& text : options.sets) {
    constexpr std::string_view table = "messages.";
    if (!text.starts_with(table))
      return Error::call(
          "--set: '" + text +
          "' is not a key of [messages]; for real hosts only these can be set, as in "
          "messages.eager_limit=32KiB");
    keys.push_back(text.substr(table.size()));
  }
  return keys;
}

// Options take precedence over the variables WEFT_*.
Result<launch::Settings> complete_settings(const RunOptions& options) {
  auto settings = launch::settings_from_environment();
  if (!settings) return settings;
  for (const std::string& text : options.remote.rails) {
    if (&text == &options.remote.rails.front()) settings->rails.clear();
    for (const std::string_view rail : split(text, ',')) {
      if (trim(rail).empty()) return Error::call("--rails: '" + text + "' has an empty name");
      settings->rails.emplace_back(trim(rail));
    }
  }
  if (options.no_shared_memory) settings->shared_memory = false;
  if (options.no_single_copy) settings->single_copy = false;
  if (!options.protect.empty()) {
    const auto protect = launch::parse_protect(options.protect);
    if (!protect) return Error::call("--protect: " + protect.error().message());
    settings->protect = *protect;
  }
  if (options.events) settings->events = true;
  if (!options.collectives.empty()) settings->collectives = options.collectives;
  auto messages = read_message_keys(options);
  if (!messages) return std::move(messages).error();
  if (!messages->empty()) settings->messages = *std::move(messages);
  if (!options.connections.empty()) settings->connections = options.connections;
  if (Status s = read_connections(*settings); !s) return std::move(s).error();
  coll::Choices choices;
  for (const std::string& text : settings->collectives)
    if (Status s = choices.force(text); !s) return Error::call("--coll: " + s.error().message());
  if (Status s = read_duration("--lost-after", options.lost_after, settings->lost_after); !s)
    return std::move(s).error();
  if (!options.record.empty()) settings->record = options.record;
  if (!settings->record.empty()) {
    settings->record = std::filesystem::absolute(settings->record).lexically_normal().string();
  }
  if (settings->record.empty() && (settings->events || options.record_output))
    return Error::call(fmt::format("{} writes files: say where with --record DIR",
                                   settings->events ? "--events" : "--record-output"));
  return settings;
}

// Each is "NAME=VALUE", or "NAME" for the value that the variable has here.
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
    if (!value)
      return Error::call("-x: the variable " + text + " is not set here; give -x NAME=VALUE");
    out.push_back(text + "=" + *value);
  }
  return out;
}

// The variables that programs on other hosts most likely need.
std::vector<std::string> remote_variables() {
  std::vector<std::string> all;
  for (const char* const prefix : {"PATH=", "LD_LIBRARY_PATH=", "OMP_", "WEFT_"})
    for (std::string& entry : launch::variables_beginning(prefix)) all.push_back(std::move(entry));
  return all;
}

// Ranks of a program that uses another MPI library would not find each other.
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
    tell(
        "weft run: warning: {} is linked with another MPI library ({}*); compile it with "
        "'weft cc'\n",
        program, library);
  }
}

// Printed on standard error, because standard output belongs to the program.
void print_placement(const launch::LaunchJob& job) {
  for (const launch::HostRanks& host : job.hosts) {
    std::string ranks;
    for (const std::uint32_t rank : host.ranks) ranks += " " + std::to_string(rank);
    tell("weft run: host {} has rank{}{}\n", host.name, host.ranks.size() > 1 ? "s" : "", ranks);
    const auto cores = static_cast<std::size_t>(std::max(1L, ::sysconf(_SC_NPROCESSORS_ONLN)));
    if (host.local && host.ranks.size() > cores)
      tell("weft run: host {} has {} processors for {} ranks\n", host.name, cores,
           host.ranks.size());
  }
}

Status check_words(const RunOptions& options, const CLI::App& parser) {
  const std::vector<std::string> words = parser.remaining();
  if (words.empty() && !options.show_topology)
    return Error::call("which program? weft run [options] PROGRAM [arguments]");
  if (!words.empty() && words.front().starts_with('-')) {
    return Error::call(unknown_option(
        parser, words.front(), "; options of weft stand before the program, see weft run --help"));
  }
  if (!options.hwloc.empty() && (!options.show_topology || !words.empty()))
    return Error::call("--hwloc describes another machine: use it with --show-topology alone");
  return {};
}

Result<launch::LaunchJob> make_job(const RunOptions& options) {
  launch::LaunchJob job;
  auto places = place_ranks(options.placing);
  if (!places) return std::move(places).error();
  job.hosts = std::move(places->used);
  job.spare_hosts = std::move(places->spare);
  job.universe = places->slots;
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
  job.machine = options.hwloc;
  job.explain = options.show_topology;
  job.places = decide_places;
  job.label = options.label;
  std::error_code failed;
  job.folder = std::filesystem::current_path(failed).string();
  auto remote_shell = split_shell_words(options.remote.rsh);
  if (!remote_shell) return Error::call("--rsh: " + remote_shell.error().message());
  job.remote_shell = *std::move(remote_shell);
  if (job.remote_shell.empty()) job.remote_shell = usual_remote_shell(options.placing);
  put_own_library_first();
  job.remote_agent = {find_home().lib + "/weft-agent"};
  if (!options.remote.remote_weft.empty())
    job.remote_agent = {options.remote.remote_weft, "run", "--agent"};
  for (Status s : {read_duration("--grace", options.grace, job.grace),
                   read_duration("--grace", options.grace, job.stop_grace),
                   read_duration("--timeout", options.timeout, job.timeout)})
    if (!s) return std::move(s).error();
  return job;
}

RecordOptions record_options(const RunOptions& options, const launch::LaunchJob& job) {
  RecordOptions record;
  if (job.words.empty()) return record;
  record.folder = job.settings.record;
  record.events = job.settings.events;
  record.quiet = options.quiet;
  record.program = job.words.front();
  for (const launch::HostRanks& host : job.hosts) {
    record.ranks += static_cast<std::uint32_t>(host.ranks.size());
  }
  return record;
}

// Runs the job; what it prints also goes to the record, if that was asked for.
Result<int> launch_recorded(const RunOptions& options, launch::LaunchJob& job) {
  if (!options.record_output || job.words.empty()) return launch::launch_job(job);
  auto log = OutputLog::create(job.settings.record);
  if (!log) return std::move(log).error();
  using Clock = std::chrono::steady_clock;
  job.printed = [&log, begun = Clock::now()](std::uint32_t rank, int stream,
                                             std::string_view text) {
    const std::chrono::nanoseconds at = Clock::now() - begun;
    (*log)->add(at.count() * 1000, rank, stream, text);
    (*log)->flush();
  };
  auto code = launch::launch_job(job);
  if (Status s = (*log)->finish(); !s && !options.quiet)
    tell("weft run: warning: {}\n", s.error().text());
  return code;
}

Status run(const RunOptions& options, const CLI::App& parser) {
  const std::vector<std::string> words = parser.remaining();
  if (options.agent) std::exit(serve_agent());
  open_standard_descriptors();
  if (!options.merge_events.empty()) {
    return merge_events(options.merge_events, {.all = false, .quiet = options.quiet});
  }
  if (asks_for_list(options.collectives)) return print(coll::list_algorithms());
  if (Status s = check_words(options, parser); !s) return s;
  auto job = make_job(options);
  if (!job) return std::move(job).error();
  job->words = words;
  const RecordOptions record = record_options(options, *job);
  if (Status s = prepare_record(record); !s) return s;
  if (!record.folder.empty())
    if (Status s = write_run_settings(*job, options.placing.map); !s) return s;
  if (options.verbose) print_placement(*job);
  if (!options.quiet && !words.empty()) warn_of_other_library(words.front());
  const auto code = launch_recorded(options, *job);
  if (!code) return Error(code.error());
  conclude_record(record, *code);
  if (*code != 0) std::exit(*code);
  return {};
}

void add_rank_options(CLI::App& parser, RunOptions& options) {
  begin_group(parser, "Ranks");
  add_ranks_option(parser, options.placing.ranks, "one for every slot, or 1")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{launch::ranks_max}));
  reads_file(
      parser.add_option(
          "--map", options.placing.map,
          "Map file: a line 'RANK HOST' for each rank, as weft map writes it; random[:SEED]: the "
          "blocks' places in random order (default: blocks of ranks on each host)"))
      ->type_name("FILE|random");
  parser
      .add_option("--bind", options.bind,
                  "Binding of ranks: none, core, numa or near-card (default: as suits the machine)")
      ->type_name("NAME");
  parser
      .add_option("-x", options.variables,
                  "Environment variable to pass to the ranks: NAME or NAME=VALUE; can be repeated")
      ->type_name("NAME[=VALUE]")
      ->allow_extra_args(false);
  parser
      .add_option("--timeout", options.timeout,
                  "Time limit of the job, which then ends with code 124 (default: none)")
      ->type_name("TIME");
  parser
      .add_option(
          "--grace", options.grace,
          "Time for ranks to end by themselves after another has failed and they do not recover, "
          "after a signal or at the time limit (default: 5 s, and 1 s for the latter two)")
      ->type_name("TIME");
}

void add_host_options(CLI::App& parser, RunOptions& options) {
  begin_group(parser, "Hosts");
  reads_file(parser.add_option(
                 "--hosts", options.placing.hosts,
                 "Hosts to run on: a,b,c, a:4,b:4 with slots, or a file with a line 'NAME "
                 "[slots=N]' for each (default: the hosts of a Slurm job, else this machine)"))
      ->type_name("HOSTS|FILE");
  add_remote_options(parser, options.remote);
  parser.add_flag("--show-topology", options.show_topology,
                  "Print rails, memory and cores of each host and the binding that follows");
  auto* const hwloc =
      reads_file(
          parser.add_option("--hwloc", options.hwloc,
                            "hwloc XML file to use instead of this machine, for --show-topology"))
          ->type_name("FILE");
  keep_former_name(parser.add_option("--machine", options.hwloc), hwloc);
}

void add_message_options(CLI::App& parser, RunOptions& options) {
  begin_group(parser, "Messages");
  parser.add_flag("--no-shared-memory", options.no_shared_memory,
                  "Use the network between ranks of one host, too");
  parser.add_flag("--no-single-copy", options.no_single_copy,
                  "Never copy directly from the memory of another process");
  parser
      .add_option("--protect", options.protect,
                  "Encrypt and authenticate connections: on (those between hosts), off (for closed "
                  "networks) or all (default: on)")
      ->type_name("NAME");
  add_collective_option(parser, options.collectives);
  auto* const set =
      parser
          .add_option("--set", options.sets,
                      "Set a key of the message layer: messages.eager_limit=32KiB; can be repeated")
          ->type_name("TABLE.KEY=VALUE")
          ->allow_extra_args(false);
  keep_former_name(parser.add_option("--message", options.messages)->allow_extra_args(false), set);
  parser
      .add_option(
          "--connections", options.connections,
          "Connections between ranks: full, on-demand or managed, the last with ,shortcuts=N "
          "or ,max=N ,replace=lru|random ,groups=FILE, as weft probe --groups writes it (default: "
          "on-demand, or managed if a process may not open enough descriptors)")
      ->type_name("MODE")
      ->transform([](const std::string& mode) { return keep_pipe_in("groups", mode); });
  parser
      .add_option("--lost-after", options.lost_after,
                  "Time of silence after which a rank counts as lost (default: 8 s)")
      ->type_name("TIME");
}

void add_output_options(CLI::App& parser, RunOptions& options) {
  begin_group(parser, "Output");
  auto* const record =
      parser
          .add_option("--record", options.record,
                      "Folder for a record of the run, for weft report and weft map")
          ->type_name("DIR");
  keep_former_name(parser.add_option("--profile", options.record), record);
  parser.add_flag("--events", options.events,
                  "Also record each call and message, as an OTF2 archive");
  add_record_output_flag(parser, options.record_output);
  parser
      .add_option("--merge-events", options.merge_events,
                  "Make the OTF2 archive of this record and do nothing else, after a run under "
                  "another launcher")
      ->type_name("DIR");
  add_label_flag(parser, options.label);
  add_quiet_flag(parser, options.quiet, "warnings");
  add_verbose_flag(parser, options.verbose, "which rank runs where");
  parser.add_flag("--agent", options.agent)->group("");
}

}  // namespace

Command run_command() {
  return {"run", "Run an MPI program on this machine and others", [](CLI::App& parser) {
            auto options = std::make_shared<RunOptions>();
            pass_on_rest(parser, "PROGRAM");
            add_rank_options(parser, *options);
            add_host_options(parser, *options);
            add_message_options(parser, *options);
            add_output_options(parser, *options);
            parser.footer(
                "Any program can be run; its ranks find each other if it was linked by 'weft cc', "
                "'weft c++'\nor 'weft fc'. The exit code is the greatest of the ranks' codes.\n"
                "Examples:\n"
                "  weft run -n 4 ./program\n"
                "  weft run --hosts a:4,b:4 --record run ./program\n"
                "  weft run --hosts hosts.txt --map best.map --rails eth0,eth1 ./program");
            return std::function<Status()>([options, &parser] { return run(*options, parser); });
          }};
}

}  // namespace weft::app
