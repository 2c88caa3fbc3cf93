// SPDX-License-Identifier: Apache-2.0
// The number of a process of the job.
#pragma once

#include <weft/base/id.hpp>

namespace weft {

using RankId = Id<struct RankTag>;

}  // namespace weft
