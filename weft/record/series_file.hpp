// SPDX-License-Identifier: Apache-2.0
// What every link carried over time, as HDF5; the layout is described in docs/reference/sim.md.
#pragma once

#include <string>

#include <weft/base/result.hpp>
#include <weft/topo/topology.hpp>

namespace weft {

// Turns FOLDER/series.raw into FOLDER/series.h5 and removes the former.
Status convert_series(const std::string& folder, const Topology& topology);
bool has_hdf5();

}  // namespace weft
