// SPDX-License-Identifier: Apache-2.0
// weft probe: how hosts are wired, found by measuring. Options in, files out; the measuring is done
// by a program on the hosts, the inference by weft/probe inside it.
#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "command.hpp"
#include "machine_options.hpp"
#include "output.hpp"
#include "probe_job.hpp"
#include "run_hosts.hpp"
#include <fmt/format.h>

#include <weft/base/file.hpp>
#include <weft/base/progress.hpp>
#include <weft/base/quantity.hpp>
#include <weft/base/text.hpp>
#include <weft/network/probe/compare.hpp>
#include <weft/network/probe/files.hpp>
#include <weft/network/probe/known.hpp>
#include <weft/network/topo/export.hpp>
#include <weft/network/topo/graph_file.hpp>
#include <weft/real/launch/hosts.hpp>

namespace weft::app {
namespace {

struct ProbeOptions {
  std::string hosts, rsh, remote_weft, time, from, noise, flow_time, trials = "auto", way = "fast";
  MachineOptions machine;  // A simulated one.
  std::vector<std::string> rails, checks;
  std::string output, json, groups, dot;
  int pings = 8;
  std::int64_t seed = 1;
  bool quiet = false;
};

struct Ground {  // Where to measure.
  ProbeJob job;
  std::optional<MachineDescription> machine;  // When it is simulated.
};

Result<double> read_seconds(const char* name, const std::string& text) {
  const auto duration = parse_duration(text);
  if (!duration) return Error::call(fmt::format("{}: {}", name, duration.error().message()));
  if (*duration <= Duration::zero()) return Error::call(fmt::format("{}: must be above 0", name));
  return duration->in_seconds();
}

// "5%" or "0.05"
Result<double> read_share(const std::string& text) {
  const bool percent = text.ends_with('%');
  const auto number = parse_number(trim(text.substr(0, text.size() - (percent ? 1 : 0))));
  const double share = number ? *number / (percent ? 100 : 1) : -1;
  if (share < 0 || share > 1)
    return Error::call("--noise: '" + text + "' is no share from 0 % to 100 %, as 5%");
  return share;
}

Status add_settings(const ProbeOptions& options, std::vector<std::string>& settings) {
  settings.push_back(fmt::format("pings={}", options.pings));
  if (!options.time.empty()) {
    const auto seconds = read_seconds("--time", options.time);
    if (!seconds) return Error(seconds.error());
    settings.push_back(fmt::format("time={}", *seconds));
  }
  if (!options.noise.empty()) {
    const auto share = read_share(options.noise);
    if (!share) return Error(share.error());
    settings.push_back(fmt::format("noise={}", *share));
    settings.push_back(fmt::format("seed={}", options.seed));
  }
  const std::string flow = !options.flow_time.empty()          ? options.flow_time
                           : options.machine.words.net.empty() ? "25 ms"
                                                               : "50 us";
  const auto seconds = read_seconds("--flow-time", flow);
  if (!seconds) return Error(seconds.error());
  settings.push_back(fmt::format("flow={}", *seconds));
  if (options.trials != "auto") settings.push_back("trials=" + options.trials);
  if (options.way != "fast") settings.push_back("way=" + options.way);
  return {};
}

Status choose_simulated(const ProbeOptions& options, Ground& ground) {
  auto machine = read_machine(options.machine.words);
  if (!machine) return std::move(machine).error();
  const Topology& truth = *machine->topology;
  for (std::uint32_t n = 0; n < truth.graph.node_count(); ++n)
    ground.job.hosts.push_back(node_name(truth, NodeId(n)));
  ground.machine = *std::move(machine);
  ground.job.words = {"sim", "--payload", "full", "--quiet"};
  const std::vector<std::string> words = words_for_weft(options.machine);
  ground.job.words.insert(ground.job.words.end(), words.begin(), words.end());
  ground.job.settings.emplace_back("messages");
  return {};
}

Status choose_hosts(const ProbeOptions& options, Ground& ground) {
  if (!options.noise.empty()) return Error::call("--noise is for simulated networks: --net");
  const auto hosts = launch::read_hosts(options.hosts);
  if (!hosts) return Error(hosts.error());
  std::set<std::string> seen;
  std::string list;
  for (const launch::Host& host : *hosts) {
    if (!seen.insert(host.name).second) continue;  // One rank each, whatever its slots.
    ground.job.hosts.push_back(host.name);
    list += (list.empty() ? "" : ",") + host.name + ":1";
  }
  ground.job.words = {"run", "--quiet", "--hosts",
                      list,  "-n",      std::to_string(ground.job.hosts.size())};
  const auto add = [&](const char* name, const std::string& value) {
    if (value.empty()) return;
    ground.job.words.emplace_back(name);
    ground.job.words.push_back(value);
  };
  add("--rsh", options.rsh);
  add("--remote-weft", options.remote_weft);
  for (const std::string& rail : options.rails) add("--rails", rail);
  return {};
}

Status check_options(const ProbeOptions& options) {
  const MachineWords& words = options.machine.words;
  if (options.hosts.empty() == words.net.empty()) {
    return Error::call(
        "which network? --hosts a,b,c for real hosts, --net SPEC for a simulated one (one of "
        "them)");
  }
  if (!words.net.empty() && !(options.rsh + options.remote_weft).empty())
    return Error::call("--rsh and --remote-weft are for --hosts");
  if (words.net.empty() && !(words.sets.empty() && (words.profile + words.routing).empty()))
    return Error::call("--set, --profile and --routing are for --net");
  std::set<std::string> seen;
  for (Status s :
       {check_output("-o", options.output, seen), check_output("--json", options.json, seen),
        check_output("--groups", options.groups, seen), check_output("--dot", options.dot, seen)})
    if (!s) return s;
  return {};
}

// "net.toml" and beside it "net.graph".
Status write_network(const probe::Finding& finding, const std::string& path) {
  std::filesystem::path graph(path);
  graph.replace_extension(".graph");
  if (graph == path) return Error::call("-o: the description needs another name than *.graph");
  const auto text = probe::to_network(finding, graph.filename().string());
  if (Status s = write_file(graph.string(), text.graph); !s) return s;
  return write_file(path, text.description);
}

Status write_dot(const probe::Finding& finding, const std::string& path) {
  const auto topology = read_graph_text(probe::to_network(finding, "").graph, "found");
  if (!topology) return Error(topology.error());
  const auto text = export_topology(*topology, "dot");
  if (!text) return Error(text.error());
  return write_file(path, *text);
}

Status write_files(const ProbeOptions& options, const probe::Finding& finding) {
  if (!options.output.empty())
    if (Status s = write_network(finding, options.output); !s) return s;
  if (!options.json.empty())
    if (Status s = write_file(options.json, probe::to_json(finding)); !s) return s;
  if (!options.groups.empty())
    if (Status s = write_file(options.groups, probe::to_groups(finding)); !s) return s;
  if (!options.dot.empty()) return write_dot(finding, options.dot);
  return {};
}

// Whether what was found is what is known, line by line.
bool judge(const Ground& ground, const std::vector<probe::Known>& known,
           const probe::Finding& finding, std::string& text) {
  bool right = true;
  if (ground.machine) {
    const auto truth = probe::compare(finding, *ground.machine->topology);
    text += fmt::format("profile        {}\n", ground.machine->profile);
    right = truth.right();
    text += fmt::format("truth          {}\n", !right ? "not what was found:"
                                               : !truth.truth_is_tree
                                                   ? "groups are right; the network is no tree"
                                                   : "right: groups and tree");
    for (const std::string& line : truth.differences) text += "  " + line + "\n";
  }
  for (const probe::Known& one : known) {
    const auto check = probe::check_against(finding, one);
    text += fmt::format("check          {}: {} hosts compared, {}\n", one.source, check.compared,
                        check.differences.empty() ? "all agree" : "not all agree:");
    for (const std::string& line : check.differences) text += "  " + line + "\n";
    right = right && check.differences.empty();
  }
  return right;
}

double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

Status run_probe_command(const ProbeOptions& options) {
  auto instead = asked_instead(options.machine);
  if (!instead) return std::move(instead).error();
  if (*instead) return print(**instead);
  if (Status s = check_options(options); !s) return s;
  std::vector<probe::Known> known;
  for (const std::string& option : options.checks) {
    auto one = probe::read_known(option);
    if (!one) return std::move(one).error();
    known.push_back(*std::move(one));
  }
  Ground ground;
  if (Status s = options.machine.words.net.empty() ? choose_hosts(options, ground)
                                                   : choose_simulated(options, ground);
      !s)
    return s;
  if (Status s = add_settings(options, ground.job.settings); !s) return s;
  std::optional<probe::Finding> earlier;
  if (!options.from.empty()) {
    const auto text = read_file(options.from);
    if (!text) return Error(text.error());
    auto read = probe::from_json(*text, options.from);
    if (!read) return std::move(read).error();
    earlier = *std::move(read);
    ground.job.earlier = &*earlier;
  }
  Progress progress = Progress::to_stderr(seconds_now);
  if (progress.visible() && !options.quiet)
    ground.job.progress = [&](double share, const std::string& what) {
      progress.update(share, what);
    };
  auto answer = run_probe(ground.job);
  progress.finish();
  if (!answer) return std::move(answer).error();
  if (Status s = write_files(options, answer->finding); !s) return s;
  std::string text = options.quiet ? "" : probe::to_table(answer->finding);
  const bool right = judge(ground, known, answer->finding, text);
  if (Status s = print(text); !s) return s;
  if (answer->interrupted) return Error::run("interrupted; this is what was found until then");
  if (!right) return Error::run("what was found is not what is known");
  return {};
}

void add_ground_options(CLI::App& parser, ProbeOptions& options) {
  parser.add_option("--hosts", options.hosts,
                    "Which hosts: a,b,c, or a file with a line 'NAME' for each");
  parser.add_option("--rsh", options.rsh, "Starts a command on a host, as for weft run");
  parser.add_option("--remote-weft", options.remote_weft,
                    "weft on the other hosts (default: the path it has here)");
  parser.add_option("--rails", options.rails, "Network interfaces to use, as for weft run")
      ->allow_extra_args(false);
  add_machine_options(parser, options.machine);
  parser.add_option("--noise", options.noise, "Disturb simulated measurements, as 5%");
  parser.add_option("--seed", options.seed, "Of that noise")->capture_default_str();
}

void add_measure_options(CLI::App& parser, ProbeOptions& options) {
  parser.add_option("--time", options.time,
                    "Measure for so long at most (5s); what is then not known is said");
  parser
      .add_option(
          "--pings", options.pings,
          "For each round trip, of which the least counts: half of it where they agree, up to four "
          "times where they do not")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  parser.add_option("--flow-time", options.flow_time,
                    "How long flows last (default: 25 ms; simulated: 50 us)");
  parser
      .add_option("--trials", options.trials,
                  "Flows at the same time, for rates of links and where delays do not tell: auto, "
                  "never, always")
      ->check(CLI::IsMember({"auto", "never", "always"}))
      ->capture_default_str();
  parser
      .add_option("--way", options.way,
                  "fast, or paper: every host measures every other, for comparison")
      ->check(CLI::IsMember({"fast", "paper"}))
      ->capture_default_str();
  parser.add_option("--from", options.from,
                    "An earlier finding (--json): measure only what has changed");
  parser
      .add_option("--check", options.checks,
                  "Hold it beside what is known: slurm=topology.conf, lldp=FILE, hwloc=FILE, "
                  "groups=FILE")
      ->allow_extra_args(false);
}

void add_file_options(CLI::App& parser, ProbeOptions& options) {
  parser.add_option("-o,--output", options.output,
                    "Network file for weft sim, map and net (NAME.toml, and NAME.graph beside it)");
  parser.add_option("--json", options.json, "All that was found, also for --from");
  parser.add_option("--groups", options.groups, "A line 'HOST SWITCH' for each host");
  parser.add_option("--dot", options.dot, "A drawing for Graphviz");
  parser.add_flag("-q,--quiet", options.quiet, "No table, no progress");
}

}  // namespace

Command probe_command() {
  return {
      "probe", "Find out by measuring how hosts are wired", [](CLI::App& parser) {
        auto options = std::make_shared<ProbeOptions>();
        add_ground_options(parser, *options);
        add_measure_options(parser, *options);
        add_file_options(parser, *options);
        parser.footer(
            "Examples:\n"
            "  weft probe --hosts hosts.txt --time 5s -o cluster.toml\n"
            "  weft probe --hosts hosts.txt --from cluster.json --json cluster.json\n"
            "  weft probe --net examples/network/office.toml --noise 5%\n"
            "Exit code: 0, or 1 when it differs from what is known or was interrupted, 2 usage, "
            "3 bad input.");
        return std::function<Status()>([options] { return run_probe_command(*options); });
      }};
}

}  // namespace weft::app
