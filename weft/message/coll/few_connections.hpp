// SPDX-License-Identifier: Apache-2.0
// How collectives adapt to few connections: the same on real and simulated networks.
#pragma once

#include <weft/message/coll/choose.hpp>
#include <weft/message/conn/layout.hpp>
#include <weft/message/conn/options.hpp>

namespace weft {

inline coll::Bundling bundling_of(const conn::Layout& layout, const conn::Options& options) {
  if (options.mode != conn::Mode::managed) return coll::Bundling::nothing;
  return layout.reaches_all(options.shortcuts) ? coll::Bundling::short_blocks
                                               : coll::Bundling::most_blocks;
}

}  // namespace weft
