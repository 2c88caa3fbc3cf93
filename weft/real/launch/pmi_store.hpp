// SPDX-License-Identifier: Apache-2.0
// The store of a launcher that speaks the first PMI protocol over an inherited socket, as MPICH's
// hydra does: a line of "name=value" words each way.
#pragma once

#include <memory>
#include <string>

#include <weft/real/launch/store_seat.hpp>

namespace weft::launch {

struct PmiStart {
  int socket = -1;  // Is closed in the end.
  std::uint32_t self = 0;
  std::uint32_t ranks = 1;
  int answer_ms_max = 60'000;  // For a server that is there but does not answer.
};

// Of variables PMI_FD, PMI_RANK and PMI_SIZE, which it takes away.
Result<PmiStart> find_pmi();
Result<std::unique_ptr<Store>> open_pmi_store(const PmiStart& start);

}  // namespace weft::launch
