// SPDX-License-Identifier: Apache-2.0
// The fast path of blocking sends and receives: contiguous data, real time, no profiling. A call
// that does not qualify, for whatever reason, takes the general path, which checks everything.
#pragma once

#include <optional>

#include <weft/message/mpi/transfer.hpp>

namespace weft::mpi {

// Returns true if the send has succeeded.
bool send_quickly(const TransferArguments& arguments);
// Returns the code, or nothing if the receive was not started.
std::optional<int> receive_quickly(const char* name, const TransferArguments& arguments,
                                   MPI_Status* status);

}  // namespace weft::mpi
