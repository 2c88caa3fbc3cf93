// SPDX-License-Identifier: Apache-2.0
// weft sim --live: what the page needs of a run.
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
  ~SimLive();  // Takes away what only the page needed.
  SimLive(const SimLive&) = delete;
  SimLive& operator=(const SimLive&) = delete;

  // Adds to the options what the page is made of, and opens it. `port`: empty for any.
  Status prepare(const std::string& port, SimulationOptions& options, const SimulationSetup& setup,
                 const std::string& title);
  // When nothing is to be forked any more. Nothing happens if it was not prepared.
  void start();
  void finish();
  // The user did not ask for the files in this folder.
  bool owns(const std::string& folder) const { return !folder_.empty() && folder == folder_; }

 private:
  std::string folder_;
  std::unique_ptr<LivePage> page_;
};

}  // namespace weft::app
