// SPDX-License-Identifier: Apache-2.0
#include "run_record.hpp"

#include <cstdio>
#include <filesystem>
#include <system_error>

#include "record_folder.hpp"
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include <weft/base/file.hpp>
#include <weft/output/record/timeline.hpp>
#include <weft/workload/traces/otf2.hpp>

namespace weft::app {
namespace {

namespace fs = std::filesystem;

// Uses no function that throws: a closed standard error is no failure of the run.
void print_to_stderr(const std::string& text) {
  std::fputs(text.c_str(), stderr);
}

void warn(const std::string& text) {
  print_to_stderr("weft run: warning: " + text + "\n");
}

// Stands in for the summary of rank 0, which ended before it wrote one.
Status write_minimal_summary(const RecordOptions& options, int code) {
  const nlohmann::ordered_json json = {
      {"weft", "run"},
      {"version", 1},
      {"program", fs::path(options.program).filename().string()},
      {"ranks", options.ranks},
      {"ranks_heard", 0},
      {"complete", false},
      {"ending", "aborted"},
      {"exit_code", code},
  };
  using Json = nlohmann::ordered_json;
  return write_file(options.folder + "/summary.json",
                    json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n");
}

}  // namespace

Status prepare_record(const RecordOptions& options) {
  if (options.folder.empty()) return {};
  if (options.events && !has_otf2()) {
    return Error::call(
        "--events: this weft cannot write OTF2 archives; install libotf2-trace-dev and build it "
        "again");
  }
  std::error_code failed;
  fs::create_directories(options.folder, failed);
  const std::string trial = fmt::format("{}/.weft-{}", options.folder, ::getpid());
  Status wrote = failed ? Status(Error::input(failed.message())) : write_file(trial, "x");
  if (!wrote) {
    return Error::input(fmt::format("--record: {} cannot be written ({}); name another folder",
                                    options.folder, wrote.error().message()));
  }
  fs::remove(trial, failed);
  return remove_former_record(options.folder);
}

void conclude_record(const RecordOptions& options, int code) {
  if (options.folder.empty()) return;
  std::error_code failed;
  const bool written = fs::exists(options.folder + "/summary.json", failed);
  if (!written && code != 0) {
    if (Status s = write_minimal_summary(options, code); !s && !options.quiet)
      warn(s.error().text());
  } else if (!written && !options.quiet) {
    warn(options.folder +
         " has no record: no rank has called MPI_Finalize here; if rank 0 ran on another host, "
         "look there");
  }
  if (fs::exists(options.folder + "/timeline.raw", failed)) {
    if (Status s = convert_timeline(options.folder); !s && !options.quiet) warn(s.error().text());
  }
  const auto table = read_file(options.folder + "/summary.txt");
  if (written && table && !options.quiet) print_to_stderr(*table);
  if (!options.events) return;
  if (Status merged = merge_events(options.folder, {.all = true, .quiet = options.quiet});
      !merged && !options.quiet) {
    warn(merged.error().text());
  }
}

}  // namespace weft::app
