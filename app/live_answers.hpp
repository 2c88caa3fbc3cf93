// SPDX-License-Identifier: Apache-2.0
// What the server of a live page answers: the page and its events to whoever knows the token, and a
// refusal to everybody else. Knows requests only; live.cpp has the port and the threads.
#pragma once

#include <atomic>
#include <string>
#include <utility>

#include "live.hpp"
#include "live_feed.hpp"
#include <httplib.h>

#include <weft/base/threads.hpp>

namespace weft::app {

class LiveAnswers {
 public:
  LiveAnswers(LiveSettings settings, std::string token, std::string page)
      : settings_(std::move(settings)), token_(std::move(token)), page_(std::move(page)) {}

  // The server listens on this port, and ends before this object.
  void add_to(httplib::Server& server, int port);

  const std::string& token() const { return token_; }
  int watchers() const { return watchers_; }  // Open streams of events.
  // Streams end with the results of the run.
  void end_run() { run_over_ = true; }
  // Streams end at once.
  void close() { closing_ = true; }
  // Throws what went wrong in a stream.
  void rethrow() { failure_.rethrow(); }

 private:
  bool is_for_us(const httplib::Request& request) const;
  // False: the browser is gone.
  bool send_events(LiveFeed& feed, httplib::DataSink& sink);

  const LiveSettings settings_;
  const std::string token_, page_;
  int port_ = 0;
  FirstFailure failure_;
  std::atomic<bool> run_over_ = false, closing_ = false;
  std::atomic<int> watchers_ = 0;
};

}  // namespace weft::app
