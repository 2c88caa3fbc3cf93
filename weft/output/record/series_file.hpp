// SPDX-License-Identifier: Apache-2.0
// The traffic of every link over time, as HDF5; docs/reference/sim.md describes the layout.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <weft/base/result.hpp>
#include <weft/output/record/network_facts.hpp>
#include <weft/output/record/series_raw.hpp>

namespace weft {

// Converts FOLDER/series.raw to FOLDER/series.h5 and removes the former.
Status convert_series(const std::string& folder, const NetworkFacts& network);
bool has_hdf5();

struct SeriesFile {
  NetworkFacts network;
  std::int64_t interval_ps = 0;
  std::vector<std::int64_t> end_ps;                 // By sample.
  std::vector<std::uint64_t> messages, bytes_sent;  // By sample: sent by all ranks since the start.
};
bool has_series(const std::string& folder);
// Reads FOLDER/series.h5 except for the samples themselves.
Result<SeriesFile> read_series(const std::string& folder);
// Bytes of one sample.
struct SeriesRow {
  std::vector<std::uint64_t> links, buffers;
  std::vector<std::uint64_t> injected, ejected;  // By node; empty in a record that lacks them.
};
// Receives the samples one by one.
using EachSample = std::function<void(std::size_t index, const SeriesRow& row)>;
Status read_samples(const std::string& folder, const EachSample& each);

}  // namespace weft
