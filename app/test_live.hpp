// SPDX-License-Identifier: Apache-2.0
// A live page's server without sockets, for tests: a request is a text, and so is its answer.
#pragma once

#include <string>
#include <string_view>

#include "live_answers.hpp"

#include <weft/network/topo/topology.hpp>

namespace weft::app {

// A connection whose other side has sent all, and keeps what it gets.
class TestConnection final : public httplib::Stream {
 public:
  explicit TestConnection(std::string_view sent) : unread_(sent) {}
  std::string_view unread() const { return unread_; }
  const std::string& answer() const { return answer_; }

  bool is_readable() const override { return true; }
  bool is_writable() const override { return true; }
  ssize_t read(char* to, std::size_t most) override {
    const std::size_t count = unread_.copy(to, most);
    unread_.remove_prefix(count);
    return static_cast<ssize_t>(count);
  }
  ssize_t write(const char* from, std::size_t size) override {
    answer_.append(from, size);
    return static_cast<ssize_t>(size);
  }
  void get_remote_ip_and_port(std::string& ip, int& port) const override {
    ip = "127.0.0.1";
    port = 1;
  }
  void get_local_ip_and_port(std::string& ip, int& port) const override {
    ip = "127.0.0.1";
    port = 1;
  }
  socket_t socket() const override { return INVALID_SOCKET; }

 private:
  std::string_view unread_;
  std::string answer_;
};

// A server whose run is over: streams of events end with their first.
class TestLiveServer : private httplib::Server {
 public:
  static constexpr std::string_view token = "0123456789abcdef", page = "the page";
  static constexpr int port = 12345;

  TestLiveServer() : answers_(settings(), std::string(token), std::string(page)) {
    svr_sock_ = 0;  // As if it listened: streams end otherwise.
    answers_.end_run();
    answers_.add_to(*this, port);
  }
  void take(TestConnection& connection) {
    bool closed = false;
    process_request(connection, true, closed, nullptr);
  }
  int watchers() const { return answers_.watchers(); }

 private:
  static LiveSettings settings() {
    LiveSettings made;
    made.folder = "/nonexistent";
    made.progress_file = "/nonexistent/progress.json";
    made.title = "a run";
    made.network = facts_of(*make_topology("ring:4"));
    return made;
  }

  LiveAnswers answers_;
};

}  // namespace weft::app
