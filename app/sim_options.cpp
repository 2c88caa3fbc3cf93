// SPDX-License-Identifier: Apache-2.0
#include "sim_options.hpp"

#include <cstdlib>

#include <fmt/format.h>

#include <weft/base/quantity.hpp>
#include <weft/message/coll/choose.hpp>
#include <weft/network/part/part.hpp>
#include <weft/parallel/processes/launch.hpp>

namespace weft::app {
namespace {

Status read_count(const char* name, std::int64_t value, std::uint32_t& out) {
  if (value < 1 || value > 16'000'000)
    return Error::call(fmt::format("{}: {} is outside of 1 to 16000000", name, value));
  out = static_cast<std::uint32_t>(value);
  return {};
}

// "none", "measured", "measured*2.5"
Result<double> parse_compute(const std::string& text) {
  if (text == "none") return 0.0;
  if (text == "measured") return 1.0;
  if (text.rfind("measured*", 0) == 0) {
    char* end = nullptr;
    const double factor = std::strtod(text.c_str() + 9, &end);
    if (*end == '\0' && end != text.c_str() + 9 && factor > 0 && factor <= 1e9) return factor;
  }
  return Error::call("--compute: '" + text + "' is not none, measured or measured*FACTOR");
}

Status read_duration(const char* name, const std::string& text, Duration least, Duration& out) {
  if (text.empty()) return {};
  const auto duration = parse_duration(text);
  if (!duration) return Error::call(fmt::format("{}: {}", name, duration.error().message()));
  if (*duration < least)
    return Error::call(fmt::format("{}: must be at least {}", name, to_text(least)));
  out = *duration;
  return {};
}

Status read_time(const char* name, const std::string& text, Time& out) {
  if (text.empty()) return {};
  Duration duration;
  if (Status s = read_duration(name, text, Duration::ps(1), duration); !s) return s;
  out = Time::zero() + duration;
  return {};
}

}  // namespace

Status read_series(const std::string& text, SimulationOptions& simulation) {
  if (text != "auto") return read_duration("--series", text, Duration::ns(1), simulation.series);
  simulation.series = Duration::ns(100);
  simulation.series_grows = true;
  return {};
}

namespace {

Status read_times(const SimOptions& options, SimulationOptions& simulation) {
  for (const Status& read : {
           read_time("--until", options.until, simulation.until),
           read_series(options.series, simulation),
           read_time("--watch-from", options.watch_from, simulation.watch_from),
           read_time("--watch-until", options.watch_until, simulation.watch_until),
           read_duration("--watch-every", options.watch_every, Duration::ps(1),
                         simulation.watch_every),
       }) {
    if (!read) return Error(read.error());
  }
  if (simulation.watched.empty() &&
      !(options.watch_from + options.watch_until + options.watch_every).empty()) {
    return Error::call("--watch-from, -until and -every say when: say which routers by --watch");
  }
  if (simulation.watch_until < simulation.watch_from)
    return Error::call("--watch-until: lies before --watch-from");
  return {};
}

// --record DIR: all that weft report can show.
Status add_record(SimOptions& options, SimulationOptions& simulation) {
  if (options.record.empty()) return {};
  if (!simulation.out.empty()) return Error::call("--record DIR and --out DIR: give one of them");
  simulation.out = options.record;
  simulation.matrix = simulation.timeline = true;
  if (options.series.empty()) options.series = "auto";
  return {};
}

}  // namespace

namespace {

Status check(const SimOptions& options, SimulationOptions& simulation) {
  if (options.ranks_given) {
    if (Status s = read_count("-n", options.ranks, simulation.ranks); !s) return s;
  }
  if (Status s = read_count("--ranks-per-node", options.ranks_per_node, simulation.ranks_per_node);
      !s)
    return s;
  if (options.payload != "none" && options.payload != "full")
    return Error::call("--payload: '" + options.payload + "' is not none or full");
  simulation.carry_data = options.payload == "full";
  const auto factor = parse_compute(options.compute);
  if (!factor) return Error(factor.error());
  simulation.compute_factor = *factor;
  if (!options.stack.empty()) {
    const auto stack = parse_bytes(options.stack);
    if (!stack || stack->count < (1 << 14) || stack->count > (std::int64_t{1} << 34))
      return Error::call("--stack: '" + options.stack + "' is no size from 16 KiB to 16 GiB");
    simulation.stack = *stack;
  }
  if (Status s = read_times(options, simulation); !s) return s;
  if (simulation.threads < 1 || simulation.threads > 63)
    return Error::call("--threads: must lie in 1 to 63");
  if (simulation.threads > 1 && launched().count > 1)
    return Error::call("--threads: each of several processes has one; start more processes");
  if (const auto cut = parse_cut(simulation.partition); !cut)
    return Error::call("--partition: " + cut.error().message());
  if (simulation.out.empty() &&
      (simulation.matrix || simulation.timeline || simulation.series > Duration::zero() ||
       !simulation.watched.empty())) {
    return Error::call(
        "--matrix, --series, --timeline and --watch write files: say where with --out DIR");
  }
  coll::Choices choices;
  for (const std::string& text : simulation.collectives) {
    if (Status s = choices.force(text); !s) return Error::call("--coll: " + s.error().message());
  }
  return {};
}

CLI::Option* add_rank_options(CLI::App& parser, SimOptions& options) {
  CLI::Option* const ranks =
      parser.add_option("-n,--ranks", options.ranks, "Ranks (default: one for every place)");
  parser.add_option("--ranks-per-node", options.ranks_per_node, "Places on a node")
      ->capture_default_str();
  parser.add_option("--map", options.simulation.map,
                    "Which rank runs where: a line 'RANK NODE' for each");
  parser.add_option("--connections", options.simulation.connections,
                    "What connections cost and how many there are: full, on-demand, managed (with "
                    ",shortcuts=N or ,max=N ,replace=lru|random ,groups=auto|FILE). Default: they "
                    "cost nothing");
  return ranks;
}

void add_run_options(CLI::App& parser, SimOptions& options) {
  parser
      .add_option("--payload", options.payload,
                  "none: only sizes of messages travel; full: their data too")
      ->capture_default_str();
  parser
      .add_option("--compute", options.compute,
                  "The program's own work takes no time (none), or what it takes here "
                  "(measured, measured*FACTOR)")
      ->capture_default_str();
  parser.add_option("--coll", options.simulation.collectives, "Force an algorithm: alltoall=bruck")
      ->allow_extra_args(false);
  parser.add_flag("--list-coll", options.list_collectives, "List collective algorithms");
  parser
      .add_option("--threads", options.simulation.threads,
                  "Worker threads; results do not depend on it")
      ->capture_default_str();
  parser
      .add_option("--partition", options.simulation.partition,
                  "How the network is shared out among threads or processes ('list' shows the "
                  "ways); results do not depend on it")
      ->capture_default_str();
  parser.add_option("--seed", options.simulation.seed, "Of random choices in routing")
      ->capture_default_str();
  parser.add_option("--stack", options.stack, "Stack of a rank (default: 64 KiB to 8 MiB)");
  parser.add_option("--until", options.until, "Stop at this simulated time");
  parser
      .add_option("--separate", options.simulation.separation,
                  "How ranks get their own globals: delta (compiled by weft cc), copies, "
                  "none (default: the best that the program allows)")
      ->check(CLI::IsMember({"delta", "copies", "none"}));
}

void add_output_options(CLI::App& parser, SimOptions& options) {
  parser.add_option("--out", options.simulation.out,
                    "Folder for summary.json, ranks.csv, calls.csv");
  parser.add_flag("--matrix", options.simulation.matrix,
                  "Also traffic.txt: bytes and messages per pair");
  parser.add_option("--series", options.series,
                    "Also series.h5: what each link carried, in intervals of this length; auto: of "
                    "a length that grows with the run");
  parser.add_flag("--timeline", options.simulation.timeline,
                  "Also timeline.h5: in which call each rank was when");
  parser.add_option("--record", options.record,
                    "Folder for all that weft report shows: --out with --matrix, --timeline and "
                    "--series auto");
  parser
      .add_option("--watch", options.simulation.watched,
                  "Also buffers.csv: levels of this router's buffers (a number, a name or "
                  "coordinates); repeat for more")
      ->allow_extra_args(false);
  parser.add_option("--watch-from", options.watch_from, "Begin to watch (default: at once)");
  parser.add_option("--watch-until", options.watch_until, "and end (default: never)");
  parser.add_option("--watch-every", options.watch_every, "Look so often (default: 10 ns)");
  // A flag, so that the next word is the program and not the port.
  parser.add_flag("--live", options.live,
                  "Show it in a browser while it runs: prints an address on this machine; "
                  "--live=8080: at this port");
  parser.add_option("--progress-file", options.simulation.progress_file,
                    "A line of JSON that says how far it has come, for jobs that nobody watches");
  parser.add_flag("--label", options.simulation.label, "Begin each line of a rank with [rank]");
  parser.add_flag("-q,--quiet", options.simulation.quiet, "No summary, no progress");
  parser.add_flag("-v,--verbose", options.simulation.verbose,
                  "Also speed and memory of the simulation");
}

}  // namespace

CLI::Option* add_sim_options(CLI::App& parser, SimOptions& options) {
  add_machine_options(parser, options.machine);
  CLI::Option* const ranks = add_rank_options(parser, options);
  add_run_options(parser, options);
  add_output_options(parser, options);
  return ranks;
}

Result<SimulationOptions> complete(SimOptions options) {
  SimulationOptions simulation = options.simulation;
  simulation.machine = options.machine.words;
  if (Status s = add_record(options, simulation); !s) return std::move(s).error();
  if (Status s = check(options, simulation); !s) return std::move(s).error();
  return simulation;
}

}  // namespace weft::app
