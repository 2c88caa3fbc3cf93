// SPDX-License-Identifier: Apache-2.0
// The short way of blocking sends and receives: contiguous data, real time, nobody counts. A call
// that does not fit, for whatever reason, takes the long way, which checks everything.
#pragma once

#include <optional>

#include <weft/message/mpi/transfer.hpp>

namespace weft::mpi {

// true: done, with success.
bool send_quickly(const TransferArguments& arguments);
// The code to return; nothing: it did not begin.
std::optional<int> receive_quickly(const char* name, const TransferArguments& arguments,
                                   MPI_Status* status);

}  // namespace weft::mpi
