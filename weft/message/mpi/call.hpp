// SPDX-License-Identifier: Apache-2.0
// Created at the top of every function of the C interface: records which call the rank is in,
// counts it for the profile, and passes errors to the error handlers.
//
//   WEFT_MPI(Barrier)(MPI_Comm comm) {
//     Call call("MPI_Barrier", Call::communicates);
//     Communicator* c = call.communicator(comm);
//     if (!c) return call.error();
//     ...
//     return call.result(c, code);
//   }
#pragma once

#include <cstdint>
#include <string>

#include <weft/message/mpi/comm.hpp>
#include <weft/message/mpi/errors.hpp>
#include <weft/message/mpi/inside.hpp>
#include <weft/message/mpi/process.hpp>

namespace weft::mpi {

struct Window;

class Call {
 public:
  enum Kind : std::uint8_t {
    communicates,  // Costs the time of a call, and appears in the profile.
    local,         // Requires an initialised library.
    always,        // May be called before MPI_Init and after MPI_Finalize.
  };

  Call(const char* name, Kind kind);
  ~Call();
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  Process& process() const { return process_; }
  // Success or the first error; an entry point returns it at once if it is not success.
  int error() const { return error_; }

  // The communicator behind the handle. Null means that an error has been reported: return error().
  Communicator* communicator(MPI_Comm handle);

  Window* window(MPI_Win handle);  // The same for a window.

  void add_bytes(std::uint64_t bytes) { bytes_ += bytes; }

  // Reports an error (success passes through) to the communicator's error handler, or to the
  // default one if it is null. `detail` is for the reader of a fatal message. Returns what the
  // entry point must return.
  int result(const Communicator* comm, int code, const std::string& detail = {});
  int result(int code, const std::string& detail = {}) { return result(nullptr, code, detail); }

 private:
  Inside inside_;  // First: all else is read and changed inside.
  Process& process_;
  const char* outer_;
  Kind kind_;
  int error_ = MPI_SUCCESS;
  std::uint64_t bytes_ = 0;
  Time start_;
};

}  // namespace weft::mpi
