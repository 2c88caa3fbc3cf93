// SPDX-License-Identifier: Apache-2.0
// Key-value store of a launcher that speaks PMI-1 over an inherited socket, as MPICH's hydra does:
// a line of "name=value" words in each direction.
#pragma once

#include <memory>
#include <string>

#include <weft/real/launch/store_seat.hpp>

namespace weft::launch {

struct PmiStart {
  int socket = -1;  // Closed by the store.
  std::uint32_t self = 0;
  std::uint32_t ranks = 1;
  int answer_ms_max = 60'000;  // Limit for a server that does not answer.
};

// Reads PMI_FD, PMI_RANK and PMI_SIZE and removes them from the environment.
Result<PmiStart> find_pmi();
Result<std::unique_ptr<Store>> open_pmi_store(const PmiStart& start);

}  // namespace weft::launch
