// SPDX-License-Identifier: Apache-2.0
#include "sim_threads.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string>

#include <fmt/format.h>

#include <weft/base/file.hpp>
#include <weft/parallel/fiber/futex_trap.hpp>

namespace weft::app {

namespace {

// Of the system for this process; 0: unknown.
std::uint64_t number_in(const char* file) {
  const auto text = read_file(file);
  if (!text) return 0;
  return std::strtoull(text->c_str(), nullptr, 10);
}

// A rank with OpenMP is a thread of the system, and a thread takes two mappings.
std::uint64_t ranks_max() {
  constexpr std::uint64_t usual = 32'000;
  std::uint64_t most = usual;
  const std::uint64_t limits[] = {
      number_in("/proc/sys/kernel/threads-max"), number_in("/proc/sys/kernel/pid_max"),
      number_in("/sys/fs/cgroup/pids.max"), number_in("/proc/sys/vm/max_map_count") / 2};
  for (const std::uint64_t limit : limits)
    if (limit > 0) most = std::min(most, limit);
  return most / 2;  // The rest is for threads that ranks make, and for others.
}

std::string find_obstacle(const SimulationSetup& setup) {
  const char* const loaded = std::getenv("LD_PRELOAD");
  if (loaded != nullptr && std::strstr(loaded, "vgpreload") != nullptr)
    return "valgrind hides system calls";
  const std::string& found = FutexTrap::obstacle();
  const std::uint32_t ranks = setup.placement->ranks();
  if (!found.empty() || ranks <= ranks_max()) return found;
  return fmt::format("{} ranks are more than the {} threads that this machine can spare", ranks,
                     ranks_max());
}

}  // namespace

// Threads that wait must do so in a call that the simulator sees: they may not poll. A team of
// Clang's library keeps its threads, which would otherwise serve the next rank.
void prepare_threads(SimulationOptions& options, const SimulationSetup& setup) {
  options.thread_obstacle = find_obstacle(setup);
  ::setenv("KMP_WARNINGS", "0", 0);  // Clang's OpenMP would warn of this for every rank.
  ::setenv("OPENBLAS_NUM_THREADS", "1", 1);
  if (!options.thread_obstacle.empty()) {
    for (const char* const name : {"OMP_NUM_THREADS", "OMP_THREAD_LIMIT"}) ::setenv(name, "1", 1);
    return;
  }
  ::setenv("OMP_NUM_THREADS", std::to_string(cores_told(options, setup)).c_str(), 0);
  for (const char* const name : {"OMP_DYNAMIC", "OMP_PROC_BIND"}) ::setenv(name, "false", 1);
  for (const char* const name : {"OMP_PLACES", "GOMP_CPU_AFFINITY"}) ::unsetenv(name);
  const char* const values[][2] = {
      {"OMP_WAIT_POLICY", "passive"}, {"GOMP_SPINCOUNT", "0"},
      {"KMP_BLOCKTIME", "0"},         {"KMP_AFFINITY", "disabled"},
      {"KMP_HOT_TEAMS_MODE", "1"},    {"KMP_HOT_TEAMS_MAX_LEVEL", "4"}};
  for (const auto& [name, value] : values) ::setenv(name, value, 1);
}

}  // namespace weft::app
