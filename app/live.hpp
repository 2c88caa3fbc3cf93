// SPDX-License-Identifier: Apache-2.0
// A page that shows a simulation while it runs: served on loopback by the process that has started
// it, out of the files that it writes. The simulation does not know of it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include <weft/base/result.hpp>
#include <weft/output/record/network_facts.hpp>

namespace weft::app {

struct LiveWish {
  std::uint16_t port = 0;     // 0: any that is free.
  std::string folder;         // Where series.raw grows,
  std::string progress_file;  // and how far it has come.
  std::string title;
  NetworkFacts network;  // As series.raw numbers links.
};

class LivePage {
 public:
  // An error: the port is taken, or this weft was built without a server.
  static Result<std::unique_ptr<LivePage>> open(LiveWish wish);
  static bool possible();  // Built with a server.
  virtual ~LivePage() = default;

  // With a token that nobody can guess: other users of the machine reach loopback, too.
  virtual std::string address() const = 0;
  // Begins to answer, in threads of its own: call it when nothing is to be forked any more.
  virtual void start() = 0;
  // The run is over: whoever looks gets the last samples, and how it ended. Returns soon, whatever
  // browsers do; false: somebody holds on to it, and it must not be destroyed.
  virtual bool finish() = 0;
};

}  // namespace weft::app
