// SPDX-License-Identifier: Apache-2.0
#include "live.hpp"

#include "home.hpp"
#include "live_feed.hpp"

#ifdef WEFT_LIVE
#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <exception>
#include <thread>

#include <fmt/format.h>
#include <httplib.h>
#include <sys/random.h>
#endif

#include <weft/base/threads.hpp>
#include <weft/base/version.hpp>
#include <weft/output/report/heat.hpp>
#include <weft/output/report/page.hpp>

namespace weft::app {

#ifndef WEFT_LIVE

bool LivePage::possible() {
  return false;
}

Result<std::unique_ptr<LivePage>> LivePage::open(LiveSettings) {
  return Error::call(
      "--live: this weft was built without a page server; install libcpp-httplib-dev and build "
      "it again");
}

#else

namespace {

constexpr auto pause = std::chrono::milliseconds(200);
constexpr auto closing_time_max = std::chrono::seconds(2);

Result<std::string> make_token() {
  std::array<unsigned char, 16> bytes = {};
  if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
    return Error::run("--live: the system gives no random numbers");
  std::string token;
  for (const unsigned char byte : bytes) token += fmt::format("{:02x}", byte);
  return token;
}

Result<std::string> make_live_page(const LiveSettings& settings) {
  const auto page_template = read_page_template();
  if (!page_template) return Error(page_template.error());
  report::RunView view;
  view.name = settings.title;
  view.kind = "sim";
  std::vector<std::uint32_t> kept;
  view.network = report::without_gaps(settings.network, kept);
  view.heat.emplace();
  view.heat->node_links.emplace();
  report::PageHead head{settings.title, "weft " + std::string(version()), true};
  return report::make_page(*page_template, head, std::span(&view, 1));
}

class LiveServer final : public LivePage {
 public:
  explicit LiveServer(LiveSettings settings) : settings_(std::move(settings)) {}
  ~LiveServer() override { close(); }  // Blocks forever if finish() returned false.

  Status prepare() {
    auto token = make_token();
    if (!token) return std::move(token).error();
    token_ = *std::move(token);
    auto page = make_live_page(settings_);
    if (!page) return std::move(page).error();
    page_ = *std::move(page);
    // The library would set SO_REUSEPORT, with which two runs could share a port.
    server_.set_socket_options([](socket_t socket) {
      const int yes = 1;
      ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    });
    const bool bound = settings_.port == 0
                           ? (port_ = server_.bind_to_any_port("127.0.0.1")) > 0
                           : server_.bind_to_port("127.0.0.1", port_ = settings_.port);
    if (!bound) {
      return Error::call(fmt::format(
          "--live={}: the port is taken; give another one, or plain --live for any free port",
          settings_.port));
    }
    add_handlers();
    return {};
  }

  std::string address() const override {
    return fmt::format("http://127.0.0.1:{}/{}/", port_, token_);
  }
  void start() override {
    const auto serve = [this] {
      failure_.guard([this] { server_.listen_after_bind(); });
      stopped_ = true;
    };
    // The run goes on without the page if it cannot be served.
    if (!failure_.guard([&] { thread_ = std::thread(serve); })) stopped_ = true;
    // A server can be stopped only while it runs, and a short program may end before that.
    while (!server_.is_running() && !stopped_)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  bool finish() override {
    run_over_ = true;
    const auto deadline = std::chrono::steady_clock::now() + closing_time_max;
    while (watchers_ > 0 && std::chrono::steady_clock::now() < deadline)
      std::this_thread::sleep_for(pause / 10);
    closing_ = true;
    server_.stop();
    const auto last = std::chrono::steady_clock::now() + closing_time_max;
    while (thread_.joinable() && !stopped_ && std::chrono::steady_clock::now() < last)
      std::this_thread::sleep_for(pause / 10);
    if (thread_.joinable() && !stopped_) {
      thread_.detach();
      return false;
    }
    close();
    return true;
  }

 private:
  void add_handlers();
  // False: the browser is gone.
  bool send_events(LiveFeed& feed, httplib::DataSink& sink);
  // Against DNS rebinding: a page of another site must not read this one through its own name.
  bool is_for_us(const httplib::Request& request) const {
    const std::string host = request.get_header_value("Host");
    return host == fmt::format("127.0.0.1:{}", port_) || host == fmt::format("localhost:{}", port_);
  }
  void close() {
    closing_ = true;
    server_.stop();
    if (thread_.joinable()) thread_.join();
    try {
      failure_.rethrow();
    } catch (const std::exception& error) {
      std::fprintf(stderr, "weft: warning: --live: the page could not be served: %s\n",
                   error.what());
    }
  }

  const LiveSettings settings_;
  std::string token_, page_;
  httplib::Server server_;
  int port_ = 0;
  std::thread thread_;  // Not of Threads, since it may have to be left behind.
  FirstFailure failure_;
  std::atomic<bool> run_over_ = false, closing_ = false, stopped_ = false;
  std::atomic<int> watchers_ = 0;
};

void LiveServer::add_handlers() {
  server_.set_keep_alive_max_count(1);
  server_.set_read_timeout(1);
  server_.set_pre_routing_handler([this](const httplib::Request& request, httplib::Response& out) {
    if (is_for_us(request)) return httplib::Server::HandlerResponse::Unhandled;
    out.status = 403;
    return httplib::Server::HandlerResponse::Handled;
  });
  server_.Get("/" + token_ + "/", [this](const httplib::Request&, httplib::Response& out) {
    out.set_header("Cache-Control", "no-store");
    out.set_header("Referrer-Policy", "no-referrer");
    out.set_content(page_, "text/html; charset=utf-8");
  });
  server_.Get("/" + token_ + "/events", [this](const httplib::Request&, httplib::Response& out) {
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

bool LiveServer::send_events(LiveFeed& feed, httplib::DataSink& sink) {
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

}  // namespace

bool LivePage::possible() {
  return true;
}

Result<std::unique_ptr<LivePage>> LivePage::open(LiveSettings settings) {
  auto page = std::make_unique<LiveServer>(std::move(settings));
  if (Status ready = page->prepare(); !ready) return std::move(ready).error();
  return std::unique_ptr<LivePage>(std::move(page));
}

#endif

}  // namespace weft::app
