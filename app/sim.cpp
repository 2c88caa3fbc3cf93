// SPDX-License-Identifier: Apache-2.0
// weft sim: a program's ranks on a simulated machine. The simulator runs inside the program, which
// was linked with it by 'weft cc'; here the plan is made and checked, and the program started.
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "command.hpp"
#include "home.hpp"
#include "output.hpp"
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <weft/base/file.hpp>
#include <weft/base/quantity.hpp>
#include <weft/coll/choose.hpp>
#include <weft/part/part.hpp>
#include <weft/peers/launch.hpp>
#include <weft/record/series_file.hpp>
#include <weft/scene/linked.hpp>
#include <weft/scene/plan.hpp>
#include <weft/scene/scene.hpp>

namespace weft::app {
namespace {

struct SimOptions {
  Plan plan;
  std::int64_t ranks = 0, ranks_per_node = 1;
  std::string payload = "none", compute = "none", stack, until, series;
  std::string watch_from, watch_until, watch_every;
  bool list_collectives = false, ranks_given = false;
};

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

Status read_times(const SimOptions& options, Plan& plan) {
  for (const Status& read : {
           read_time("--until", options.until, plan.until),
           read_duration("--series", options.series, Duration::ns(1), plan.series),
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

Status complete(const SimOptions& options, Plan& plan) {
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
      (plan.matrix || plan.series > Duration::zero() || !plan.watched.empty())) {
    return Error::call("--matrix, --series and --watch write files: say where with --out DIR");
  }
  coll::Choices choices;
  for (const std::string& text : plan.collectives) {
    if (Status s = choices.force(text); !s) return Error::call("--coll: " + s.error().message());
  }
  return {};
}

Status make_folder(const std::string& out) {
  if (out.empty()) return {};
  std::error_code failed;
  std::filesystem::create_directories(out, failed);
  if (failed) return Error::input(out + ": " + failed.message());
  return {};
}

// As a shell would find it.
Result<std::string> find_program(const std::string& name) {
  if (name.find('/') != std::string::npos || ::access(name.c_str(), X_OK) == 0) {
    if (::access(name.c_str(), F_OK) != 0) return Error::input(name + ": no such program");
    if (std::filesystem::is_directory(name)) return Error::input(name + " is a folder");
    if (::access(name.c_str(), X_OK) != 0) return Error::input(name + " is not executable");
    return name.find('/') == std::string::npos ? "./" + name : name;
  }
  const char* const path = std::getenv("PATH");
  std::string rest = path == nullptr ? "" : path;
  while (!rest.empty()) {
    const std::size_t colon = std::min(rest.find(':'), rest.size());
    const std::string candidate = rest.substr(0, colon) + "/" + name;
    if (::access(candidate.c_str(), X_OK) == 0) return candidate;
    rest.erase(0, colon + 1);
  }
  return Error::input(name + ": no such program");
}

// What happened to one process only, whichever it is, must be told by that one.
Error lost(const std::string& text) {
  const Launch launch = launched();
  if (launch.count == 1) return Error::run(text);
  const std::string whole = fmt::format("process {} of {}: {}", launch.self, launch.count, text);
  if (launch.self == 0) return Error::run(whole);
  fmt::print(stderr, "weft: error: {}\n", whole);
  std::exit(1);
}

// Runs the program and waits for it; its exit code, or 128 and the signal that ended it.
Result<int> run_program(const std::string& program, const std::vector<std::string>& words,
                        const Plan& plan) {
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  ::setenv(plan_variable, to_text(plan).c_str(), 1);
  // Each record of Fortran goes out at once, so that we know whose it is.
  ::setenv("GFORTRAN_UNBUFFERED_PRECONNECTED", "1", 1);
  // Threads of OpenMP would be the process's, not the rank's, and find somebody else's variables.
  for (const char* name : {"OMP_NUM_THREADS", "OMP_THREAD_LIMIT", "OPENBLAS_NUM_THREADS"})
    ::setenv(name, "1", 1);
  ::setenv("KMP_WARNINGS", "0", 0);  // Clang's OpenMP would mention it for every rank.
  const pid_t child = ::fork();
  if (child < 0) return Error::run(std::string("cannot start a process: ") + std::strerror(errno));
  if (child == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // Whatever ends us must not leave it behind.
    ::execv(program.c_str(), arguments.data());
    const std::string text =
        "weft: error: " + program + " cannot be started: " + std::strerror(errno) + "\n";
    static_cast<void>(::write(2, text.data(), text.size()));
    ::_exit(3);
  }
  // Ctrl-C reaches the program too; it ends in order, and so do we. A request to end is passed on.
  static pid_t told = 0;
  told = child;
  std::signal(SIGINT, SIG_IGN);
  std::signal(SIGTERM, [](int signal) { ::kill(told, signal); });
  int status = 0;
  rusage use = {};
  while (::wait4(child, &status, 0, &use) < 0) {
    if (errno != EINTR) return Error::run(std::string("waiting: ") + std::strerror(errno));
  }
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) {
    return lost(fmt::format(
        "{} was killed after it had used {:.1f} MB: the machine probably ran out of memory; use "
        "fewer ranks, carry no data (--payload none), or more processes (mpirun -np 2 weft sim "
        "...)",
        program, static_cast<double>(use.ru_maxrss) * 1024 / 1e6));
  }
  if (WIFSIGNALED(status)) {
    return lost(fmt::format("{} was ended by signal {} ({})", program, WTERMSIG(status),
                            strsignal(WTERMSIG(status))));
  }
  return WEXITSTATUS(status);
}

Status simulate(const SimOptions& options, const std::vector<std::string>& words) {
  if (options.list_collectives) return print(coll::list_algorithms());
  if (options.plan.partition == "list") return print(list_cuts());
  if (words.empty()) return Error::call("which program? weft sim [options] PROGRAM [arguments]");
  if (words.front().starts_with('-')) {
    return Error::call("unknown option '" + words.front() +
                       "'; options of weft stand before the program, see weft sim --help");
  }
  Plan plan = options.plan;
  if (Status s = complete(options, plan); !s) return s;
  plan.libraries = find_home().lib;
  auto program = find_program(words.front());
  if (!program) return std::move(program).error();
  if (Status linked = check_linked(*program); !linked) return linked;
  // Everything that can be wrong with the machine is told before the program starts.
  if (auto scene = read_scene(plan); !scene) return std::move(scene).error();
  if (Status s = make_folder(plan.out); !s) return s;
  auto code = run_program(*program, words, plan);
  if (!code) return std::move(code).error();
  if (plan.series > Duration::zero() && launched().self == 0) {
    auto scene = read_scene(plan);
    if (!scene) return std::move(scene).error();
    if (Status s = convert_series(plan.out, *scene->topology); !s) return s;
  }
  if (*code != 0) std::exit(*code);
  return {};
}

// Returns the option for the number of ranks.
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
                    "Also series.h5: what each link carried, in intervals of this length");
  parser
      .add_option("--watch", options.plan.watched,
                  "Also buffers.csv: levels of this router's buffers (a number, a name or "
                  "coordinates); repeat for more")
      ->allow_extra_args(false);
  parser.add_option("--watch-from", options.watch_from, "Begin to watch (default: at once)");
  parser.add_option("--watch-until", options.watch_until, "and end (default: never)");
  parser.add_option("--watch-every", options.watch_every, "Look so often (default: 10 ns)");
  parser.add_option("--progress-file", options.plan.progress_file,
                    "A line of JSON that says how far it has come, for jobs that nobody watches");
  parser.add_flag("--label", options.plan.label, "Begin each line of a rank with [rank]");
  parser.add_flag("-q,--quiet", options.plan.quiet, "No summary, no progress");
  parser.add_flag("-v,--verbose", options.plan.verbose, "Also speed and memory of the simulation");
}

}  // namespace

Command sim_command() {
  return {"sim", "Run an MPI program on a simulated machine", [](CLI::App& parser) {
            auto options = std::make_shared<SimOptions>();
            take_rest(parser, "PROGRAM");
            CLI::Option* const ranks = add_machine_options(parser, *options);
            add_run_options(parser, *options);
            add_output_options(parser, *options);
            parser.footer(
                "The program must have been linked by 'weft cc', 'weft c++' or 'weft fc'. Its exit "
                "code is passed on.\nOn several machines or cores: mpirun -np 8 weft sim ... with "
                "Open MPI or MPICH; same results.");
            return std::function<Status()>([options, ranks, &parser] {
              options->ranks_given = ranks->count() > 0;
              Status ended = simulate(*options, parser.remaining());
              // All find the same, and a launcher ends all when one fails: that is left to process
              // 0, which has something to say first.
              return launched().self == 0 ? std::move(ended) : Status();
            });
          }};
}

}  // namespace weft::app
