// SPDX-License-Identifier: Apache-2.0
// The TCP rails of a process: its interfaces, the sockets that listen there, and peers that connect
// but have not proved themselves yet.
#pragma once

#include <weft/real/wire/rail_kinds.hpp>

namespace weft::wire {

Result<std::unique_ptr<RailKind>> find_tcp_rails(const KindSetting& setting, KindHost& host);

}  // namespace weft::wire
