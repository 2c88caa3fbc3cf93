// SPDX-License-Identifier: Apache-2.0
// Fuzz target: arbitrary bytes as the answers of a launcher's PMI-1 server, from the first line to
// the end of a job with business cards.
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>

#include <sys/socket.h>
#include <unistd.h>

#include <weft/real/launch/pmi_store.hpp>

using namespace weft;
using namespace weft::launch;

namespace {

// A seat exchanges cards; only one that got all of its answers goes on.
void take_seat_in(std::unique_ptr<Store> store) {
  const std::uint32_t ranks = store->ranks();
  auto seat = take_store_seat(std::move(store));
  if (!seat) return;
  const auto cards = (*seat)->exchange("card");
  if (cards && cards->size() != ranks) std::abort();
  Notice notice;
  while ((*seat)->next_notice(notice)) {
  }
  (*seat)->leave();
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer calls it so.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) std::abort();
  // All answers lie ready, then the server is gone: nobody waits. The requests are never read.
  static_cast<void>(!::send(ends[0], data + 1, size - 1, MSG_NOSIGNAL));
  ::shutdown(ends[0], SHUT_WR);
  const std::uint32_t ranks = 1 + data[0] % 4u;
  auto store = open_pmi_store({ends[1], data[0] / 4u % ranks, ranks, 20'000});
  if (store) take_seat_in(*std::move(store));
  ::close(ends[0]);
  return 0;
}
