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

Status read_series(const std::string& text, Plan& plan) {
  if (text != "auto") return read_duration("--series", text, Duration::ns(1), plan.series);
  plan.series = Duration::ns(100);
  plan.series_grows = true;
  return {};
}

namespace {

Status read_times(const SimOptions& options, Plan& plan) {
  for (const Status& read : {
           read_time("--until", options.until, plan.until),
           read_series(options.series, plan),
           read_time("--watch-from", options.watch_from, plan.watch_from),
           read_time("--watch-until", options.watch_until, plan.watch_until),
           read_duration("--watch-every", options.watch_every, Duration::ps(1), plan.watch_every),
       }) {
    if (!read) return Error(read.error());
  }
  if (plan.watched.empty() &&
      !(options.watch_from + options.watch_until + options.watch_every).empty()) {
    return Error::call("--watch-from, -until and -every say when: say which routers by --watch");
  }
  if (plan.watch_until < plan.watch_from)
    return Error::call("--watch-until: lies before --watch-from");
  return {};
}

// --record DIR: all that weft report can show.
Status add_record(SimOptions& options, Plan& plan) {
  if (options.record.empty()) return {};
  if (!plan.out.empty()) return Error::call("--record DIR and --out DIR: give one of them");
  plan.out = options.record;
  plan.matrix = plan.timeline = true;
  if (options.series.empty()) options.series = "auto";
  return {};
}

}  // namespace

Status complete(SimOptions options, Plan& plan) {
  if (Status s = add_record(options, plan); !s) return s;
  if (options.ranks_given) {
    if (Status s = read_count("-n", options.ranks, plan.ranks); !s) return s;
  }
  if (Status s = read_count("--ranks-per-node", options.ranks_per_node, plan.ranks_per_node); !s)
    return s;
  if (options.payload != "none" && options.payload != "full")
    return Error::call("--payload: '" + options.payload + "' is not none or full");
  plan.carry_data = options.payload == "full";
  const auto factor = parse_compute(options.compute);
  if (!factor) return Error(factor.error());
  plan.compute_factor = *factor;
  if (!options.stack.empty()) {
    const auto stack = parse_bytes(options.stack);
    if (!stack || stack->count < (1 << 14) || stack->count > (std::int64_t{1} << 34))
      return Error::call("--stack: '" + options.stack + "' is no size from 16 KiB to 16 GiB");
    plan.stack = *stack;
  }
  if (Status s = read_times(options, plan); !s) return s;
  if (plan.threads < 1 || plan.threads > 63) return Error::call("--threads: must lie in 1 to 63");
  if (plan.threads > 1 && launched().count > 1)
    return Error::call("--threads: each of several processes has one; start more processes");
  if (const auto cut = parse_cut(plan.partition); !cut)
    return Error::call("--partition: " + cut.error().message());
  if (plan.out.empty() &&
      (plan.matrix || plan.timeline || plan.series > Duration::zero() || !plan.watched.empty())) {
    return Error::call(
        "--matrix, --series, --timeline and --watch write files: say where with --out DIR");
  }
  coll::Choices choices;
  for (const std::string& text : plan.collectives) {
    if (Status s = choices.force(text); !s) return Error::call("--coll: " + s.error().message());
  }
  return {};
}

namespace {

CLI::Option* add_machine_options(CLI::App& parser, SimOptions& options) {
  parser.add_option("--net", options.plan.net, "Network: a spec (torus:8x8x8) or a *.toml file");
  CLI::Option* const ranks =
      parser.add_option("-n,--ranks", options.ranks, "Ranks (default: one for every place)");
  parser.add_option("--ranks-per-node", options.ranks_per_node, "Places on a node")
      ->capture_default_str();
  parser.add_option("--map", options.plan.map,
                    "Which rank runs where: a line 'RANK NODE' for each");
  parser.add_option("--connections", options.plan.connections,
                    "What connections cost and how many there are: full, on-demand, managed (with "
                    ",shortcuts=N or ,max=N ,replace=lru|random ,groups=auto|FILE). Default: they "
                    "cost nothing");
  parser.add_option("--routing", options.plan.routing,
                    "Routing policy (weft traffic --routing list)");
  parser.add_option("--set", options.plan.sets, "Change a key of the network file: node.rails=2")
      ->allow_extra_args(false);
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
  parser.add_option("--coll", options.plan.collectives, "Force an algorithm: alltoall=bruck")
      ->allow_extra_args(false);
  parser.add_flag("--list-coll", options.list_collectives, "List collective algorithms");
  parser
      .add_option("--threads", options.plan.threads, "Worker threads; results do not depend on it")
      ->capture_default_str();
  parser
      .add_option("--partition", options.plan.partition,
                  "How the network is shared out among threads or processes ('list' shows the "
                  "ways); results do not depend on it")
      ->capture_default_str();
  parser.add_option("--seed", options.plan.seed, "Of random choices in routing")
      ->capture_default_str();
  parser.add_option("--stack", options.stack, "Stack of a rank (default: 64 KiB to 8 MiB)");
  parser.add_option("--until", options.until, "Stop at this simulated time");
  parser
      .add_option("--separate", options.plan.separation,
                  "How ranks get their own globals: delta (compiled by weft cc), copies, "
                  "none (default: the best that the program allows)")
      ->check(CLI::IsMember({"delta", "copies", "none"}));
}

void add_output_options(CLI::App& parser, SimOptions& options) {
  parser.add_option("--out", options.plan.out, "Folder for summary.json, ranks.csv, calls.csv");
  parser.add_flag("--matrix", options.plan.matrix, "Also traffic.txt: bytes and messages per pair");
  parser.add_option("--series", options.series,
                    "Also series.h5: what each link carried, in intervals of this length; auto: of "
                    "a length that grows with the run");
  parser.add_flag("--timeline", options.plan.timeline,
                  "Also timeline.h5: in which call each rank was when");
  parser.add_option("--record", options.record,
                    "Folder for all that weft report shows: --out with --matrix, --timeline and "
                    "--series auto");
  parser
      .add_option("--watch", options.plan.watched,
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
  parser.add_option("--progress-file", options.plan.progress_file,
                    "A line of JSON that says how far it has come, for jobs that nobody watches");
  parser.add_flag("--label", options.plan.label, "Begin each line of a rank with [rank]");
  parser.add_flag("-q,--quiet", options.plan.quiet, "No summary, no progress");
  parser.add_flag("-v,--verbose", options.plan.verbose, "Also speed and memory of the simulation");
}

}  // namespace

CLI::Option* add_sim_options(CLI::App& parser, SimOptions& options) {
  CLI::Option* const ranks = add_machine_options(parser, options);
  add_run_options(parser, options);
  add_output_options(parser, options);
  return ranks;
}

}  // namespace weft::app
