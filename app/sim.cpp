// SPDX-License-Identifier: Apache-2.0
// weft sim: runs a program's ranks on a simulated machine. The simulator runs inside the program,
// which 'weft cc' has linked with it. This file reads and checks the options, starts the program
// and waits for it.
#include <array>
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
#include "record_folder.hpp"
#include "shared_options.hpp"
#include "sim_live.hpp"
#include "sim_models.hpp"
#include "sim_options.hpp"
#include "sim_settings.hpp"
#include "sim_threads.hpp"
#include "unknown_option.hpp"
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <weft/base/file.hpp>
#include <weft/base/quantity.hpp>
#include <weft/message/coll/choose.hpp>
#include <weft/network/route/policy_plugin.hpp>
#include <weft/output/record/series_file.hpp>
#include <weft/output/record/timeline.hpp>
#include <weft/parallel/processes/launch.hpp>
#include <weft/program/simulated_run/setup_facts.hpp>
#include <weft/simulate/setup/linked.hpp>
#include <weft/simulate/setup/simulation_options.hpp>
#include <weft/simulate/setup/simulation_setup.hpp>

namespace weft::app {
namespace {

Status make_folder(const std::string& out) {
  if (out.empty()) return {};
  std::error_code failed;
  std::filesystem::create_directories(out, failed);
  if (failed) return Error::input(out + ": " + failed.message());
  return launched().self == 0 ? remove_former_record(out) : Status();
}

// Converts the raw files of the program, which has no HDF5 library, to HDF5.
Status convert_record(const SimulationOptions& simulation) {
  if (launched().self != 0) return {};
  std::error_code failed;
  const auto has = [&](const char* name) {
    return std::filesystem::exists(simulation.out + name, failed);
  };
  // A series that was written for the live page alone is not kept.
  if (simulation.series_paced) std::filesystem::remove(simulation.out + "/series.raw", failed);
  if (has("/timeline.raw")) {
    if (Status s = convert_timeline(simulation.out); !s) return s;
  }
  if (!has("/series.raw")) return {};
  auto setup = read_setup(simulation);
  if (!setup) return std::move(setup).error();
  return convert_series(simulation.out, facts_of(*setup));
}

// Forwards signals that ask weft to end to the program. A terminal sends its signals to the program
// as well, so only those of other processes are forwarded. Signals that arrive before the program
// starts are held back until then; the destructor restores the former handlers.
class SignalForwarder {
 public:
  SignalForwarder() {
    sigset_t set;
    ::sigemptyset(&set);
    for (const int signal : signals) ::sigaddset(&set, signal);
    ::sigprocmask(SIG_BLOCK, &set, &before_);
  }
  ~SignalForwarder() {
    for (std::size_t i = 0; begun_ && i < signals.size(); ++i)
      ::sigaction(signals[i], &actions_[i], nullptr);
    ::sigprocmask(SIG_SETMASK, &before_, nullptr);
  }
  SignalForwarder(const SignalForwarder&) = delete;
  SignalForwarder& operator=(const SignalForwarder&) = delete;

  // For the child process, before it becomes the program.
  void release() const { ::sigprocmask(SIG_SETMASK, &before_, nullptr); }
  void begin(pid_t program) {
    receiver = program;
    struct sigaction action = {};
    action.sa_flags = SA_SIGINFO | SA_RESTART;
    action.sa_sigaction = [](int signal, siginfo_t* info, void*) {
      if (receiver > 0 && (signal == SIGTERM || info->si_code <= 0)) ::kill(receiver, signal);
    };
    for (std::size_t i = 0; i < signals.size(); ++i) ::sigaction(signals[i], &action, &actions_[i]);
    begun_ = true;
    release();
  }
  void program_ended() { receiver = 0; }

 private:
  static constexpr std::array<int, 3> signals = {SIGINT, SIGTERM, SIGHUP};
  static inline volatile pid_t receiver = 0;
  sigset_t before_ = {};
  std::array<struct sigaction, 3> actions_ = {};
  bool begun_ = false;
};

// The path of a program as a shell would find it.
Result<std::string> find_program(const std::string& name) {
  if (name.find('/') != std::string::npos || ::access(name.c_str(), X_OK) == 0) {
    if (::access(name.c_str(), F_OK) != 0) return Error::input(name + ": no such program");
    if (std::filesystem::is_directory(name)) return Error::input(name + " is a folder");
    if (::access(name.c_str(), X_OK) != 0) return Error::input(name + " is not executable");
    return name.find('/') == std::string::npos ? "./" + name : name;
  }
  if (std::string found = find_in_path(name); !found.empty()) return found;
  return Error::input(name + ": no such program");
}

// An error of one process only, which therefore prints it itself.
Error process_error(const std::string& text) {
  const Launch launch = launched();
  if (launch.count == 1) return Error::run(text);
  const std::string whole = fmt::format("process {} of {}: {}", launch.self, launch.count, text);
  if (launch.self == 0) return Error::run(whole);
  tell("weft: error: {}\n", whole);
  std::exit(1);
}

// Runs the program and waits for it. Returns its exit code, or 128 + the signal that ended it.
Result<int> run_program(const std::string& program, const std::vector<std::string>& words,
                        const SimulationOptions& simulation, SimLive& live,
                        SignalForwarder& signals) {
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  ::setenv(simulation_variable, to_text(simulation).c_str(), 1);
  put_own_library_first();
  // Fortran shall write each record at once, so that its rank is known.
  ::setenv("GFORTRAN_UNBUFFERED_PRECONNECTED", "1", 1);
  const pid_t child = ::fork();
  if (child < 0) return Error::run(std::string("cannot start a process: ") + std::strerror(errno));
  if (child == 0) {
    signals.release();
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // The program must not outlive weft, however weft ends.
    ::execv(program.c_str(), arguments.data());
    const std::string text =
        "weft: error: " + program + " cannot be started: " + std::strerror(errno) + "\n";
    static_cast<void>(::write(2, text.data(), text.size()));
    ::_exit(3);
  }
  signals.begin(child);
  live.start();
  int status = 0;
  rusage use = {};
  while (::wait4(child, &status, 0, &use) < 0) {
    if (errno != EINTR) return Error::run(std::string("waiting: ") + std::strerror(errno));
  }
  signals.program_ended();
  live.finish();
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) {
    return process_error(fmt::format(
        "{} was killed after it had used {:.1f} MB: the machine probably ran out of memory; use "
        "fewer ranks, carry no data (--payload none), or use more processes (mpirun -np 2 weft sim "
        "...)",
        program, static_cast<double>(use.ru_maxrss) * 1024 / 1e6));
  }
  if (WIFSIGNALED(status)) {
    return process_error(fmt::format("{} was ended by signal {} ({})", program, WTERMSIG(status),
                                     strsignal(WTERMSIG(status))));
  }
  return WEXITSTATUS(status);
}

// Where ranks are processes of their own, any program will do: the simulator runs in one of weft's.
Status prepare_program(const std::string& program, SimulationOptions& simulation) {
  if (simulation.separation != "processes") return check_linked(program);
  if (launched().count > 1)
    return Error::call(
        "--separate processes: works in one process of weft sim, without mpirun; use --threads");
  std::error_code failed;
  simulation.program = std::filesystem::absolute(program, failed).string();
  return {};
}

Status simulate(const SimOptions& options, const CLI::App& parser) {
  const std::vector<std::string> words = parser.remaining();
  if (asks_for_list(options.simulation.collectives)) return print(coll::list_algorithms());
  if (options.simulation.partition == "list") return print(partition_list());
  auto requested = requested_text(options.machine);
  if (!requested) return std::move(requested).error();
  if (*requested) return print(**requested);
  if (words.empty()) return Error::call("which program? weft sim [options] PROGRAM [arguments]");
  if (words.front().starts_with('-')) {
    return Error::call(unknown_option(
        parser, words.front(),
        "; options of weft stand before the program, see weft sim --help; keys of the machine are "
        "given by --set TABLE.KEY=VALUE"));
  }
  auto completed = complete(options);
  if (!completed) return std::move(completed).error();
  if (!options.models.empty()) {
    if (launched().count > 1)
      return Error::call("--compare-models: starts runs of its own; start it without mpirun");
    const std::vector<std::string> command = own_words();
    return compare_models(options.models, command, command.size() - words.size());
  }
  SimulationOptions& simulation = *completed;
  simulation.libraries = find_home().lib;
  // The program may start in another folder.
  simulation.machine.routing = with_absolute_path(simulation.machine.routing);
  auto program = find_program(words.front());
  if (!program) return std::move(program).error();
  if (Status ready = prepare_program(*program, simulation); !ready) return ready;
  // Read here as well, so that errors in the description appear before the program starts.
  SignalForwarder signals;
  SimLive live;
  {
    const auto setup = read_setup(simulation);
    if (!setup) return Error(setup.error());
    if (launched().self == 0) warn_of(setup->machine.warnings);
    if (simulation.separation != "processes") prepare_threads(simulation, *setup);
    if (!options.live.empty()) {
      const std::string title = std::filesystem::path(*program).filename().string();
      if (Status s =
              live.prepare(options.live == "true" ? "" : options.live, simulation, *setup, title);
          !s)
        return s;
    }
    if (Status s = make_folder(simulation.out); !s) return s;
    if (launched().self == 0 && !simulation.out.empty() && !live.owns(simulation.out))
      if (Status s = write_sim_settings(simulation, *setup, {*program, words}); !s) return s;
  }
  const std::string started =
      simulation.program.empty() ? *program : find_home().lib + "/weft-separate";
  auto code = run_program(started, words, simulation, live, signals);
  if (!code) return std::move(code).error();
  if (!live.owns(simulation.out)) {
    // A failure of the program matters more than one of its record.
    if (Status s = convert_record(simulation); !s && *code != 0) {
      tell("weft: warning: {}\n", s.error().text());
    } else if (!s) {
      return s;
    }
  }
  if (*code != 0) std::exit(*code);
  return {};
}

}  // namespace

Command sim_command() {
  return {
      "sim", "Run an MPI program on a simulated machine", [](CLI::App& parser) {
        auto options = std::make_shared<SimOptions>();
        pass_on_rest(parser, "PROGRAM");
        CLI::Option* const ranks = add_sim_options(parser, *options);
        parser.footer(
            "The program must have been linked by 'weft cc', 'weft c++' or 'weft fc'; any other "
            "that uses\nlibmpi_abi.so, and Python, needs --separate processes. weft sim returns "
            "its exit code.\nTo use several machines or cores: mpirun -np 8 weft sim ..., with "
            "Open MPI or MPICH;\nresults are the same.\n"
            "Examples:\n"
            "  weft sim --net torus:8x8x8 ./halo3d 3 65536\n"
            "  weft sim --net fattree:k=8,levels=3 -n 64 --record run ./program\n"
            "  weft sim --net preset:nsim-torus --coll alltoall=bruck -o results ./program\n"
            "  weft sim --net torus:8x8x8 --compare-models packet,flow ./halo3d 3 65536\n"
            "  weft sim --separate processes -n 16 --net torus:4x4 python3 halo.py");
        return std::function<Status()>([options, ranks, &parser] {
          options->ranks_given = ranks->count() > 0;
          Status ended = simulate(*options, parser);
          // All processes end alike, and mpirun kills all as soon as one fails. So only process
          // 0 fails, after it has printed the reason.
          return launched().self == 0 ? std::move(ended) : Status();
        });
      }};
}

}  // namespace weft::app
