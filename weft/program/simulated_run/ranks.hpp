// SPDX-License-Identifier: Apache-2.0
// The ranks of a simulated program: each runs the program's main with its own data, arguments and
// MPI library, and ends alone or aborts the job.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <weft/base/units.hpp>
#include <weft/message/coll/choose.hpp>
#include <weft/message/conn/managed.hpp>
#include <weft/message/mpi/process.hpp>
#include <weft/message/mpi/runtime.hpp>
#include <weft/program/globals/program_copies.hpp>
#include <weft/program/run_record/call_timeline.hpp>
#include <weft/program/run_record/tables.hpp>
#include <weft/program/simulated_run/console.hpp>
#include <weft/program/simulated_run/crash.hpp>
#include <weft/program/simulated_run/separate_ranks.hpp>
#include <weft/program/simulated_run/served_files.hpp>
#include <weft/simulate/nodes/world.hpp>
#include <weft/simulate/setup/simulation_setup.hpp>

namespace weft {

// The program's arguments as the system passed them.
struct ProgramCall {
  ProgramCopies::Main main = nullptr;
  int count = 0;
  char** arguments = nullptr;
  char** environment = nullptr;
};

// Totals of a window, a part of the program that it named itself: what its ranks did between start
// and stop.
struct WindowTotals {
  std::uint64_t entries = 0;
  Time first_start = Time::never(), last_stop;
  Duration inside, waited, spent;
  std::uint64_t messages = 0, bytes = 0;
};

// How messages were sent, over all ranks.
struct ProtocolCounts {
  std::uint64_t eager = 0, rendezvous = 0;
  std::uint64_t unexpected = 0;  // Came before their receives, whatever the protocol.

  void add(const ProtocolCounts& more);
};

struct Note {
  Time at;
  RankId rank;
  std::string text;
};

class ProgramRanks final : public RankBody, public mpi::Runtime {
 public:
  ProgramRanks(const SimulationSetup& setup, const coll::Choices& collectives,
               ProgramCopies& copies, Console& console);
  void attach(World& world, const ProgramCall& call);
  // Call before ranks run: their threads are simulated. `cores`: what OpenMP is told.
  void allow_threads(std::uint32_t cores) {
    has_threads_ = true;
    cores_ = cores;
  }
  bool has_threads() const { return has_threads_; }
  std::uint32_t cores() const { return cores_; }
  // Call before ranks run: they are processes of their own, whose computing counts by this factor.
  void separate(SeparateRanks& processes, double compute_factor);
  // Whether any of these processes has called MPI.
  bool any_joined() const;
  // Call before ranks run: records each rank's calls for the timeline.
  void keep_timelines();

  void run(const Fabric& fabric) override;
  void enter(RankId rank) override {
    prepare_thread_for_crashes();
    if (processes_of_ranks_ == nullptr) copies_.enter(rank.index);
  }
  void leave(RankId rank) override {
    if (processes_of_ranks_ == nullptr) copies_.leave(rank.index);
  }
  void begin_thread(RankId rank, bool main) override;
  void leave() override;

  [[noreturn]] void abort(RankId rank, int code, const std::string& message) override;
  std::string processor_name(RankId rank) const override;
  int thread_level() const override {
    return has_threads_ ? MPI_THREAD_MULTIPLE : MPI_THREAD_FUNNELED;
  }
  bool admit_threads() override;
  std::uint32_t node_of(RankId rank) const override { return setup_.placement->node(rank); }

  // Thousands of ranks may open a file; the process has one descriptor of it.
  std::shared_ptr<mpi::FileDescriptor> open_file(const std::string& path, int flags,
                                                 int& error) override {
    return descriptors_.open(path, flags, error);
  }
  Storage* storage(RankId rank) override { return world_->storage(rank); }
  void access_file(FileOperation& operation) override { served_files_.run(operation); }
  void place_memory(const void* data, std::size_t size, int socket) override;
  void begin_window(const std::string& name) override;
  void end_window() override;
  void note(const std::string& text) override;
  bool recall(std::uint64_t key, void* data, std::size_t size) override;
  void remember(std::uint64_t key, const void* data, std::size_t size) override;

  // The program called exit() in a rank. `handlers`: whether exit handlers run.
  [[noreturn]] void exit_rank(int code, bool handlers);

  struct Abort {
    Time at;
    RankId rank;
    int code = 0;
    std::string message;
  };
  // Call between runs. Covers the ranks of this process.
  std::vector<Abort> aborts() const;  // By time, then rank.
  int code(RankId rank) const { return codes_[rank.index]; }
  conn::Counts connections(RankId rank) const;
  std::map<std::string, CallTotals> calls() const;
  std::uint64_t clock_reads() const;  // By the program, so far.
  ProtocolCounts protocols() const;
  AlgorithmTable algorithms() const;
  std::map<std::string, WindowTotals> windows() const;
  std::vector<Note> notes() const;  // By time, then rank.
  std::vector<CallTimelinePart> timelines() const;

  static ProgramRanks* current() { return current_; }

 private:
  void finish(const Fabric& fabric, int code);
  void run_separately(const Fabric& fabric);
  RankWelcome welcome(const Fabric& network) const;
  void end_rank(const Fabric& fabric, int code);
  static void add_profile(const mpi::Process& process, CallTable& totals);
  static ProtocolCounts protocols_of(const mpi::Process& process);

  const SimulationSetup& setup_;
  const coll::Choices& collectives_;
  ProgramCopies& copies_;
  Console& console_;
  World* world_ = nullptr;
  ProgramCall call_;
  std::vector<std::unique_ptr<mpi::Process>> processes_;  // By rank, while it runs.
  std::vector<std::unique_ptr<conn::Managed>> managed_;   // By rank, while it runs; or empty.
  std::vector<std::unique_ptr<CallTimeline>> timelines_;  // By rank; or empty.
  std::vector<conn::Counts> connections_;                 // By rank, once it has ended.
  std::vector<int> codes_;
  mpi::SharedDescriptors descriptors_;
  ServedFiles served_files_;
  mutable std::mutex mutex_;  // Guards the following.
  std::map<std::string, CallTotals> totals_;
  ProtocolCounts protocols_;  // Of ranks that have ended.
  std::vector<Abort> aborts_;
  struct OpenWindow {
    std::string name;
    Time since;
    RankCounts before;
  };
  std::map<std::uint32_t, OpenWindow> open_windows_;  // By rank.
  std::map<std::string, WindowTotals> windows_;
  std::vector<Note> notes_;
  std::map<std::uint64_t, std::vector<std::byte>> keys_;
  bool has_threads_ = false;
  std::uint32_t cores_ = 1;
  SeparateRanks* processes_of_ranks_ = nullptr;  // Null: ranks live in this process.
  double compute_factor_ = 0;
  std::vector<std::unique_ptr<RankServer>> servers_;  // By rank, of those processes.
  static ProgramRanks* current_;
};

}  // namespace weft
