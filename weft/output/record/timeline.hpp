// SPDX-License-Identifier: Apache-2.0
// The calls of all ranks over time, and their file: timeline.raw, which a run writes without any
// library, or timeline.h5, which other tools read (docs/reference/sim.md).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <weft/base/result.hpp>
#include <weft/output/record/spans.hpp>

namespace weft {

struct Timeline {
  std::vector<std::string> calls;          // Call names, by number.
  std::vector<std::uint64_t> first = {0};  // Spans of rank r: first[r] to first[r + 1].
  std::vector<CallSpan> spans;
  std::int64_t bin_ps = 0;  // The longest bin of any rank; 0 if all are exact.

  std::uint32_t ranks() const { return static_cast<std::uint32_t>(first.size() - 1); }
  std::span<const CallSpan> of(std::uint32_t rank) const {
    return std::span(spans).subspan(first[rank], first[rank + 1] - first[rank]);
  }
  // Appends the next rank; `names` are the names of its calls, by the numbers in its spans.
  void add_rank(std::span<const std::string> names, std::span<const CallSpan> own,
                std::int64_t own_bin_ps);
};

// How many spans each rank may keep so that the total stays bounded.
std::size_t spans_per_rank(std::uint32_t ranks);

Status write_timeline_raw(const std::string& folder, const Timeline& timeline);
Result<Timeline> read_timeline_raw(const std::string& folder);
// Converts FOLDER/timeline.raw to FOLDER/timeline.h5 and removes the former; without HDF5 the raw
// file stays.
Status convert_timeline(const std::string& folder);
// Reads either file. Returns an error if there is none or it is damaged.
Result<Timeline> read_timeline(const std::string& folder);
bool has_timeline(const std::string& folder);

// Checks everything that readers rely on: the file may come from elsewhere.
bool is_sound(const Timeline& timeline);
Error damaged_timeline(const std::string& path);

}  // namespace weft
