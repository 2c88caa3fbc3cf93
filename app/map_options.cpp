// SPDX-License-Identifier: Apache-2.0
#include "map_options.hpp"

#include <set>
#include <thread>

#include "output.hpp"
#include "piped_file.hpp"
#include "shared_options.hpp"
#include <fmt/format.h>

#include <weft/base/quantity.hpp>
#include <weft/simulate/models/network_model.hpp>
#include <weft/study/map/formats.hpp>
#include <weft/workload/patterns/traffic_file.hpp>

namespace weft::app {

namespace {

std::string traffic_format_names() {
  std::string names;
  const auto formats = traffic_formats();
  for (const TrafficFormat& format : formats)
    names += (&format == &formats.back() ? " or " : ", ") + std::string(format.name);
  return names;
}

// Notes that an option was given, whatever its value.
void note(CLI::Option* option, bool& given) {
  option->each([&given](const std::string&) { given = true; });
}

void add_problem_options(CLI::App& parser, MapOptions& o) {
  parser
      .add_option("RUN", o.run,
                  "Record of weft sim or weft run to take network, traffic and present map from, "
                  "each unless an option gives it")
      ->type_name("RUN");
  add_machine_options(parser, o.machine);
  begin_group(parser, "Problem");
  parser
      .add_option("--traffic", o.traffic,
                  "Traffic of the ranks: lines 'src dst bytes [messages]' (as weft sim --matrix "
                  "writes), or another format of --traffic-format; - for standard input")
      ->type_name("FILE");
  parser
      .add_option("--traffic-format", o.traffic_format,
                  "Format of --traffic: automatic" + traffic_format_names())
      ->type_name("NAME")
      ->capture_default_str();
  parser
      .add_option(
          "--program", o.program,
          "Program with arguments ('./halo 100', compiled by weft cc) to simulate first, for "
          "its traffic; instead of --traffic")
      ->type_name("COMMAND");
  add_ranks_option(parser, o.ranks, "as many as the traffic has");
  note(add_ranks_per_node_option(parser, o.ranks_per_node), o.ranks_per_node_given);
  parser.add_option("--forbid", o.forbid, "Nodes that take no rank: 3,17,40-47, names, or @FILE")
      ->type_name("NODES")
      ->allow_extra_args(false);
  parser.add_option("--fix", o.fix, "Ranks with a fixed node: RANK=NODE,..., or @FILE")
      ->type_name("RANK=NODE")
      ->allow_extra_args(false);
}

void add_search_options(CLI::App& parser, MapOptions& o) {
  begin_group(parser, "Search");
  parser
      .add_option("--objective", o.objective,
                  "Objective to minimise, or 'list': paper (hops x busiest link), hops, hop-bytes, "
                  "link-max, link-norm[:p], time, or mix:hop-bytes=1,link-max=2")
      ->type_name("NAME")
      ->capture_default_str();
  parser.add_option("--time", o.time, "Time limit of the search: 60s, 5min (default: by --preset)")
      ->type_name("TIME");
  parser
      .add_option("--preset", o.preset,
                  "Effort without --time: fast takes seconds, balanced a minute, best many minutes")
      ->type_name("NAME")
      ->capture_default_str();
  parser
      .add_option(
          "--evaluations", o.evaluations,
          "Number of linear maps to evaluate, instead of a time limit (printed by the report "
          "as 'repeat with')")
      ->type_name("N");
  parser
      .add_option("--tries", o.tries,
                  "Number of swaps to try in annealing, instead of a time limit")
      ->type_name("N");
  parser.add_option("--chains", o.chains, "Parallel chains of annealing (default: 4)")
      ->type_name("N");
  auto* const trial_effort =
      parser.add_option("--trial-effort", o.trial_effort, "Effort of the trial runs, in percent")
          ->type_name("PERCENT")
          ->capture_default_str();
  keep_former_name(parser.add_option("--probe", o.trial_effort), trial_effort);
  add_seed_option(parser, o.seed, "the search");
  parser
      .add_option("--threads", o.threads,
                  "Worker threads (default: as many as processors; 1 under mpirun)")
      ->type_name("N");
  reads_file(parser.add_option("--start", o.start, "Map to start from"))->type_name("FILE");
  parser.add_option("--checkpoint", o.checkpoint, "File that keeps the best map so far")
      ->type_name("FILE");
  reads_file(parser.add_option("--resume", o.resume, "Checkpoint to start from, if it exists"))
      ->type_name("FILE");
}

void add_evaluation_options(CLI::App& parser, MapOptions& o) {
  begin_group(parser, "Evaluation");
  reads_file(
      parser.add_option("--evaluate", o.evaluate,
                        "Map to evaluate instead of searching: a file, identity, or random[:SEED]"))
      ->type_name("FILE|WORD");
  reads_file(
      parser.add_option("--convert", o.convert,
                        "Map to write in another format, with --format, instead of searching"))
      ->type_name("FILE");
  auto* const compare = parser.add_flag(
      "--compare-methods", o.compare,
      "Compare in a table: identity, random, bisection, annealing, bisection + annealing, Scotch, "
      "all methods combined; --time holds for each");
  keep_former_name(parser.add_flag("--compare", o.compare), compare);
  parser.add_flag("--simulate", o.simulate,
                  "Also simulate the traffic as one communication step (always for RUN)");
  auto* const shrink =
      parser
          .add_option("--shrink", o.shrink,
                      "Divisor of message sizes in --simulate, to save time; times are scaled back "
                      "(default: 1, of a long RUN more)")
          ->type_name("N");
  note(shrink, o.shrink_given);
  parser
      .add_option(
          "--model", o.model,
          "How closely --simulate and the objective 'time' simulate the network: flit (VCs share "
          "links flit by flit; slower), packet, or flow (much faster, docs/concepts/fidelity.md)")
      ->type_name("MODEL")
      ->capture_default_str();
  parser
      .add_option("--order", o.order,
                  "Order in which a NIC sends its messages in --simulate: round-robin or queue "
                  "(default: nic.order of the description)")
      ->type_name("NAME");
}

void add_output_options(CLI::App& parser, MapOptions& o) {
  begin_group(parser, "Output");
  parser.add_option("-o,--output", o.output, "Output file for the map")->type_name("FILE");
  std::string formats;
  for (const map::MapFormat& f : map::map_formats())
    formats += (formats.empty() ? "" : ", ") + std::string(f.name);
  auto* const format =
      parser.add_option("--format", o.format, "Output format of the map, or 'list': " + formats)
          ->type_name("NAME")
          ->capture_default_str();
  keep_former_name(parser.add_option("--as", o.format), format);
  const auto list = [&o] { o.objective = o.format = "list"; };
  keep_former_name(parser.add_flag_callback("--list", list), format);
  reads_file(parser.add_option(
                 "--hosts", o.hosts,
                 "Hosts, one for each node of the network: a,b,c, or a file with a line 'NAME' for "
                 "each; for formats that name hosts"))
      ->type_name("HOSTS|FILE");
  parser.add_option("--json", o.json, "File for the report as JSON")->type_name("FILE");
  parser.add_option("--csv", o.csv, "File for the maps that were tried, as CSV")->type_name("FILE");
  parser.add_option("--svg", o.svg, "File for a picture of the placement before and after")
      ->type_name("FILE");
  parser.add_option("--html", o.html, "File for a page with the report")->type_name("FILE");
  add_progress_file_option(parser, o.progress_file);
  add_quiet_flag(parser, o.quiet, "report");
}

Status check_range(const char* name, std::int64_t value, std::int64_t least, std::int64_t most) {
  if (value >= least && value <= most) return {};
  return Error::call(fmt::format("{}: {} is outside of {} to {}", name, value, least, most));
}

Status check_numbers(const MapOptions& o) {
  constexpr std::int64_t many = std::int64_t{1} << 50;
  for (const Status& s : {
           check_range("-n", o.ranks, 0, 1 << 26),
           check_range("--ranks-per-node", o.ranks_per_node, 1, 65536),
           check_range("--threads", o.threads, 0, 1024),
           check_range("--shrink", o.shrink, 1, 1 << 30),
           check_range("--evaluations", o.evaluations.value_or(0), 0, many),
           check_range("--tries", o.tries.value_or(0), 0, many),
           check_range("--trial-effort", o.trial_effort, 1, 1000),
           check_range("--chains", o.chains.value_or(1), 1, 100'000),
       }) {
    if (!s) return Error(s.error());
  }
  return {};
}

Status check_format_name(const MapOptions& o) {
  if (map::find_map_format(o.format) != nullptr) return {};
  return Error::call("--format: there is no format '" + o.format +
                     "'; weft map --format list shows them");
}

Status check_outputs(const MapOptions& o) {
  std::set<std::string> seen;
  for (const auto& [option, path] :
       {std::pair{"-o", o.output}, std::pair{"--json", o.json}, std::pair{"--csv", o.csv},
        std::pair{"--svg", o.svg}, std::pair{"--html", o.html},
        std::pair{"--checkpoint", o.checkpoint}, std::pair{"--progress-file", o.progress_file}}) {
    if (Status s = check_output(option, path, seen); !s) return s;
  }
  return {};
}

Status check_together(const MapOptions& o) {
  if (o.machine.words.net.empty())
    return Error::call("which network? Give --net with a spec or a file, or the record of a run");
  if (o.traffic.empty() == o.program.empty())
    return Error::call(
        "which traffic? Give --traffic FILE or --program 'PROGRAM ARGUMENTS', or the record of a "
        "run");
  if (o.compare && !o.evaluate.empty())
    return Error::call("--compare-methods and --evaluate: one at a time");
  const bool exact = o.evaluations || o.tries || o.chains;
  if (exact && !o.time.empty())
    return Error::call(
        "--time limits the time, --evaluations, --tries and --chains fix the work: give one kind");
  if (o.compare && (o.simulate || !o.svg.empty() || !o.html.empty()))
    return Error::call(
        "--compare-methods has a table, --json and --csv; leave out --simulate, --svg and --html");
  if (!o.hosts.empty() && o.output.empty() && o.run.empty())
    return Error::call("--hosts is for the map that -o writes; give -o FILE");
  if (Status s = check_outputs(o); !s) return s;
  return check_format_name(o);
}

}  // namespace

void add_map_options(CLI::App& parser, MapOptions& options) {
  add_problem_options(parser, options);
  add_search_options(parser, options);
  add_evaluation_options(parser, options);
  add_output_options(parser, options);
  parser.footer(
      "Examples:\n"
      "  weft map --net torus:16x16x16 --traffic pattern.txt --time 60s -o best.map\n"
      "  weft map --net preset:opennsim-torus --program './halo 64' --html map.html\n"
      "  weft map --net torus:8x8x8 --traffic pattern.txt --evaluate best.map --simulate\n"
      "  weft sim --net torus:8x8x8 --record run ./halo && weft map run -o best.map\n"
      "  weft map --convert best.map --format slurm --hosts nodes.txt -o hosts\n"
      "  weft map --net tofu.toml --traffic trace.otf2 -o ranks --format rankfile --hosts "
      "nodes.txt\n"
      "Link loads follow the routing of --routing or the description, else the network's "
      "default with one path for each pair; the report names it.\n"
      "To use several machines: mpirun -np 8 weft map ...; the same work gives the same map.\n"
      "Ctrl-C ends the search; the result is the best map so far.\n"
      "Exit code: 0 done, 1 no result, 2 usage, 3 bad input.");
}

Status check_conversion(const MapOptions& o) {
  const bool more =
      o.compare || o.simulate ||
      !(o.run + o.traffic + o.program + o.evaluate + o.start + o.json + o.csv + o.svg + o.html)
           .empty();
  if (more)
    return Error::call(
        "--convert only writes a map in another format: give --format, -o, --hosts and --net at "
        "most");
  if (Status s = check_outputs(o); !s) return s;
  return check_format_name(o);
}

Result<ParsedMapOptions> parse_map_options(const MapOptions& o, const Job& job) {
  for (const Status& s : {check_together(o), check_numbers(o)})
    if (!s) return Error(s.error());
  if (job.processes() > 1 && (!o.program.empty() || o.traffic == "-"))
    return Error::call(
        "--program and standard input are for one process: write the traffic to a "
        "file first (weft sim --matrix)");
  ParsedMapOptions parsed;
  auto objective = map::parse_objective(o.objective);
  if (!objective) return std::move(objective).error().during("--objective");
  parsed.objective = *objective;
  if (!o.time.empty()) {
    const auto time = parse_duration(o.time);
    if (!time) return Error::call("--time: " + time.error().message());
    parsed.seconds = static_cast<double>(time->in_ps()) * 1e-12;
    if (parsed.seconds <= 0) return Error::call("--time: must be above 0");
  }
  if (const auto fidelity = parse_fidelity(o.model); !fidelity)
    return Error::call("--model: " + fidelity.error().message());
  if (const auto order = parse_send_order(o.order); !order && !o.order.empty())
    return Error::call("--order: " + order.error().message());
  parsed.threads = static_cast<int>(o.threads);
  if (parsed.threads == 0) {
    const unsigned processors = std::thread::hardware_concurrency();
    parsed.threads = job.processes() > 1 || processors == 0 ? 1 : static_cast<int>(processors);
  }
  return parsed;
}

std::string requested_lists(const MapOptions& options) {
  std::string text;
  if (options.objective == "list") {
    text += "Objectives (--objective):\n";
    for (const map::ObjectiveName& o : map::objective_names())
      text += fmt::format("  {:<10} {}\n", o.name, o.help);
  }
  if (options.format == "list") {
    text += "Formats of a map (--format):\n";
    for (const map::MapFormat& f : map::map_formats())
      text += fmt::format("  {:<10} {}\n", f.name, f.help);
  }
  return text;
}

}  // namespace weft::app
