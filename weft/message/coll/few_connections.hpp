// SPDX-License-Identifier: Apache-2.0
// How collectives adapt to few connections: the same on real and simulated networks.
#pragma once

#include <weft/message/coll/choose.hpp>
#include <weft/message/conn/layout.hpp>
#include <weft/message/conn/options.hpp>

namespace weft {

inline coll::Keeping keeping_of(const conn::Layout& layout, const conn::Options& options) {
  if (options.mode != conn::Mode::managed) return coll::Keeping::nothing;
  return layout.reaches_all(options.shortcuts) ? coll::Keeping::short_blocks
                                               : coll::Keeping::most_blocks;
}

}  // namespace weft
