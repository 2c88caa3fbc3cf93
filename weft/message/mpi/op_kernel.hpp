// SPDX-License-Identifier: Apache-2.0
// The loops of the predefined operators.
#pragma once

#include <cstdint>

#include <weft/message/mpi/datatype.hpp>

namespace weft::mpi {

// inout[i] = in[i] op inout[i]
using Kernel = void (*)(const void* in, void* inout, std::int64_t count);

// The loop for an operator (by the value of its handle) and a predefined datatype; null if the
// operator is not defined for it. Not for MPI_REPLACE and MPI_NO_OP, which accept all datatypes.
Kernel find_kernel(std::uint16_t op, const Datatype& type);

}  // namespace weft::mpi
