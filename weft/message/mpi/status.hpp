// SPDX-License-Identifier: Apache-2.0
// The hidden half of MPI_Status: how many packed bytes arrived, and whether the operation was
// cancelled. The ABI leaves the five integers MPI_internal to the library.
#pragma once

#include <cstdint>
#include <cstring>

#include <weft/message/mpi/include/mpi.h>

namespace weft::mpi {

// Indices into MPI_internal. The 64-bit count takes two integers and is not aligned.
constexpr int status_bytes_index = 0;
constexpr int status_cancelled_index = 2;

inline std::int64_t status_bytes(const MPI_Status& status) {
  std::int64_t bytes = 0;
  std::memcpy(&bytes, &status.MPI_internal[status_bytes_index], sizeof bytes);
  return bytes;
}

inline void set_status_bytes(MPI_Status& status, std::int64_t bytes) {
  std::memcpy(&status.MPI_internal[status_bytes_index], &bytes, sizeof bytes);
}

inline bool status_cancelled(const MPI_Status& status) {
  return status.MPI_internal[status_cancelled_index] != 0;
}

inline void set_status_cancelled(MPI_Status& status, bool cancelled) {
  status.MPI_internal[status_cancelled_index] = cancelled ? 1 : 0;
}

// The status of a completed receive. MPI_ERROR is not changed: only calls that return several
// statuses may set it.
inline void set_status(MPI_Status& status, int source, int tag, std::int64_t bytes) {
  status.MPI_SOURCE = source;
  status.MPI_TAG = tag;
  set_status_bytes(status, bytes);
  set_status_cancelled(status, false);
}

// The status of waiting for no request or an inactive one.
inline void set_status_empty(MPI_Status& status) {
  set_status(status, MPI_ANY_SOURCE, MPI_ANY_TAG, 0);
  status.MPI_ERROR = MPI_SUCCESS;
}

}  // namespace weft::mpi
