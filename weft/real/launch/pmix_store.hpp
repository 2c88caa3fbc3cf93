// SPDX-License-Identifier: Apache-2.0
// Key-value store of a PMIx server (Slurm, PRRTE, Open MPI's mpirun), through the plugin that is
// linked with libpmix: weft itself builds and runs without it.
#pragma once

#include <memory>
#include <string>

#include <weft/real/launch/store_seat.hpp>

namespace weft::launch {

// Reads PMIX_RANK and PMIX_NAMESPACE and removes them from the environment.
Result<std::unique_ptr<Store>> open_pmix_store(const std::string& library_folder);

}  // namespace weft::launch
