// SPDX-License-Identifier: Apache-2.0
// All that the library knows of one rank. Thousands of them live in one operating-system process,
// as fibers on several threads: nothing here is shared, and there is no other mutable state.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
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
#include <weft/message/port/fabric.hpp>

namespace weft::coll {
class Choices;  // Which algorithms are forced.
}

namespace weft::mpi {

class Buffering;      // buffering.hpp: sends that the library finishes for the program.
class ErrorCodes;     // error_codes.hpp: what the program has added.
struct Group;         // group.hpp
struct ErrorHandler;  // handlers.hpp
struct TakenMessage;  // taken.hpp: what MPI_Mprobe found.
struct Window;        // window.hpp

// What a rank waits for now: requests of a call's own, or of the program, or a message to probe.
struct WaitingFor {
  const Request* const* requests = nullptr;
  const MPI_Request* handles = nullptr;
  int count = 0;                    // Of requests or handles.
  const Request* probed = nullptr;  // A receive that is none, only described.
};

struct Process final : public WaitTeller {
  enum class Stage : std::uint8_t { before, running, finalizing, after };

  // Keeps references to all three: a temporary would be gone at the first message.
  Process(Fabric& fabric, const mp::Options& options, Runtime& runtime);
  Process(Fabric& fabric, mp::Options&& options, Runtime& runtime) = delete;
  ~Process() override;
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  Fabric& fabric;
  Runtime& runtime;
  mp::Messenger messenger;
  const coll::Choices* choices = nullptr;  // Null: automatic choice.
  const mp::Tuning* tuning = nullptr;      // For the sends of the program from now on.
  std::vector<std::unique_ptr<const mp::Tuning>> tunings;  // Asked for so far; requests name them.

  // Time is real: nothing need be done for it to pass, and looking at the clock costs something.
  bool real_time = false;
  bool timed = true;  // Calls are timed, for the profile.

  Stage stage = Stage::before;
  int thread_level = 0;
  std::uint32_t next_context = 0;  // All from here on are free at this rank.
  std::uint32_t agreements = 0;    // On contexts, under way.
  Communicator world;
  Communicator self_only;  // MPI_COMM_SELF

  Pool<Communicator> communicators;
  Pool<Request> requests;
  Pool<Group> groups;
  Pool<InfoObject> infos;
  Pool<ErrorHandler> handlers;
  Pool<Keyval> keyvals;
  Pool<TakenMessage> taken;
  Pool<Window> windows;
  std::unique_ptr<Buffering> buffering;     // Null until a buffered send needs it.
  std::unique_ptr<ErrorCodes> error_codes;  // Null until the program adds one.
  std::unique_ptr<InfoTable> environment;   // MPI_INFO_ENV
  std::vector<std::pair<MPI_Datatype, Attributes>> type_attributes;  // Of predefined types.
  std::vector<std::pair<MPI_Datatype, std::string>> type_names;      // Given to predefined types.
  std::vector<void*> numbered;    // Datatypes and operations that Fortran knows.
  std::vector<Request*> orphans;  // Let go by the program, not yet done.

  // Where the attributes of the environment point to.
  int universe_size = 0;
  int last_used_code = MPI_ERR_LASTCODE;

  // Of the last short call: a predefined type in one piece, and its size.
  MPI_Datatype recent_type = MPI_DATATYPE_NULL;
  std::size_t recent_size = 0;

  const char* call = nullptr;  // The library's function that runs now,
  Time entered;                // and when it was called.
  WaitingFor waiting_for;
  Profile profile;

  RankId rank() const { return fabric.self(); }
  bool running() const { return stage == Stage::running || stage == Stage::finalizing; }

  // Never blocks.
  void progress();
  // After a test or probe that found nothing: lets time pass, so that a program that asks again and
  // again gets on even where a call costs nothing.
  void found_nothing();
  // The program asks what time it is. One that does nothing else sees it pass, so that a loop that
  // waits for a moment ends.
  void asked_time();
  void sweep();  // Ends what the program has let go of, as far as it is done.
  // Progress until done() says so.
  template <typename Done>
  void wait_until(Done done) {
    for (progress(); !done(); progress()) messenger.pause();
  }
  void wait_low(const mp::Request* request);
  // Runs a task to its end; gives its error code.
  int run(const mp::Task& task) {
    wait_until([&] { return task.done(); });
    return task.error();
  }

  Waiting waiting() const override;
  Duration idle() const override;

 private:
  void note_losses();
  [[noreturn]] void end_for(RankId lost);

  Idle idle_;
  std::size_t losses_ = 0;   // Of the messenger's, those that were looked at.
  Time asked_at_;            // When the program last asked for the time,
  std::uint32_t asked_ = 0;  // and how often since something else happened.
};

// The state of the rank that calls.
inline Process& self() {
  return *static_cast<Process*>(Current::layer());
}

}  // namespace weft::mpi
