// SPDX-License-Identifier: Apache-2.0
// Ranks that are processes of their own (--separate processes). All are started at once, by the
// main thread, and end with the simulator. What they print comes through pipes, and belongs to the
// rank's time at that moment.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <sys/types.h>

#include <weft/base/result.hpp>
#include <weft/program/rank_channel/rank_server.hpp>
#include <weft/program/simulated_run/console.hpp>

namespace weft {

class SeparateRanks {
 public:
  struct Command {
    std::string program;  // Its path.
    char** arguments = nullptr;
    char** environment = nullptr;
    std::string library;  // Loaded into every process: weft's MPI library.
  };
  static constexpr std::uint32_t ranks_max = 4096;

  static Result<std::unique_ptr<SeparateRanks>> start(std::uint32_t ranks, const Command& command);
  ~SeparateRanks() { end_all(); }
  SeparateRanks(const SeparateRanks&) = delete;
  SeparateRanks& operator=(const SeparateRanks&) = delete;

  RankChannel& channel(RankId rank) { return ranks_[rank.index].channel; }
  // In the rank's fiber: does what its process asks for, until the process has ended. Returns how
  // it ended, as waitpid() does.
  int serve(RankServer& server, const Fabric& fabric, Console& console);
  // Ends processes that are still there.
  void end_all();
  // The same, from a signal handler.
  static void end_now();

 private:
  struct Rank {
    RankChannel channel;
    pid_t process = 0;
    int exit = -1;  // Becomes readable when the process has ended.
    int output[2] = {-1, -1};
    bool ended = false;
  };
  SeparateRanks() = default;
  Status start_one(std::uint32_t rank, const Command& command);
  static void show(Rank& rank, const Fabric& fabric, Console& console);
  // Waits until the process asks for something, or has ended.
  static bool wait(Rank& rank, const Fabric& fabric, Console& console);

  std::vector<Rank> ranks_;
};

// "it was ended by signal 11 (Segmentation fault)", "it ended with code 1".
std::string ending_text(int status);

}  // namespace weft
