// SPDX-License-Identifier: Apache-2.0
// weft probe: finds by measurement how hosts are wired, and what messages cost inside of one. This
// file reads options and writes files; a program on the hosts measures, and weft/network/probe
// infers.
#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "command.hpp"
#include "interrupts.hpp"
#include "machine_options.hpp"
#include "output.hpp"
#include "piped_file.hpp"
#include "probe_host.hpp"
#include "probe_job.hpp"
#include "shared_options.hpp"
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
  std::string hosts, time, from, noise, flow_time, trials = "auto", method = "fast";
  RemoteOptions remote;
  MachineOptions machine;  // For a simulated network.
  std::vector<std::string> checks;
  std::string output, json, groups, dot;
  int pings = 8;
  std::int64_t seed = 1;
  bool quiet = false;
  bool local = false;  // What is inside a host.
};

struct Target {  // The hosts to measure.
  ProbeJob job;
  std::optional<MachineDescription> machine;  // If it is simulated.
};

Result<double> read_seconds(const char* name, const std::string& text) {
  const auto duration = parse_duration(text);
  if (!duration) return Error::call(fmt::format("{}: {}", name, duration.error().message()));
  if (*duration <= Duration::zero()) return Error::call(fmt::format("{}: must be above 0", name));
  return duration->in_seconds();
}

// `text`: "5%" or "0.05".
Result<double> read_share(const std::string& text) {
  const bool percent = text.ends_with('%');
  const auto number = parse_number(trim(text.substr(0, text.size() - (percent ? 1 : 0))));
  const double share = number ? *number / (percent ? 100 : 1) : -1;
  if (share < 0 || share > 1)
    return Error::call("--noise: '" + text + "' is not a share from 0% to 100%, such as 5%");
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
  if (options.method != "fast") settings.push_back("method=" + options.method);
  return {};
}

Status choose_simulated(const ProbeOptions& options, Target& target) {
  auto machine = read_machine(options.machine.words);
  if (!machine) return std::move(machine).error();
  const Topology& truth = *machine->topology;
  for (std::uint32_t n = 0; n < truth.graph.node_count(); ++n)
    target.job.hosts.push_back(node_name(truth, NodeId(n)));
  target.machine = *std::move(machine);
  target.job.words = {"sim", "--payload", "full", "--quiet"};
  const std::vector<std::string> words = to_arguments(options.machine);
  target.job.words.insert(target.job.words.end(), words.begin(), words.end());
  target.job.settings.emplace_back("messages");
  return {};
}

std::vector<std::string> remote_words(const RemoteOptions& remote) {
  std::vector<std::string> words;
  const auto add = [&](const char* name, const std::string& value) {
    if (!value.empty()) words.insert(words.end(), {name, value});
  };
  add("--rsh", remote.rsh);
  add("--remote-weft", remote.remote_weft);
  for (const std::string& rail : remote.rails) add("--rails", rail);
  return words;
}

Status choose_hosts(const ProbeOptions& options, Target& target) {
  if (!options.noise.empty()) return Error::call("--noise is for simulated networks (--net)");
  const auto hosts = launch::read_hosts(options.hosts);
  if (!hosts) return Error(hosts.error());
  std::set<std::string> seen;
  std::string list;
  for (const launch::Host& host : *hosts) {
    if (!seen.insert(host.name).second) continue;  // One rank per host, whatever its slots.
    target.job.hosts.push_back(host.name);
    list += (list.empty() ? "" : ",") + host.name + ":1";
  }
  target.job.words = {"run", "--quiet", "--hosts",
                      list,  "-n",      std::to_string(target.job.hosts.size())};
  const std::vector<std::string> words = remote_words(options.remote);
  target.job.words.insert(target.job.words.end(), words.begin(), words.end());
  return {};
}

Status check_options(const ProbeOptions& options) {
  const MachineWords& words = options.machine.words;
  if (options.local && !words.net.empty())
    return Error::call("--local measures a real machine: leave out --net");
  if (!options.local && options.hosts.empty() == words.net.empty()) {
    return Error::call(
        "which network? Give either --local for this machine, --hosts a,b,c for real hosts or "
        "--net SPEC for a simulated one");
  }
  if (options.local && options.hosts.empty() &&
      !(options.from + options.groups + options.dot + options.noise + options.time +
        options.flow_time + options.remote.rsh + options.remote.remote_weft)
           .empty())
    return Error::call(
        "--local alone takes -o, --json and --quiet; the others are for a network (--hosts)");
  if (!words.net.empty() && !(options.remote.rsh + options.remote.remote_weft).empty())
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

// Ctrl-C between the two would leave a graph without its description.
Status write_both(const std::string& graph_path, const std::string& graph, const std::string& path,
                  const std::string& description) {
  const Interrupts later;
  if (Status s = write_file(graph_path, graph); !s) return s;
  return write_file(path, description);
}

// "net.toml" has "net.graph" beside it.
Result<std::filesystem::path> graph_beside(const std::string& path) {
  std::filesystem::path graph(path);
  graph.replace_extension(".graph");
  if (graph != path) return graph;
  return Error::call(
      "-o: the description cannot be called *.graph, which is the name of the graph beside it");
}

// The hosts are taken to be alike.
std::string node_text(const HostFound& found) {
  return fmt::format("# As weft probe --local has measured them on {}.\n{}", found.host,
                     probe::to_tables(found.node));
}

// `node`: what was measured inside a host; may be null.
Status write_network(const probe::Finding& finding, const HostFound* node,
                     const std::string& path) {
  const auto beside = graph_beside(path);
  if (!beside) return Error(beside.error());
  const std::filesystem::path& graph = *beside;
  auto text = probe::to_network(finding, graph.filename().string());
  if (!text) return Error(text.error().broken(), "-o: " + text.error().message());
  if (node != nullptr) text->description += "\n" + node_text(*node);
  return write_both(graph.string(), text->graph, path, text->description);
}

Status write_dot(const probe::Finding& finding, const std::string& path) {
  const auto topology = read_graph_text(probe::to_graph(finding), "found");
  if (!topology) return Error(topology.error());
  const auto text = export_topology(*topology, "dot");
  if (!text) return Error(text.error());
  return write_file(path, *text);
}

// The network comes last: what could not be measured is in the others all the same.
Status write_files(const ProbeOptions& options, const probe::Finding& finding,
                   const HostFound* node) {
  if (!options.json.empty())
    if (Status s = write_file(options.json, probe::to_json(finding)); !s) return s;
  if (!options.groups.empty())
    if (Status s = write_file(options.groups, probe::to_groups(finding)); !s) return s;
  if (!options.dot.empty())
    if (Status s = write_dot(finding, options.dot); !s) return s;
  if (!options.output.empty()) return write_network(finding, node, options.output);
  return {};
}

// This machine alone.
Status run_local_command(const ProbeOptions& options, const ProbeProgress& progress) {
  const auto found = probe_host({"", {}, progress});
  if (progress) progress(-1, "");
  if (!found) return Error(found.error());
  if (!options.output.empty()) {
    const auto graph = graph_beside(options.output);
    if (!graph) return Error(graph.error());
    const auto text = probe::to_local_network(found->node, found->host, graph->filename().string());
    if (Status s = write_both(graph->string(), text.graph, options.output, text.description); !s)
      return s;
  }
  if (!options.json.empty()) {
    const std::string text = probe::to_local_json(found->node, found->measures, found->host);
    if (Status s = write_file(options.json, text); !s) return s;
  }
  return options.quiet ? Status() : print(probe::to_local_table(found->node, found->host));
}

// Whether the finding agrees with what is known; appends the differences to the text.
bool judge(const Target& target, const std::vector<probe::Known>& known,
           const probe::Finding& finding, std::string& text) {
  bool right = true;
  if (target.machine) {
    const auto truth = probe::compare(finding, *target.machine->topology);
    text += fmt::format("profile        {}\n", target.machine->profile);
    right = truth.right();
    text += fmt::format("truth          {}\n", !right ? "differs from the finding:"
                                               : !truth.truth_is_tree
                                                   ? "groups are right; the network is not a tree"
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
  auto requested = requested_text(options.machine);
  if (!requested) return std::move(requested).error();
  if (*requested) return print(**requested);
  if (Status s = check_options(options); !s) return s;
  std::vector<probe::Known> known;
  for (const std::string& option : options.checks) {
    auto one = probe::read_known(option);
    if (!one) return std::move(one).error();
    known.push_back(*std::move(one));
  }
  Progress progress = Progress::to_stderr(seconds_now);
  ProbeProgress shown;
  if (progress.visible() && !options.quiet)
    shown = [&](double share, const std::string& what) {
      share < 0 ? progress.finish() : progress.update(share, what);
    };
  if (options.local && options.hosts.empty()) return run_local_command(options, shown);
  Target target;
  if (Status s = options.machine.words.net.empty() ? choose_hosts(options, target)
                                                   : choose_simulated(options, target);
      !s)
    return s;
  if (Status s = add_settings(options, target.job.settings); !s) return s;
  std::optional<probe::Finding> earlier;
  if (!options.from.empty()) {
    const auto text = read_file(options.from);
    if (!text) return Error(text.error());
    auto read = probe::from_json(*text, options.from);
    if (!read) return std::move(read).error();
    earlier = *std::move(read);
    target.job.earlier = &*earlier;
  }
  target.job.progress = shown;
  auto answer = run_probe(target.job);
  progress.finish();
  if (!answer) return std::move(answer).error();
  std::optional<HostFound> node;
  if (options.local && !answer->interrupted) {
    auto found = probe_host({target.job.hosts[0], remote_words(options.remote), shown});
    progress.finish();
    if (!found) return std::move(found).error();
    node = *std::move(found);
  }
  std::string text = options.quiet ? "" : probe::to_table(answer->finding);
  if (node && !options.quiet) text += probe::to_local_table(node->node, node->host);
  if (Status s = write_files(options, answer->finding, node ? &*node : nullptr); !s) {
    const Status printed = print(text);
    return printed ? s : printed;
  }
  const bool right = judge(target, known, answer->finding, text);
  if (Status s = print(text); !s) return s;
  if (answer->interrupted)
    return Error::run("interrupted; results cover the measurements until then");
  if (!right) return Error::run("the result differs from what is known");
  return {};
}

void add_target_options(CLI::App& parser, ProbeOptions& options) {
  add_machine_options(parser, options.machine);
  begin_group(parser, "Hosts");
  parser.add_flag("--local", options.local,
                  "Measure calls, messages and copies inside this machine, or inside the first of "
                  "--hosts, for the tables [node] and [messages]");
  reads_file(parser.add_option("--hosts", options.hosts,
                               "Hosts to measure: a,b,c, or a file with a line 'NAME' for each"))
      ->type_name("HOSTS|FILE");
  add_remote_options(parser, options.remote);
}

void add_measure_options(CLI::App& parser, ProbeOptions& options) {
  begin_group(parser, "Measurement");
  parser
      .add_option("--time", options.time,
                  "Time limit of the measurement, as 5s; the result lists what is not known then "
                  "(default: none)")
      ->type_name("TIME");
  parser
      .add_option(
          "--pings", options.pings,
          "Echoes for each round trip, of which the minimum counts: half as many where they "
          "agree, up to four times as many where they do not")
      ->type_name("N")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  parser
      .add_option("--flow-time", options.flow_time,
                  "Duration of a flow (default: 25 ms; simulated: 50 us)")
      ->type_name("TIME");
  parser
      .add_option(
          "--trials", options.trials,
          "When to measure simultaneous flows, which give link rates and find switches that "
          "delays do not show")
      ->check(CLI::IsMember({"auto", "never", "always"}))
      ->capture_default_str();
  auto* const method =
      parser
          .add_option(
              "--method", options.method,
              "Method of measurement; with paper every host measures every other, for comparison")
          ->check(CLI::IsMember({"fast", "paper"}))
          ->capture_default_str();
  keep_former_name(
      parser.add_option("--way", options.method)->check(CLI::IsMember({"fast", "paper"})), method);
  reads_file(parser.add_option("--from", options.from,
                               "Earlier result, written by --json: measure only what has changed"))
      ->type_name("FILE");
  parser
      .add_option("--check", options.checks,
                  "Compare the result with a known network: slurm=topology.conf, lldp=FILE, "
                  "hwloc=FILE or groups=FILE; can be repeated")
      ->type_name("KIND=FILE")
      ->transform([](const std::string& known) {
        return keep_pipe_in(known.substr(0, known.find('=')), known);
      })
      ->allow_extra_args(false);
  parser
      .add_option("--noise", options.noise,
                  "Noise to add to simulated measurements, as 5% (default: none)")
      ->type_name("PERCENT");
  add_seed_option(parser, options.seed, "the noise");
}

void add_file_options(CLI::App& parser, ProbeOptions& options) {
  begin_group(parser, "Output");
  parser
      .add_option("-o,--output", options.output,
                  "Output file for the network, which weft sim, map and net read (NAME.toml, with "
                  "NAME.graph beside it)")
      ->type_name("FILE");
  parser.add_option("--json", options.json, "File for the whole result as JSON, also for --from")
      ->type_name("FILE");
  parser.add_option("--groups", options.groups, "File for a line 'HOST SWITCH' for each host")
      ->type_name("FILE");
  parser.add_option("--dot", options.dot, "File for a drawing, for Graphviz")->type_name("FILE");
  add_quiet_flag(parser, options.quiet, "table and no progress");
}

}  // namespace

Command probe_command() {
  return {"probe", "Find by measurement how hosts are wired, and what this one can do",
          [](CLI::App& parser) {
            auto options = std::make_shared<ProbeOptions>();
            add_target_options(parser, *options);
            add_measure_options(parser, *options);
            add_file_options(parser, *options);
            parser.footer(
                "Examples:\n"
                "  weft probe --local -o local.toml\n"
                "  weft probe --hosts hosts.txt --time 5s -o cluster.toml\n"
                "  weft probe --hosts hosts.txt --from cluster.json --json cluster.json\n"
                "  weft probe --net examples/network/office.toml --noise 5%\n"
                "Exit code: 0 done, 1 the result differs from what is known or is incomplete after "
                "Ctrl-C,\n2 usage, 3 bad input.");
            return std::function<Status()>([options] { return run_probe_command(*options); });
          }};
}

}  // namespace weft::app
