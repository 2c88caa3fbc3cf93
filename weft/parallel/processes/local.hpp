// SPDX-License-Identifier: Apache-2.0
// A process group made of threads of one process, for tests. Each member is used by one thread at a
// time.
#pragma once

#include <memory>
#include <vector>

#include <weft/parallel/processes/process_group.hpp>

namespace weft {

std::vector<std::unique_ptr<ProcessGroup>> make_local_group(int count);

}  // namespace weft
