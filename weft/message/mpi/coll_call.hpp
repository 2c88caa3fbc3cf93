// SPDX-License-Identifier: Apache-2.0
// A collective call of the C interface, from its arguments to its result. All forms of an operation
// (blocking, non-blocking, persistent, large counts) share one function, which checks the
// arguments and sets up the operation:
//
//   int bcast(const Form& form, const Piece& data, int root) {
//     CollectiveCall call(form);
//     call.root(root);
//     ...
//     return call.launch(&start_bcast);
//   }
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <weft/message/coll/collectives.hpp>
#include <weft/message/coll/team.hpp>
#include <weft/message/mp/task.hpp>
#include <weft/message/mpi/call.hpp>
#include <weft/message/mpi/coll_data.hpp>
#include <weft/message/mpi/request.hpp>

namespace weft::mpi {

// How the program wants the operation to run.
struct Form {
  enum class Kind : std::uint8_t { blocking, started, kept };
  const char* name;
  MPI_Comm comm;
  Kind kind = Kind::blocking;
  MPI_Request* request = nullptr;

  static Form blocking(const char* name, MPI_Comm comm) { return {name, comm}; }
  static Form started(const char* name, MPI_Comm comm, MPI_Request* request) {
    return {name, comm, Kind::started, request};
  }
  static Form kept(const char* name, MPI_Comm comm, MPI_Request* request) {
    return {name, comm, Kind::kept, request};
  }
};

// An operation with all its data.
class Collective final : public Operation {
 public:
  using Begin = mp::Task (*)(Collective& self);

  Collective(Process& of, Communicator& on) : process(of), comm(on) {}
  mp::Task start() override { return steps(*this); }

  coll::Team team() const;
  coll::Bridge bridge() const;  // For an intercommunicator.
  bool is_root() const {
    return comm.inter ? bridge_root.role == coll::BridgeRoot::Role::root : comm.rank == root;
  }

  Process& process;
  Communicator& comm;
  int tag = 0;
  Begin begin = nullptr;
  Side send, receive;
  Reduction reduction;
  std::int64_t count = 0;             // Elements of a reduction.
  std::vector<std::int64_t> edges;    // For reduce_scatter: where each rank's elements start.
  std::int64_t result_elements = -1;  // Elements to store on the receiving side; -1: all.
  bool in_place = false;
  bool carried = false;        // Its data travels even where that of the program does not.
  bool loads_receive = false;  // The receive buffer is read before the operation,
  bool stores = true;          // and written after it.
  int root = 0;
  coll::BridgeRoot bridge_root;
  std::vector<int> sources, destinations;  // For neighbourhood collectives.

 private:
  static mp::Task steps(Collective& self);
};

// Checks arguments one after the other; the first error is reported, and later calls do nothing.
class CollectiveCall {
 public:
  explicit CollectiveCall(const Form& form);

  bool failed() const { return error_ != MPI_SUCCESS; }
  int error() const { return error_; }
  void fail(int code, const std::string& detail = {});

  // Valid unless failed.
  Communicator& comm() const { return *comm_; }
  Collective& operation() { return *operation_; }
  bool inter() const { return comm_->inter; }
  int peers() const { return comm_->peers().size(); }
  bool is_root() const { return operation_->is_root(); }
  // Whether this rank communicates with the root: all ranks do, unless there are two groups.
  bool faces_root() const {
    return !inter() || operation_->bridge_root.role == coll::BridgeRoot::Role::across;
  }

  void root(int root);
  void send(const Piece& piece, int blocks);
  void send(const Pieces& pieces, int blocks);
  void receive(const Piece& piece, int blocks);
  void receive(const Pieces& pieces, int blocks);
  // Sets the sending side, unless the program says that its data is in the receive buffer (in
  // place).
  template <typename Given>
  void send_or_in_place(const Given& given, int blocks) {
    if (failed()) return;
    if (given.buffer == MPI_IN_PLACE && !inter()) {
      set_in_place();
    } else {
      send(given, blocks);
    }
  }
  void set_in_place();
  void reduction(MPI_Op op, MPI_Datatype type);
  void no_inter();
  // Checks that both sides describe the same amount of data and do not overlap. `own` is the block
  // that the rank receives from itself.
  void agree(std::size_t sent, std::size_t received);
  void apart(int own = 0);
  // For operations whose ranks all know how many bytes it is: few are always carried, since
  // programs decide by them (has it converged, who was the slowest).
  void carry_if_small();

  // Runs, starts or stores the operation; returns what the entry point must return.
  int launch(Collective::Begin begin);

 private:
  void check(const Piece& piece, int blocks);
  void check(const Pieces& pieces, int blocks);
  bool check_type(MPI_Datatype type);
  void check_buffer(const void* buffer, std::int64_t count, const Datatype& type);

  Form form_;
  Call call_;
  int error_ = MPI_SUCCESS;
  Communicator* comm_ = nullptr;
  const void* send_buffer_ = nullptr;
  const void* receive_buffer_ = nullptr;
  std::unique_ptr<Collective> operation_;
};

}  // namespace weft::mpi
