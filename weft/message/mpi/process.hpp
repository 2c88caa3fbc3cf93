// SPDX-License-Identifier: Apache-2.0
// The library's state of one rank. Thousands of them live in one operating-system process, as
// fibers on several threads: nothing here is shared, and there is no other mutable state. Where
// several threads of a program call (CallLock), one of them is inside at a time.
#pragma once

#include <atomic>
#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include <weft/message/mp/messenger.hpp>
#include <weft/message/mp/options.hpp>
#include <weft/message/mp/task.hpp>
#include <weft/message/mpi/comm.hpp>
#include <weft/message/mpi/idle.hpp>
#include <weft/message/mpi/pool.hpp>
#include <weft/message/mpi/profile.hpp>
#include <weft/message/mpi/request.hpp>
#include <weft/message/mpi/runtime.hpp>
#include <weft/message/port/call_lock.hpp>
#include <weft/message/port/fabric.hpp>

namespace weft::coll {
class Choices;  // Forced algorithms.
}

namespace weft::mpi {

class Buffering;      // buffering.hpp: buffered sends.
class Consensus;      // consensus.hpp: agreement in spite of failures.
class ErrorCodes;     // error_codes.hpp: codes added by the program.
struct File;          // file.hpp
struct Group;         // group.hpp
struct ErrorHandler;  // handlers.hpp
struct Session;       // session.hpp
struct TakenMessage;  // taken.hpp: a message found by MPI_Mprobe.
class Tool;           // tool.hpp: the tool interface.
struct Window;        // window.hpp

// What a rank waits for: requests of a blocking call, requests of the program, or a message to
// probe.
struct WaitingFor {
  const Request* const* requests = nullptr;
  const MPI_Request* handles = nullptr;
  int count = 0;                    // Number of requests or handles.
  const Request* probed = nullptr;  // Describes the probe as a receive.
};

struct Process final : public WaitTeller {
  enum class Stage : std::uint8_t { before, running, finalizing, after };

  // Keeps references to options and runtime: a temporary would be gone at the first message.
  Process(const Fabric& fabric, const mp::Options& options, Runtime& runtime);
  Process(const Fabric& fabric, mp::Options&& options, Runtime& runtime) = delete;
  ~Process() override;
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  const Fabric fabric;
  Runtime& runtime;
  mp::Messenger messenger;
  const coll::Choices* choices = nullptr;  // Null: automatic.
  const mp::Tuning* tuning = nullptr;      // For sends of the program from now on,
  const mp::Tuning* set_tuning = nullptr;  // and for those after the current call.
  // All that were used; requests point to them.
  std::vector<std::unique_ptr<const mp::Tuning>> tunings;

  // Time is real: it passes by itself, and reading the clock costs something.
  bool real_time = false;
  bool timed = true;  // Calls are timed, for the profile.

  // Any thread may ask how far the rank is, at any time.
  std::atomic<Stage> stage = Stage::before;
  // The program may communicate without MPI_Init: within a session.
  std::atomic<std::uint32_t> open_sessions = 0;
  // All sessions have ended, but the program may begin another: it leaves the job when it ends.
  bool leaves_at_exit = false;
  bool has_left = false;  // The job.
  int thread_level = 0;
  pthread_t main_thread{};         // The one that called MPI_Init.
  std::uint32_t next_context = 0;  // This and all greater ones are unused at this rank.
  std::uint32_t agreements = 0;    // Agreements on contexts in progress.
  Communicator world;
  // MPI_COMM_SELF. Made when it is first asked for: most ranks have no use for it.
  Communicator& self_only() { return self_only_ == nullptr ? make_self_only() : *self_only_; }
  Communicator* self_only_if_made() const { return self_only_.get(); }

  Pool<Communicator> communicators;
  Pool<Request, 4> requests;
  // Stands for each send that left at once, as long as the program holds its handle: null until the
  // first of them.
  Request* sent = nullptr;
  std::uint32_t sends_held = 0;
  RarePool<Group> groups;
  RarePool<InfoObject> infos;
  RarePool<ErrorHandler> handlers;
  RarePool<Keyval> keyvals;
  RarePool<TakenMessage> taken;
  RarePool<Window> windows;
  RarePool<File> files;
  RarePool<Session> sessions;
  std::unique_ptr<Buffering> buffering;             // Null until the first buffered send.
  std::unique_ptr<ErrorCodes> error_codes;          // Null until the program adds one.
  std::unique_ptr<InfoTable> environment;           // MPI_INFO_ENV
  std::unique_ptr<Tool> tool;                       // Null until MPI_T_init_thread.
  std::unique_ptr<Consensus> consensus;             // Null until it is needed.
  std::unordered_set<std::uint32_t> revoked;        // Contexts.
  MPI_Comm parent = MPI_COMM_NULL;                  // Leads to the ranks that asked for this one.
  std::vector<std::uint32_t> connected;             // Other worlds, as the launcher was told.
  MPI_Errhandler file_handler = MPI_ERRORS_RETURN;  // Of MPI_FILE_NULL.
  // Representations of data in files: their names, and whether functions of the program convert.
  std::vector<std::pair<std::string, bool>> representations;
  std::uint32_t partition_tags = 0;  // How many tags partitioned sends have taken.
  // Of predefined types. A list: they stay where they are while functions of the program run, and
  // most ranks have none.
  std::list<std::pair<MPI_Datatype, Attributes>> type_attributes;
  std::vector<std::pair<MPI_Datatype, std::string>> type_names;  // Given to predefined types.
  std::vector<void*> numbered;    // Datatypes and operators that have Fortran numbers.
  std::vector<Request*> orphans;  // Freed by the program but not yet done.

  // Storage for the attributes of the environment.
  int universe_size = 0, application = 0;
  int last_used_code = MPI_ERR_LASTCODE;

  // From the last short call: a contiguous predefined type and its size.
  MPI_Datatype recent_type = MPI_DATATYPE_NULL;
  std::size_t recent_size = 0;

  const char* call = nullptr;  // The library function that is running,
  Time entered;                // and when it was called.
  WaitingFor waiting_for;
  Profile profile;

  // Takes what the program made before MPI_Init, when the rank was not yet known.
  void take_over(Process& earlier);

  RankId rank() const { return fabric.self; }
  Stage how_far() const { return stage.load(std::memory_order_acquire); }
  bool running() const {
    const Stage now = stage.load(std::memory_order_relaxed);
    return now == Stage::running || now == Stage::finalizing ||
           open_sessions.load(std::memory_order_relaxed) > 0;
  }

  // Never blocks.
  void progress();
  // After a test or probe that found nothing: lets time pass, so that a program that polls makes
  // progress even if a call costs nothing.
  void found_nothing();
  // The program read the clock. If it does nothing else time passes, so that a loop that waits for
  // a moment ends.
  void asked_time();
  void sweep();  // Frees requests that the program has released and that are done.
  // Makes progress until done() returns true. Any thread that is inside may ask it.
  template <typename Done>
  void wait_until(Done done) {
    if (CallLock* const lock = CallLock::active(); lock != nullptr) [[unlikely]] {
      CallLock::Waiter me(done);
      wait_among_threads(*lock, me);
      return;
    }
    for (progress(); !done(); progress()) messenger.pause();
  }
  // The same for a done() that waits itself: only the calling thread asks it.
  template <typename Done>
  void wait_until_own(Done done) {
    if (CallLock* const lock = CallLock::active(); lock != nullptr) [[unlikely]] {
      CallLock::Waiter me(done);
      me.only_itself = true;
      wait_among_threads(*lock, me);
      return;
    }
    for (progress(); !done(); progress()) messenger.pause();
  }
  // Or until a receive from any rank of this communicator is in doubt; null: it is of one rank.
  void wait_low(const mp::Request* request, const Communicator* any_of = nullptr);
  // Runs a task to completion; returns its error code.
  int run(const mp::Task& task) {
    wait_until([&] { return task.done(); });
    return task.error();
  }

  // Runs a function of the program that may wait for other threads: they may enter meanwhile.
  template <typename Function>
  auto outside(Function function) {
    const ThreadOutside left(*this);
    return function();
  }
  // Before the calling thread leaves: looks at the network for threads that sleep there.
  void help_waiters(CallLock& lock);

  // What the loss of a rank means for this one may have changed: tells the launcher.
  void consider_losses();
  // The program uses functions for failures.
  void recover();

  Waiting waiting() const override;
  std::vector<Waiting> threads_waiting() const override;
  Duration idle() const override;
  std::uint64_t clock_reads() const { return clock_reads_; }  // By the program.

 private:
  // While it lives other threads may enter: puts away what belongs to the call of this thread.
  class CallPutAway {
   public:
    explicit CallPutAway(Process& process);
    ~CallPutAway();
    CallPutAway(const CallPutAway&) = delete;
    CallPutAway& operator=(const CallPutAway&) = delete;

    Waiting waiting() const;
    const CallPutAway* next() const { return next_; }

   private:
    Process& process_;
    CallPutAway *before_ = nullptr, *next_;  // Those of other threads.
    std::uint32_t thread_;
    const char* call_;
    Time entered_;
    WaitingFor waiting_for_;
    const mp::Tuning* tuning_;
  };
  class ThreadOutside {
   public:
    explicit ThreadOutside(Process& process);
    ~ThreadOutside();
    ThreadOutside(const ThreadOutside&) = delete;
    ThreadOutside& operator=(const ThreadOutside&) = delete;

   private:
    CallLock* lock_;
    std::optional<CallPutAway> away_;
    unsigned depth_ = 0;
  };
  Communicator& make_self_only();
  Waiting describe_wait(const char* call_name, const WaitingFor& wait) const;
  void wait_among_threads(CallLock& lock, CallLock::Waiter& me);
  void note_news();
  void note_losses();
  [[noreturn]] void end_for(RankId lost);

  std::unique_ptr<Communicator> self_only_;
  Idle idle_;
  std::uint64_t news_ = 0;              // Of the messenger, that were handled,
  std::size_t losses_ = 0;              // and how many of them were losses,
  bool misses_ = false;                 // some of ranks that this one is connected to.
  Resilience told_ = Resilience::none;  // To the launcher.
  bool recovers_ = false;
  Time asked_at_;            // When the program last read the clock,
  std::uint32_t asked_ = 0;  // and how often since anything else happened.
  std::uint64_t clock_reads_ = 0;
  CallPutAway* put_away_ = nullptr;  // The first of the threads that wait.
};

[[noreturn]] void refuse_thread();

// The state of the calling rank.
inline Process& self() {
  auto* const process = static_cast<Process*>(Current::layer());
  if (process == nullptr) [[unlikely]]
    refuse_thread();
  return *process;
}

}  // namespace weft::mpi
