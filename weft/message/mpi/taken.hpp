// SPDX-License-Identifier: Apache-2.0
// The object behind an MPI_Message: found by MPI_Mprobe, to be received only by MPI_Mrecv.
#pragma once

#include <weft/message/mp/messenger.hpp>
#include <weft/message/mpi/comm.hpp>

namespace weft::mpi {

struct TakenMessage {
  mp::UnexpectedRecord* record = nullptr;
  Communicator* comm = nullptr;  // Retained.
};

}  // namespace weft::mpi
