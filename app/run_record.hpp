// SPDX-License-Identifier: Apache-2.0
// The record of a run (weft run --profile): what is done before the job and after it. What lies
// between is done by its ranks.
#pragma once

#include <cstdint>
#include <string>

#include <weft/base/result.hpp>

namespace weft::app {

struct RecordWish {
  std::string folder;  // Empty: none.
  bool events = false;
  bool quiet = false;
  std::string program;
  std::uint32_t ranks = 0;
};

// Makes the folder, finds out whether it can be written, and takes away what a former run left.
Status prepare_record(const RecordWish& wish);
// `code`: of the job. Problems are told on standard error; the code stays what it is.
void conclude_record(const RecordWish& wish, int code);

struct MergeWish {
  bool all = false;    // Refuse if a log is missing.
  bool quiet = false;  // Do not tell of what is missing.
};
// Makes the archive trace.otf2 of the ranks' logs and takes those away.
Status merge_events(const std::string& folder, const MergeWish& wish);

}  // namespace weft::app
