// SPDX-License-Identifier: Apache-2.0
// Traces of real runs (Open Trace Format 2, as Score-P and others write it), as traffic.
#pragma once

#include <string>

#include <weft/base/result.hpp>
#include <weft/workload/patterns/traffic_matrix.hpp>

namespace weft {

// Was weft built with the library?
bool has_otf2();

// `anchor_path` names the archive's file *.otf2. All messages of the run, between ranks of
// MPI_COMM_WORLD; collective operations are spread over pairs by the table in tally.cpp. Fails when
// the archive is damaged: a part of the traffic would look like all of it. Not for two threads at
// once, since the library has one place for errors.
Result<TrafficMatrix> read_otf2(const std::string& anchor_path);

}  // namespace weft
