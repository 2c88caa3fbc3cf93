// SPDX-License-Identifier: Apache-2.0
// The object behind an MPI_Request. Pooled per rank.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <weft/message/mp/messenger.hpp>
#include <weft/message/mp/task.hpp>
#include <weft/message/mpi/comm.hpp>
#include <weft/message/mpi/include/mpi.h>

namespace weft::mpi {

struct Process;
class Datatype;
struct BufferedSend;
struct Request;

// A request of several steps: a collective, non-blocking or persistent. Lives as long as its
// request, so it may own what the task works on.
class Operation {
 public:
  virtual ~Operation() = default;
  // Starts the steps; a persistent request calls it for each MPI_Start. The task itself does
  // everything that remains at the end (unpacking, for example); it returns an MPI error code.
  virtual mp::Task start() = 0;
  // The finished receive whose status is that of the whole; null if there is none.
  virtual const Request* status_of() const { return nullptr; }
  // For the status, where no receive has it: packed bytes that were read or written.
  virtual std::int64_t bytes() const { return 0; }
  // For the report of a deadlock: what this waits for. `on` gets the ranks that it waits for; if
  // it stays empty, these are the other ranks of the communicator.
  virtual std::string describe(std::vector<RankId>* /*on*/) const { return {}; }
};

enum class SendMode : std::uint8_t { standard, buffered, synchronous, ready };

// The arguments of a send or receive, which a persistent request keeps.
struct Transfer {
  Communicator* comm = nullptr;
  void* buffer = nullptr;
  MPI_Count count = 0;
  const Datatype* type = nullptr;
  int peer = MPI_PROC_NULL;
  int tag = 0;
  SendMode mode = SendMode::standard;
};

struct Generalized {
  MPI_Grequest_query_function* query = nullptr;
  MPI_Grequest_free_function* free = nullptr;
  MPI_Grequest_cancel_function* cancel = nullptr;
  void* state = nullptr;
};

struct Request {
  enum class Kind : std::uint8_t { send, receive, task, generalized };
  Kind kind = Kind::send;
  bool persistent = false;
  bool active = false;  // Started and not yet completed by a wait or test.
  bool cancelling = false;
  bool finished = false;  // For a generalized request; for a receive: complete and unpacked.
  bool orphan = false;    // Released by the program; freed when done.
  int error = 0;
  Transfer transfer;
  mp::Request* low = nullptr;            // Null for MPI_PROC_NULL.
  std::unique_ptr<std::byte[]> staging;  // Packed data of a type with gaps.
  BufferedSend* buffered = nullptr;
  mp::Arrival arrival;  // Valid when finished.
  mp::Task task;
  std::unique_ptr<Operation> operation;
  std::unique_ptr<Generalized> generalized;
};

inline MPI_Request handle_of(Request* request) {
  return reinterpret_cast<MPI_Request>(request);
}

// For non-blocking collectives: starts the operation. The communicator is retained until it is
// done.
Request* start_operation(Process& process, Communicator& comm,
                         std::unique_ptr<Operation> operation);
// For persistent collectives: MPI_Start starts the operation.
Request* keep_operation(Process& process, Communicator& comm, std::unique_ptr<Operation> operation);

}  // namespace weft::mpi
