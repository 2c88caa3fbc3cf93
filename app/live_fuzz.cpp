// SPDX-License-Identifier: Apache-2.0
// Fuzz target: arbitrary bytes as what a browser, or anybody else on this machine, sends to the
// server of a live page. Nobody gets the page without its token.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "test_live.hpp"

using namespace weft::app;

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer calls it so.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static TestLiveServer server;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  TestConnection connection(text);
  server.take(connection);
  if (server.watchers() != 0) std::abort();
  // A token may be written with percent signs, so its digits need not stand there as they are.
  const bool knows = text.find(TestLiveServer::token) != std::string_view::npos ||
                     text.find('%') != std::string_view::npos;
  if (!knows && connection.answer().find(TestLiveServer::page) != std::string::npos) std::abort();
  return 0;
}
