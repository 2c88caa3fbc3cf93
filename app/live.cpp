// SPDX-License-Identifier: Apache-2.0
#include "live.hpp"

#include "home.hpp"

#ifdef WEFT_LIVE
#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <exception>
#include <functional>
#include <semaphore>
#include <thread>
#include <utility>

#include "live_answers.hpp"
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

constexpr auto pause = std::chrono::milliseconds(20);
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

// Connections that nobody has read from yet take descriptors of the simulation: only so many are
// accepted, and the others wait in the kernel. Each has a second to ask (set_read_timeout).
class LimitedQueue final : public httplib::TaskQueue {
 public:
  using Taken = decltype(std::declval<httplib::TaskQueue&>().enqueue({}));  // void or bool.
  Taken enqueue(std::function<void()> task) override {
    places_.acquire();
    return pool_.enqueue([this, task = std::move(task)] {
      task();
      places_.release();
    });
  }
  void shutdown() override { pool_.shutdown(); }

 private:
  std::counting_semaphore<> places_{32};
  httplib::ThreadPool pool_{8};
};

class LiveServer final : public LivePage {
 public:
  LiveServer(LiveSettings settings, std::string token, std::string page)
      : answers_(std::move(settings), std::move(token), std::move(page)) {}
  ~LiveServer() override { close(); }  // Blocks forever if finish() returned false.

  Status bind(int port) {
    // The library would set SO_REUSEPORT, with which two runs could share a port.
    server_.set_socket_options([](socket_t socket) {
      const int yes = 1;
      ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    });
    server_.new_task_queue = [] { return new LimitedQueue; };
    const bool bound = port == 0 ? (port_ = server_.bind_to_any_port("127.0.0.1")) > 0
                                 : server_.bind_to_port("127.0.0.1", port_ = port);
    if (!bound) {
      return Error::call(fmt::format(
          "--live={}: the port is taken; give another one, or plain --live for any free port",
          port));
    }
    answers_.add_to(server_, port_);
    return {};
  }

  std::string address() const override {
    return fmt::format("http://127.0.0.1:{}/{}/", port_, answers_.token());
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
    answers_.end_run();
    const auto deadline = std::chrono::steady_clock::now() + closing_time_max;
    while (answers_.watchers() > 0 && std::chrono::steady_clock::now() < deadline)
      std::this_thread::sleep_for(pause);
    answers_.close();
    server_.stop();
    const auto last = std::chrono::steady_clock::now() + closing_time_max;
    while (thread_.joinable() && !stopped_ && std::chrono::steady_clock::now() < last)
      std::this_thread::sleep_for(pause);
    if (thread_.joinable() && !stopped_) {
      thread_.detach();
      return false;
    }
    close();
    return true;
  }

 private:
  void close() {
    answers_.close();
    server_.stop();
    if (thread_.joinable()) thread_.join();
    try {
      failure_.rethrow();
      answers_.rethrow();
    } catch (const std::exception& error) {
      std::fprintf(stderr, "weft: warning: --live: the page could not be served: %s\n",
                   error.what());
    }
  }

  LiveAnswers answers_;
  httplib::Server server_;
  int port_ = 0;
  std::thread thread_;  // Not of Threads, since it may have to be left behind.
  FirstFailure failure_;
  std::atomic<bool> stopped_ = false;
};

}  // namespace

bool LivePage::possible() {
  return true;
}

Result<std::unique_ptr<LivePage>> LivePage::open(LiveSettings settings) {
  auto token = make_token();
  if (!token) return std::move(token).error();
  auto text = make_live_page(settings);
  if (!text) return std::move(text).error();
  const int port = settings.port;
  auto page =
      std::make_unique<LiveServer>(std::move(settings), *std::move(token), *std::move(text));
  if (Status bound = page->bind(port); !bound) return std::move(bound).error();
  return std::unique_ptr<LivePage>(std::move(page));
}

#endif

}  // namespace weft::app
