// SPDX-License-Identifier: Apache-2.0
// Memory of the host as the MPI library wants it for shared windows.
#pragma once

#include <cstddef>
#include <memory>

#include <weft/base/result.hpp>
#include <weft/message/mpi/shared_block.hpp>

namespace weft {

Result<std::unique_ptr<mpi::SharedBlock>> make_block_of_host(std::size_t size);
Result<std::unique_ptr<mpi::SharedBlock>> open_block_of_host(const mpi::SharedTicket& ticket,
                                                             std::size_t size);

}  // namespace weft
