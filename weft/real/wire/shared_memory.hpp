// SPDX-License-Identifier: Apache-2.0
// Shared memory between the processes of a host: the segment that this process shows to the others,
// and a rail to each of them.
#pragma once

#include <weft/real/wire/rail_kinds.hpp>

namespace weft::wire {

Result<std::unique_ptr<RailKind>> find_shared_memory(const KindSetting& setting, KindHost& host);

}  // namespace weft::wire
