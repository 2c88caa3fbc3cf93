// SPDX-License-Identifier: Apache-2.0
#include "sim_live.hpp"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "sim_options.hpp"

#include <weft/base/text.hpp>
#include <weft/parallel/processes/launch.hpp>
#include <weft/program/simulated_run/setup_facts.hpp>

namespace weft::app {

SimLive::~SimLive() {
  finish();
}

Status SimLive::prepare(const std::string& port, SimulationOptions& options,
                        const SimulationSetup& setup, const std::string& title) {
  LiveSettings settings;
  if (!port.empty()) {
    const auto number = parse_int(port);
    if (!number || *number < 1 || *number > 65535)
      return Error::call("--live: '" + port + "' is not a port from 1 to 65535");
    settings.port = static_cast<std::uint16_t>(*number);
  }
  if (options.series == Duration::zero()) {
    if (Status s = read_series("auto", options); !s) return s;
    options.series_paced = true;
  }
  if (launched().self != 0) {  // Only process 0 writes files and serves the page.
    if (options.out.empty()) options.out = ".";
    return {};
  }
  std::string pattern = (std::filesystem::temp_directory_path() / "weft-live-XXXXXX").string();
  if (::mkdtemp(pattern.data()) == nullptr)
    return Error::run(pattern + ": " + std::strerror(errno));
  folder_ = pattern;
  if (options.out.empty()) options.out = folder_;
  if (options.progress_file.empty()) options.progress_file = folder_ + "/progress.json";
  settings.folder = options.out;
  settings.progress_file = options.progress_file;
  settings.title = title + " on " + setup.machine.topology->name;
  settings.network = facts_of(setup);
  auto page = LivePage::open(std::move(settings));
  if (!page) return std::move(page).error();
  page_ = *std::move(page);
  std::fprintf(stderr, "weft: live at %s\n", page_->address().c_str());
  return {};
}

void SimLive::start() {
  if (page_ != nullptr) page_->start();
}

void SimLive::finish() {
  if (page_ != nullptr && !page_->finish()) static_cast<void>(page_.release());
  page_.reset();
  std::error_code failed;
  if (!folder_.empty()) std::filesystem::remove_all(folder_, failed);
}

}  // namespace weft::app
