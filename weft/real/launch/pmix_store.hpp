// SPDX-License-Identifier: Apache-2.0
// The store of a PMIx server (Slurm, PRRTE, Open MPI's mpirun), through the plugin that is linked
// with libpmix: weft itself is built and runs without.
#pragma once

#include <memory>
#include <string>

#include <weft/real/launch/store_seat.hpp>

namespace weft::launch {

// Of variables PMIX_RANK and PMIX_NAMESPACE, which it takes away.
Result<std::unique_ptr<Store>> open_pmix_store(const std::string& library_folder);

}  // namespace weft::launch
