// SPDX-License-Identifier: Apache-2.0
#include "map_options.hpp"

#include <set>
#include <thread>

#include "output.hpp"
#include <fmt/format.h>

#include <weft/base/quantity.hpp>
#include <weft/study/map/formats.hpp>

namespace weft::app {

namespace {

void add_problem_options(CLI::App& parser, MapOptions& o) {
  add_machine_options(parser, o.machine);
  parser.add_option(
      "--traffic", o.traffic,
      "Who sends what to whom: 'src dst bytes [messages]' lines (as weft sim --matrix "
      "writes), CSV, Matrix Market, METIS graph or OTF2 archive; - is standard input");
  parser
      .add_option("--traffic-format", o.traffic_format,
                  "automatic, text, csv, matrix-market, metis or otf2")
      ->capture_default_str();
  parser.add_option("--program", o.program,
                    "Simulate this program first ('./halo 100', compiled by weft cc), and map what "
                    "it sends");
  parser.add_option("-n,--ranks", o.ranks, "Ranks (default: as many as the pattern has)");
  parser.add_option("--ranks-per-node", o.ranks_per_node, "Slots on a node")->capture_default_str();
  parser.add_option("--forbid", o.forbid, "Nodes that take no rank: 3,17,40-47, names, or @FILE")
      ->allow_extra_args(false);
  parser.add_option("--fix", o.fix, "Ranks that must stay: RANK=NODE,..., or @FILE")
      ->allow_extra_args(false);
}

void add_search_options(CLI::App& parser, MapOptions& o) {
  parser
      .add_option("--objective", o.objective,
                  "paper (hops x fullest link), hops, hop-bytes, link-max, link-norm[:p], time, or "
                  "mix:hop-bytes=1,link-max=2")
      ->capture_default_str();
  parser.add_option("--time", o.time, "Search so long: 60s, 5min");
  parser
      .add_option("--preset", o.preset,
                  "Without --time: fast (seconds), balanced (a minute) or best (many)")
      ->capture_default_str();
  parser.add_option("--evaluations", o.evaluations,
                    "Exact work, as a report names it: whole maps in the search for linear ones");
  parser.add_option("--tries", o.tries, "Exact work: swaps in annealing");
  parser.add_option("--chains", o.chains, "Chains of annealing beside each other (default: 4)");
  parser.add_option("--probe", o.probe, "Percent of the usual first tries")->capture_default_str();
  parser.add_option("--seed", o.seed, "Of random numbers")->capture_default_str();
  parser.add_option("--threads", o.threads, "Worker threads (default: all processors)");
  parser.add_option("--start", o.start, "A map to begin with");
  parser.add_option("--checkpoint", o.checkpoint, "Keep the best map so far in this file");
  parser.add_option("--resume", o.resume, "Begin with this checkpoint, if it is there");
}

void add_output_options(CLI::App& parser, MapOptions& o) {
  parser.add_flag("--compare", o.compare,
                  "Identity, random, bisection, annealing, both, Scotch and all together, side by "
                  "side; --time is for each");
  parser.add_option("--evaluate", o.evaluate, "Judge this map instead of searching");
  parser.add_flag("--simulate", o.simulate, "Also play the pattern as one step on the simulator");
  parser
      .add_option("--shrink", o.shrink,
                  "Play one part in so many of each message, to be quicker; times are scaled up")
      ->capture_default_str();
  parser.add_option("--order", o.order, "How cards send: round-robin or queue")
      ->capture_default_str();
  parser.add_option("-o,--output", o.output, "Where the map goes");
  std::string formats;
  for (const map::MapFormat& f : map::map_formats())
    formats += (formats.empty() ? "" : ", ") + std::string(f.name);
  parser.add_option("--as", o.format, "Format of the map: " + formats)->capture_default_str();
  parser.add_option("--hosts", o.hosts, "File with the host name of each node, a line each");
  parser.add_option("--json", o.json, "Report as JSON");
  parser.add_option("--csv", o.csv, "Maps that were tried as CSV");
  parser.add_option("--svg", o.svg, "Picture of the placement before and after");
  parser.add_option("--html", o.html, "Report as one page");
  parser.add_option("--progress-file", o.progress_file,
                    "A line of JSON that says how far it has come");
  parser.add_flag("--list", o.list, "List objectives and map formats");
  parser.add_flag("-q,--quiet", o.quiet, "No report on standard output");
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
           check_range("--probe", o.probe, 1, 1000),
           check_range("--chains", o.chains.value_or(1), 1, 100'000),
       }) {
    if (!s) return Error(s.error());
  }
  return {};
}

Status check_together(const MapOptions& o) {
  if (o.machine.words.net.empty())
    return Error::call("which network? Give --net with a spec or a file");
  if (o.traffic.empty() == o.program.empty())
    return Error::call("which pattern? Give --traffic FILE or --program 'PROGRAM ARGUMENTS'");
  if (o.compare && !o.evaluate.empty())
    return Error::call("--compare and --evaluate: one at a time");
  const bool exact = o.evaluations || o.tries || o.chains;
  if (exact && !o.time.empty())
    return Error::call(
        "--time and --evaluations, --tries or --chains: one says how long, the "
        "others how much");
  if (o.compare && (o.simulate || !o.svg.empty() || !o.html.empty()))
    return Error::call(
        "--compare has a table, --json and --csv; leave out --simulate, --svg, --html");
  if (!o.hosts.empty() && o.output.empty()) return Error::call("--hosts is for -o; say where");
  std::set<std::string> seen;
  for (const auto& [option, path] :
       {std::pair{"-o", o.output}, std::pair{"--json", o.json}, std::pair{"--csv", o.csv},
        std::pair{"--svg", o.svg}, std::pair{"--html", o.html},
        std::pair{"--checkpoint", o.checkpoint}, std::pair{"--progress-file", o.progress_file}}) {
    if (Status s = check_output(option, path, seen); !s) return s;
  }
  for (const map::MapFormat& f : map::map_formats())
    if (f.name == o.format) return {};
  return Error::call("--as: there is no format '" + o.format + "'; weft map --list shows them");
}

}  // namespace

void add_map_options(CLI::App& parser, MapOptions& options) {
  add_problem_options(parser, options);
  add_search_options(parser, options);
  add_output_options(parser, options);
  parser.footer(
      "Examples:\n"
      "  weft map --net torus:16x16x16 --traffic pattern.txt --time 60s -o best.map\n"
      "  weft map --net presets/opennsim-torus.toml --program './halo 64' --html map.html\n"
      "  weft map --net torus:8x8x8 --traffic pattern.txt --evaluate best.map --simulate\n"
      "  weft map --net tofu.toml --traffic trace.otf2 -o ranks --as rankfile --hosts nodes.txt\n"
      "Links are loaded by the routing that --routing or the description names, else by dor:up on "
      "tori and meshes.\n"
      "On several machines: mpirun -np 8 weft map ...; the same work gives the same map.\n"
      "Ctrl-C ends with the best map so far. Exit code: 0, 1 no result, 2 usage, 3 bad input.");
}

Result<MapWishes> check_map_options(const MapOptions& o, const Job& job) {
  for (const Status& s : {check_together(o), check_numbers(o)})
    if (!s) return Error(s.error());
  if (job.processes() > 1 && (!o.program.empty() || o.traffic == "-"))
    return Error::call(
        "--program and standard input are for one process: write the pattern to a "
        "file first (weft sim --matrix)");
  MapWishes wishes;
  auto objective = map::parse_objective(o.objective);
  if (!objective) return std::move(objective).error().during("--objective");
  wishes.objective = *objective;
  if (!o.time.empty()) {
    const auto time = parse_duration(o.time);
    if (!time) return Error::call("--time: " + time.error().message());
    wishes.seconds = static_cast<double>(time->in_ps()) * 1e-12;
    if (wishes.seconds <= 0) return Error::call("--time: must be above 0");
  }
  auto order = parse_send_order(o.order);
  if (!order) return Error::call("--order: " + order.error().message());
  wishes.order = *order;
  wishes.threads = static_cast<int>(o.threads);
  if (wishes.threads == 0) {
    const unsigned processors = std::thread::hardware_concurrency();
    wishes.threads = job.processes() > 1 || processors == 0 ? 1 : static_cast<int>(processors);
  }
  return wishes;
}

std::string list_map_words() {
  std::string text = "Objectives (--objective):\n";
  for (const map::ObjectiveName& o : map::objective_names())
    text += fmt::format("  {:<10} {}\n", o.name, o.help);
  text += "Formats of a map (--as):\n";
  for (const map::MapFormat& f : map::map_formats())
    text += fmt::format("  {:<10} {}\n", f.name, f.help);
  return text;
}

}  // namespace weft::app
