// SPDX-License-Identifier: Apache-2.0
#include "sim_options.hpp"

#include <cstdlib>

#include "command.hpp"
#include "piped_file.hpp"
#include "shared_options.hpp"
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

// `text`: "none", "measured" or "measured*2.5".
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
           read_duration("--start-skew", options.start_skew, Duration::zero(),
                         simulation.start_skew),
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
    return Error::call("--watch-from, --watch-until and --watch-every need --watch ROUTER");
  }
  if (simulation.watch_until < simulation.watch_from)
    return Error::call("--watch-until: lies before --watch-from");
  return {};
}

// --record DIR turns on all outputs that weft report can show.
Status add_record(SimOptions& options, SimulationOptions& simulation) {
  if (options.record.empty()) return {};
  if (!simulation.out.empty())
    return Error::call("--record DIR and --output DIR: give one of them");
  simulation.out = options.record;
  simulation.matrix = simulation.timeline = true;
  if (options.series.empty()) options.series = "auto";
  return {};
}

// Ranks in processes of their own have no other way to each other's data.
Status read_payload(const SimOptions& options, SimulationOptions& simulation) {
  const bool separate = simulation.separation == "processes";
  if (!options.payload.empty() && options.payload != "none" && options.payload != "full")
    return Error::call("--payload: '" + options.payload + "' is not none or full");
  if (separate && options.payload == "none")
    return Error::call("--payload none: with --separate processes messages carry their data");
  simulation.carry_data = separate || options.payload == "full";
  return {};
}

Status check(const SimOptions& options, SimulationOptions& simulation) {
  if (options.ranks_given) {
    if (Status s = read_count("-n", options.ranks, simulation.ranks); !s) return s;
  }
  if (options.ranks_per_node_given) {
    if (Status s =
            read_count("--ranks-per-node", options.ranks_per_node, simulation.ranks_per_node);
        !s)
      return s;
  }
  if (options.cores_per_rank_given) {
    if (Status s =
            read_count("--cores-per-rank", options.cores_per_rank, simulation.cores_per_rank);
        !s)
      return s;
  }
  if (Status s = read_payload(options, simulation); !s) return s;
  const auto factor = parse_compute(options.compute);
  if (!factor) return Error(factor.error());
  simulation.compute_factor = *factor;
  if (!options.stack.empty()) {
    const auto stack = parse_bytes(options.stack);
    if (!stack || stack->count < (1 << 14) || stack->count > (std::int64_t{1} << 34))
      return Error::call("--stack: '" + options.stack + "' is not a size from 16 KiB to 16 GiB");
    simulation.stack = *stack;
  }
  if (Status s = read_times(options, simulation); !s) return s;
  if (simulation.threads < 0 || simulation.threads > 63)
    return Error::call("--threads: must lie in 1 to 63, or be auto");
  if (simulation.threads > 1 && launched().count > 1)
    return Error::call("--threads: under mpirun each process has one thread; start more processes");
  if (const auto cut = parse_cut(simulation.partition); !cut)
    return Error::call("--partition: " + cut.error().message());
  if (simulation.out.empty() &&
      (simulation.matrix || simulation.timeline || simulation.record_output ||
       simulation.series > Duration::zero() || !simulation.watched.empty())) {
    return Error::call(
        "--matrix, --series, --timeline, --record-output and --watch write files: say where with "
        "--output DIR");
  }
  coll::Choices choices;
  for (const std::string& text : simulation.collectives) {
    if (Status s = choices.force(text); !s) return Error::call("--coll: " + s.error().message());
  }
  return {};
}

CLI::Option* add_rank_options(CLI::App& parser, SimOptions& options) {
  begin_group(parser, "Ranks");
  CLI::Option* const ranks = add_ranks_option(parser, options.ranks, "one for every slot");
  parser
      .add_option_function<std::int64_t>(
          "--ranks-per-node",
          [&options](std::int64_t count) {
            options.ranks_per_node = count;
            options.ranks_per_node_given = true;
          },
          "Slots for ranks on each node (default: node.cores, or as many as -n needs, if the "
          "description says how many cores there are; else 1)")
      ->type_name("N");
  parser
      .add_option_function<std::int64_t>(
          "--cores-per-rank",
          [&options](std::int64_t count) {
            options.cores_per_rank = count;
            options.cores_per_rank_given = true;
          },
          "Cores that the threads of a rank share, and the number of OpenMP threads if "
          "OMP_NUM_THREADS is not set (default: node.cores over the ranks of a node, or a core for "
          "every thread)")
      ->type_name("N");
  reads_file(
      parser.add_option(
          "--map", options.simulation.map,
          "Map file: a line 'RANK NODE' for each rank, as weft map writes it; random[:SEED]: ranks "
          "on nodes in random order (default: ranks in the order of nodes)"))
      ->type_name("FILE|random");
  parser
      .add_option(
          "--separate", options.simulation.separation,
          "How each rank gets its own global variables: delta (compiled by weft cc), copies "
          "of the program, none, or processes: each rank is a process of this machine, for Python "
          "and programs that weft cc has not linked (default: the best that the program allows)")
      ->check(CLI::IsMember({"delta", "copies", "none", "processes"}));
  parser.add_option("--stack", options.stack, "Stack size of a rank (default: 64 KiB to 8 MiB)")
      ->type_name("SIZE");
  return ranks;
}

void add_message_options(CLI::App& parser, SimOptions& options) {
  begin_group(parser, "Messages");
  parser
      .add_option("--payload", options.payload,
                  "Content of messages: none simulates their sizes only and delivers reductions "
                  "and broadcasts of up to 64 bytes, full delivers all data (default: none; full "
                  "with --separate processes)")
      ->type_name("none|full");
  parser
      .add_option("--compute", options.compute,
                  "Time of the program's own computing: none, measured on this machine, or "
                  "measured*FACTOR")
      ->type_name("none|measured")
      ->capture_default_str();
  auto* const coll = add_collective_option(parser, options.simulation.collectives);
  const auto list = [&options] { options.simulation.collectives = {"list"}; };
  keep_former_name(parser.add_flag_callback("--list-coll", list), coll);
  parser
      .add_option("--connections", options.simulation.connections,
                  "Connections between ranks and their cost: full, on-demand or managed, the last "
                  "with ,shortcuts=N or ,max=N ,replace=lru|random ,groups=auto|FILE (default: no "
                  "cost)")
      ->type_name("MODE")
      ->transform([](const std::string& mode) { return keep_pipe_in("groups", mode); });
}

void add_simulation_options(CLI::App& parser, SimOptions& options) {
  begin_group(parser, "Simulation");
  parser
      .add_option("--threads", options.simulation.threads,
                  "Worker threads, or 'auto' for as many as the network is worth and cores are "
                  "idle; results do not depend on their number")
      ->type_name("N")
      ->transform([](const std::string& text) { return text == "auto" ? "0" : text; })
      ->capture_default_str();
  parser
      .add_option(
          "--model", options.simulation.model,
          "How closely the network is simulated: flit (VCs share links flit by flit; slower), "
          "packet (each packet in each router), or flow (messages share links; hundreds of times "
          "faster, docs/concepts/fidelity.md)")
      ->type_name("MODEL")
      ->capture_default_str();
  parser
      .add_option(
          "--compare-models", options.models,
          "Simulate with each of these models (flit, packet, flow), and print the times, how far "
          "each is from the first, and what each cost")
      ->type_name("MODEL,MODEL,...");
  add_partition_option(parser, options.simulation.partition);
  add_seed_option(parser, options.simulation.seed, "random routing choices");
  parser
      .add_option("--start-skew", options.start_skew,
                  "Ranks start within this time, each at a moment of its own by --seed: shows what "
                  "rests on their being exactly alike (default: all at once)")
      ->type_name("TIME");
  parser
      .add_option("--until", options.until, "Stop at this simulated time (default: run to the end)")
      ->type_name("TIME");
}

void add_record_options(CLI::App& parser, SimOptions& options) {
  begin_group(parser, "Records");
  parser
      .add_option("--record", options.record,
                  "Folder for a record of the run, for weft report: as --output with --matrix, "
                  "--timeline and --series auto")
      ->type_name("DIR");
  auto* const output =
      parser
          .add_option("-o,--output", options.simulation.out,
                      "Output folder, for settings.json, summary.json, ranks.csv and calls.csv")
          ->type_name("DIR");
  keep_former_name(parser.add_option("--out", options.simulation.out), output);
  parser.add_flag("--matrix", options.simulation.matrix,
                  "Also write traffic.txt: bytes and messages of each pair of ranks");
  parser
      .add_option("--series", options.series,
                  "Also write series.h5: what each link carried in intervals of this length; auto: "
                  "intervals that grow with the run")
      ->type_name("TIME|auto");
  parser.add_flag("--timeline", options.simulation.timeline,
                  "Also write timeline.h5: the calls of each rank over time");
  add_record_output_flag(parser, options.simulation.record_output);
  parser
      .add_option("--watch", options.simulation.watched,
                  "Also write buffers.csv: buffer levels of this router (number, name or "
                  "coordinates); can be repeated")
      ->type_name("ROUTER")
      ->allow_extra_args(false);
  parser.add_option("--watch-from", options.watch_from, "Time to start watching (default: 0)")
      ->type_name("TIME");
  parser
      .add_option("--watch-until", options.watch_until, "Time to stop watching (default: the end)")
      ->type_name("TIME");
  parser
      .add_option("--watch-every", options.watch_every,
                  "Sampling interval of --watch (default: 10 ns)")
      ->type_name("TIME");
}

void add_display_options(CLI::App& parser, SimOptions& options) {
  begin_group(parser, "Display");
  // A flag, so that the next word is the program and not the port.
  parser.add_flag("--live", options.live,
                  "Show the run in a browser while it lasts, and print the address of the page; "
                  "--live=8080 chooses the port");
  add_progress_file_option(parser, options.simulation.progress_file);
  add_label_flag(parser, options.simulation.label);
  add_quiet_flag(parser, options.simulation.quiet, "summary and no progress");
  add_verbose_flag(parser, options.simulation.verbose, "speed and memory of the simulation");
}

}  // namespace

CLI::Option* add_sim_options(CLI::App& parser, SimOptions& options) {
  add_machine_options(parser, options.machine);
  CLI::Option* const ranks = add_rank_options(parser, options);
  add_message_options(parser, options);
  add_simulation_options(parser, options);
  add_record_options(parser, options);
  add_display_options(parser, options);
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
