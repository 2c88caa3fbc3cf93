// SPDX-License-Identifier: Apache-2.0
// Barrier algorithms.
#include <weft/message/coll/algorithms.hpp>

namespace weft::coll {

mp::Task barrier_dissemination(Team team) {
  Participant s(team);
  const int p = s.size();
  for (int distance = 1; distance < p; distance *= 2) {
    mp::Request* const in = s.receive((s.rank() - distance + p) % p, nullptr, 0);
    mp::Request* const out = s.send((s.rank() + distance) % p, nullptr, 0);
    co_await s.finish(in);
    co_await s.finish(out);
  }
  co_return s.error();
}

mp::Task barrier_tree(Team team) {
  Participant s(team);
  int mask = 1;
  for (; mask < s.size() && (s.rank() & mask) == 0; mask *= 2) {
    if (s.rank() + mask < s.size()) co_await s.finish(s.receive(s.rank() + mask, nullptr, 0));
  }
  if (s.rank() != 0) {
    co_await s.finish(s.send(s.rank() - mask, nullptr, 0));
    co_await s.finish(s.receive(s.rank() - mask, nullptr, 0));
  }
  for (mask /= 2; mask > 0; mask /= 2) {
    if (s.rank() + mask < s.size()) co_await s.finish(s.send(s.rank() + mask, nullptr, 0));
  }
  co_return s.error();
}

mp::Task barrier_linear(Team team) {
  Participant s(team);
  if (s.rank() != 0) {
    co_await s.finish(s.send(0, nullptr, 0));
    co_await s.finish(s.receive(0, nullptr, 0));
    co_return s.error();
  }
  for (int i = 1; i < s.size(); ++i) co_await s.finish(s.receive(i, nullptr, 0));
  for (int i = 1; i < s.size(); ++i) co_await s.finish(s.send(i, nullptr, 0));
  co_return s.error();
}

}  // namespace weft::coll
