// SPDX-License-Identifier: Apache-2.0
// The record of a run (weft run --record): the work before and after the job. During the job its
// ranks write the record.
#pragma once

#include <cstdint>
#include <string>

#include <weft/base/result.hpp>

namespace weft::app {

struct RecordOptions {
  std::string folder;  // Empty: no record.
  bool events = false;
  bool quiet = false;
  std::string program;
  std::uint32_t ranks = 0;
};

// Makes the folder, checks that it can be written, and removes the record of an earlier run.
Status prepare_record(const RecordOptions& options);
// `code`: exit code of the job, which stays the same: problems are only printed, on standard error.
void conclude_record(const RecordOptions& options, int code);

struct MergeOptions {
  bool all = false;    // Fail if a log is missing.
  bool quiet = false;  // Do not warn of missing logs.
};
// Makes the archive trace.otf2 from the ranks' logs, and removes the logs.
Status merge_events(const std::string& folder, const MergeOptions& options);

}  // namespace weft::app
