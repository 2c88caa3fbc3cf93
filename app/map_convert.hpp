// SPDX-License-Identifier: Apache-2.0
// weft map --convert: a map in another format. It needs no traffic, and a network only for formats
// that write coordinates and for maps that name nodes.
#pragma once

#include "map_options.hpp"

namespace weft::app {

Status convert_map(const MapOptions& options);

}  // namespace weft::app
