// SPDX-License-Identifier: Apache-2.0
// What the server of a live page answers to whom.
#include <string>

#include "test_live.hpp"
#include <gtest/gtest.h>

namespace weft::app {
namespace {

const std::string own_host = "Host: 127.0.0.1:12345\r\n";

// The status line and the rest.
std::string answer_to(const std::string& request) {
  TestLiveServer server;
  TestConnection connection(request);
  server.take(connection);
  EXPECT_EQ(server.watchers(), 0);
  return connection.answer();
}

std::string status_of(const std::string& request) {
  const std::string answer = answer_to(request);
  return answer.substr(0, answer.find('\r'));
}

TEST(LiveAnswers, ThePageIsForWhoeverKnowsItsToken) {
  const std::string page = answer_to("GET /0123456789abcdef/ HTTP/1.1\r\n" + own_host + "\r\n");
  EXPECT_TRUE(page.starts_with("HTTP/1.1 200 OK\r\n")) << page;
  EXPECT_TRUE(page.ends_with("\r\n\r\nthe page")) << page;
  EXPECT_EQ(status_of("GET /0123456789abcdee/ HTTP/1.1\r\n" + own_host + "\r\n"),
            "HTTP/1.1 404 Not Found");
}

TEST(LiveAnswers, ARunThatIsOverEndsItsEvents) {
  const std::string events =
      answer_to("GET /0123456789abcdef/events HTTP/1.1\r\nHost: localhost:12345\r\n\r\n");
  EXPECT_NE(events.find("Content-Type: text/event-stream"), std::string::npos) << events;
  EXPECT_TRUE(events.ends_with("0\r\n\r\n")) << events;
}

TEST(LiveAnswers, AnotherSitesNameIsRefused) {
  EXPECT_EQ(status_of("GET /0123456789abcdef/ HTTP/1.1\r\nHost: evil.example:12345\r\n\r\n"),
            "HTTP/1.1 403 Forbidden");
}

// Anybody on this machine could otherwise fill our memory.
TEST(LiveAnswers, WhatComesWithOtherMethodsIsNotRead) {
  for (const std::string method : {"POST", "PUT", "PATCH", "DELETE"}) {
    std::string request = method;
    request += " / HTTP/1.1\r\n" + own_host + "Content-Length: 9000000000\r\n\r\n";
    request.append(100000, 'x');
    TestLiveServer server;
    TestConnection connection(request);
    server.take(connection);
    EXPECT_TRUE(connection.answer().starts_with("HTTP/1.1 405 ")) << connection.answer();
    EXPECT_EQ(connection.unread().size(), 100000u) << method;
  }
}

}  // namespace
}  // namespace weft::app
