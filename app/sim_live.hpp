// SPDX-License-Identifier: Apache-2.0
// weft sim --live: prepares a run for its page, and serves the page.
#pragma once

#include <memory>
#include <string>

#include "live.hpp"

#include <weft/base/result.hpp>
#include <weft/simulate/setup/simulation_options.hpp>
#include <weft/simulate/setup/simulation_setup.hpp>

namespace weft::app {

class SimLive {
 public:
  SimLive() = default;
  ~SimLive();  // Removes files that only the page needed.
  SimLive(const SimLive&) = delete;
  SimLive& operator=(const SimLive&) = delete;

  // Adds the outputs that the page needs to the options, and opens the page. `port`: empty for any.
  Status prepare(const std::string& port, SimulationOptions& options, const SimulationSetup& setup,
                 const std::string& title);
  // Call it after the last fork. Without prepare() nothing happens.
  void start();
  void finish();
  // Whether the folder is temporary, so that the user did not ask for its files.
  bool owns(const std::string& folder) const { return !folder_.empty() && folder == folder_; }

 private:
  std::string folder_;
  std::unique_ptr<LivePage> page_;
};

}  // namespace weft::app
