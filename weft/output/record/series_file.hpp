// SPDX-License-Identifier: Apache-2.0
// What every link carried over time, as HDF5; the layout is described in docs/reference/sim.md.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <weft/base/result.hpp>
#include <weft/output/record/network_facts.hpp>
#include <weft/output/record/series_raw.hpp>

namespace weft {

// Turns FOLDER/series.raw into FOLDER/series.h5 and removes the former.
Status convert_series(const std::string& folder, const NetworkFacts& network);
bool has_hdf5();

struct SeriesFile {
  NetworkFacts network;
  std::int64_t interval_ps = 0;
  std::vector<std::int64_t> end_ps;                 // By sample;
  std::vector<std::uint64_t> messages, bytes_sent;  // by ranks, since the start.
};
bool has_series(const std::string& folder);
// Of FOLDER/series.h5, all but the samples themselves,
Result<SeriesFile> read_series(const std::string& folder);
// which are given one by one.
using EachSample = std::function<void(std::size_t index, const std::vector<std::uint64_t>& bytes,
                                      const std::vector<std::uint64_t>& buffers)>;
Status read_samples(const std::string& folder, const EachSample& each);

}  // namespace weft
