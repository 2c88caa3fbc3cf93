// SPDX-License-Identifier: Apache-2.0
// A page that shows a simulation while it runs. weft sim serves it on loopback from the files that
// the simulation writes; the simulation itself knows nothing of the page.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include <weft/base/result.hpp>
#include <weft/output/record/network_facts.hpp>

namespace weft::app {

struct LiveSettings {
  std::uint16_t port = 0;  // 0: any free port.
  std::string folder;      // Holds series.raw, which grows during the run.
  std::string progress_file;
  std::string title;
  NetworkFacts network;  // With links in the order of series.raw.
};

class LivePage {
 public:
  // Fails if the port is taken or this weft was built without a server.
  static Result<std::unique_ptr<LivePage>> open(LiveSettings settings);
  static bool possible();  // Whether this weft was built with a server.
  virtual ~LivePage() = default;

  // Contains a random token, because other users of the machine can reach loopback, too.
  virtual std::string address() const = 0;
  // Starts the server threads. Call it after the last fork.
  virtual void start() = 0;
  // Sends the last samples and the result of the run to open pages. Returns soon, whatever browsers
  // do; false if one keeps its connection, in which case the page must not be destroyed.
  virtual bool finish() = 0;
};

}  // namespace weft::app
