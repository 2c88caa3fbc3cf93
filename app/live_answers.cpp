// SPDX-License-Identifier: Apache-2.0
#include "live_answers.hpp"

#include <chrono>
#include <memory>
#include <thread>

#include <fmt/format.h>

namespace weft::app {

namespace {

constexpr auto pause = std::chrono::milliseconds(200);

}  // namespace

// Against DNS rebinding: a page of another site must not read this one through its own name.
bool LiveAnswers::is_for_us(const httplib::Request& request) const {
  const std::string host = request.get_header_value("Host");
  return host == fmt::format("127.0.0.1:{}", port_) || host == fmt::format("localhost:{}", port_);
}

void LiveAnswers::add_to(httplib::Server& server, int port) {
  port_ = port;
  server.set_keep_alive_max_count(1);
  server.set_read_timeout(1);
  server.set_pre_routing_handler([this](const httplib::Request& request, httplib::Response& out) {
    // The library reads what comes with other methods into memory, however long it is.
    const bool is_read = request.method == "GET" || request.method == "HEAD";
    if (is_read && is_for_us(request)) return httplib::Server::HandlerResponse::Unhandled;
    out.status = is_read ? 403 : 405;
    return httplib::Server::HandlerResponse::Handled;
  });
  server.Get("/" + token_ + "/", [this](const httplib::Request&, httplib::Response& out) {
    out.set_header("Cache-Control", "no-store");
    out.set_header("Referrer-Policy", "no-referrer");
    out.set_content(page_, "text/html; charset=utf-8");
  });
  server.Get("/" + token_ + "/events", [this](const httplib::Request&, httplib::Response& out) {
    out.set_header("Cache-Control", "no-store");
    auto feed = std::make_shared<LiveFeed>(settings_);
    ++watchers_;
    out.set_chunked_content_provider(
        "text/event-stream",
        [this, feed](std::size_t, httplib::DataSink& sink) {
          bool more = false;
          // On a thread of the library; a browser asks again after an end.
          failure_.guard([&] { more = send_events(*feed, sink); });
          return more;
        },
        [this](bool) { --watchers_; });
  });
}

bool LiveAnswers::send_events(LiveFeed& feed, httplib::DataSink& sink) {
  const bool last = run_over_;  // Read first, so that the events below are complete.
  const std::string events = feed.new_events() + (last ? feed.final_event() : "");
  // An empty comment finds out whether the browser is still there.
  const std::string text = events.empty() ? ": \n\n" : events;
  if (!sink.write(text.data(), text.size())) return false;
  if (last || closing_) {
    sink.done();
  } else {
    for (int i = 0; i < 10 && !run_over_ && !closing_; ++i) std::this_thread::sleep_for(pause / 10);
  }
  return true;
}

}  // namespace weft::app
