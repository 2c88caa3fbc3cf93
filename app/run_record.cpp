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

// Not by a function that throws: a reader of standard error that went away is no failure of the
// run.
void tell(const std::string& text) {
  std::fputs(text.c_str(), stderr);
}

void warn(const std::string& text) {
  tell("weft run: warning: " + text + "\n");
}

// Rank 0 did not come to write one.
Status write_shortest_summary(const RecordWish& wish, int code) {
  const nlohmann::ordered_json json = {
      {"weft", "run"},
      {"version", 1},
      {"program", fs::path(wish.program).filename().string()},
      {"ranks", wish.ranks},
      {"ranks_heard", 0},
      {"complete", false},
      {"ending", "aborted"},
      {"exit_code", code},
  };
  using Json = nlohmann::ordered_json;
  return write_file(wish.folder + "/summary.json",
                    json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n");
}

}  // namespace

Status prepare_record(const RecordWish& wish) {
  if (wish.folder.empty()) return {};
  if (wish.events && !has_otf2()) {
    return Error::call(
        "--events: this weft cannot write OTF2 archives; install libotf2-trace-dev and build it "
        "again");
  }
  std::error_code failed;
  fs::create_directories(wish.folder, failed);
  const std::string trial = fmt::format("{}/.weft-{}", wish.folder, ::getpid());
  Status wrote = failed ? Status(Error::input(failed.message())) : write_file(trial, "x");
  if (!wrote) {
    return Error::input(fmt::format("--record: {} cannot be written ({}); name another folder",
                                    wish.folder, wrote.error().message()));
  }
  fs::remove(trial, failed);
  return remove_former_record(wish.folder);
}

void conclude_record(const RecordWish& wish, int code) {
  if (wish.folder.empty()) return;
  std::error_code failed;
  const bool written = fs::exists(wish.folder + "/summary.json", failed);
  if (!written && code != 0) {
    if (Status s = write_shortest_summary(wish, code); !s && !wish.quiet) warn(s.error().text());
  } else if (!written && !wish.quiet) {
    warn(wish.folder +
         " has no record: no rank has called MPI_Finalize here; if rank 0 ran on another host, "
         "look there");
  }
  if (fs::exists(wish.folder + "/timeline.raw", failed)) {
    if (Status s = convert_timeline(wish.folder); !s && !wish.quiet) warn(s.error().text());
  }
  const auto table = read_file(wish.folder + "/summary.txt");
  if (written && table && !wish.quiet) tell(*table);
  if (!wish.events) return;
  if (Status merged = merge_events(wish.folder, {.all = true, .quiet = wish.quiet});
      !merged && !wish.quiet) {
    warn(merged.error().text());
  }
}

}  // namespace weft::app
