// SPDX-License-Identifier: Apache-2.0
// RDMA rails, driven through libfabric. They only write into memory; keys and notices go over rails
// that carry frames. What a peer's RDMA rails have in common is in ofi_lanes.hpp.
#pragma once

#include <weft/real/wire/ofi_places.hpp>
#include <weft/real/wire/rail_kinds.hpp>

namespace weft::wire {

Result<std::unique_ptr<RailKind>> find_ofi_rails(const KindSetting& setting, KindHost& host);

}  // namespace weft::wire
