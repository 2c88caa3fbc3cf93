// SPDX-License-Identifier: Apache-2.0
// Peers that are threads of one process, for tests. Each is used by one thread at a time.
#pragma once

#include <memory>
#include <vector>

#include <weft/parallel/processes/peers.hpp>

namespace weft {

std::vector<std::unique_ptr<Peers>> make_local_peers(int count);

}  // namespace weft
