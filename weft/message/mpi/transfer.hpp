// SPDX-License-Identifier: Apache-2.0
// Sends and receives of the program, from checked arguments to a status. A request goes through
// start, done (any number of times) and finish; its owner frees it.
#pragma once

#include <string>

#include <weft/message/mpi/call.hpp>
#include <weft/message/mpi/request.hpp>

namespace weft::mpi {

// As the program passed them.
struct TransferArguments {
  const void* buffer;
  MPI_Count count;
  MPI_Datatype type;
  int peer;
  int tag;
  MPI_Comm comm;
};

// Checks the arguments as the standard requires and fills the request, which is then ready to
// start. An error has been reported: return it.
int prepare(Call& call, const TransferArguments& arguments, Request::Kind kind, Request& request);
// Parts of prepare() that also serve probes and matched receives.
int check_peer(Call& call, const Communicator& comm, int peer, int tag, Request::Kind kind);
int check_data(Call& call, const Communicator& comm, const TransferArguments& arguments);

// Packed bytes of the whole transfer.
std::size_t size_of(const Transfer& transfer);

void start(Process& process, Request& request);
// Receives a message that MPI_Mprobe has taken.
void start_taken(Process& process, Request& request, mp::UnexpectedRecord* message);
bool is_done(const Request& request);
// A receive from any rank that may wait for one that is lost, which the program has not
// acknowledged: it is not done, but calls that wait for it return.
bool is_held_up(const Request& request);
// The request in the message layer; null if that is done.
mp::Request* low_of(const Request& request);
// Once or more often after it is done: afterwards data is in place, and request.error has the
// result.
void finish(Process& process, Request& request);
// The status of a finished request.
void fill_status(const Request& request, MPI_Status& status);
// For the message of a fatal error.
std::string describe_error(const Request& request);
std::string describe(const Request& request, std::vector<RankId>* on);

// Waits for requests that live on the stack of a blocking call.
void wait_for(Process& process, const Request* const* requests, int count);

// Frees a request object and releases its communicator and type.
void free_request(Process& process, Request* request);

// Moves a prepared request into the pool; holds communicator and type. keep() also charges the
// rank's time for it.
Request* keep(Process& process, Request&& prepared);
Request* store(Process& process, Request&& prepared);

// A non-blocking send that was started needs no request any more. Most small ones do not: a rank
// has one object for all of them.
bool has_left(const Request& request);
MPI_Request hold_sent(Process& process);

inline int source_for_matching(int source) {
  return source == MPI_ANY_SOURCE ? mp::any_source : source;
}
inline int tag_for_matching(int tag) {
  return tag == MPI_ANY_TAG ? mp::any_tag : tag;
}

}  // namespace weft::mpi
