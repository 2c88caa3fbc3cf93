// SPDX-License-Identifier: Apache-2.0
#include "world.hpp"

namespace weft::testnet {

TestnetRank::TestnetRank(World& world, RankId self, std::uint32_t ranks)
    : world_(world),
      self_(self),
      fabric_{.self = self,
              .ranks = ranks,
              .ordered = world.options.ordered && world.options.rails == 1,
              .carries_data = world.options.carries_data,
              .transport = *this,
              .connections = *this,
              .rails = *this,
              .processor = *this,
              .observer = this} {}

int TestnetRank::rail_count(RankId) const {
  return world_.options.rails;
}
Time TestnetRank::now() const {
  return Time::ps(world_.steps) + ahead_;
}

void TestnetRank::tell(Completion::Kind kind, RankId peer) {
  Completion told;
  told.kind = kind;
  told.peer = peer;
  inbox.push_back(std::move(told));
}

bool TestnetRank::needs_connection(RankId peer) const {
  const TestnetConnections& rules = world_.options.connections;
  return rules.needed && peer.index / rules.host_ranks != self_.index / rules.host_ranks;
}

bool TestnetRank::connected(RankId peer) const {
  return !needs_connection(peer) || world_.connections.usable(self_, peer);
}

void TestnetRank::connect(RankId peer) {
  if (needs_connection(peer)) {
    world_.ask(self_, peer);
    return;
  }
  for (int i = 0; i < rail_count(peer); ++i) {
    tell(Completion::Kind::rail_up, peer);
    inbox.back().rail = RailId(static_cast<std::uint32_t>(i));
  }
}

void TestnetRank::disconnect(RankId peer) {
  if (needs_connection(peer)) world_.disconnect(self_, peer);
}

void TestnetRank::check_way(RankId peer) const {
  WEFT_CHECK(peer.index < fabric_.ranks);
  WEFT_CHECK(connected(peer) || world_.ranks[peer.index]->lost);
}

namespace {

std::unique_ptr<std::byte[]> captured(Payload payload) {
  if (payload.data == nullptr || payload.size == 0) return nullptr;
  auto data = std::make_unique<std::byte[]>(payload.held());
  std::memcpy(data.get(), payload.data, payload.held());
  return data;
}

}  // namespace

void TestnetRank::post(const SendPath& path, const FrameHead& head, Payload payload,
                       bool /*stable*/, std::uint64_t cookie) {
  check_way(path.peer);
  WEFT_CHECK(static_cast<int>(path.rail.index) < rail_count(path.peer));
  Completion c;
  c.kind = Completion::Kind::frame;
  c.peer = self_;
  c.rail = path.rail;
  c.size = payload.size;
  c.head = head;
  c.data = captured(payload);
  world_.launch(path.peer, std::move(c), {});
  if (cookie == 0) return;
  Completion sent;
  sent.kind = Completion::Kind::sent;
  sent.peer = path.peer;
  sent.cookie = cookie;
  inbox.push_back(std::move(sent));
}

void TestnetRank::write(const SendPath& path, Payload payload, RemoteMemory target,
                        const FrameHead& notice, std::uint64_t cookie) {
  check_way(path.peer);
  Completion c;
  c.kind = Completion::Kind::written;
  c.peer = self_;
  c.rail = path.rail;
  c.size = payload.size;
  c.head = notice;
  c.data = captured(payload);
  const bool unsent = world_.mischief();
  if (!unsent || world_.coin()) world_.launch(path.peer, std::move(c), target);
  Completion sent;
  sent.kind = unsent ? Completion::Kind::unsent : Completion::Kind::sent;
  sent.peer = path.peer;
  sent.rail = path.rail;
  sent.cookie = cookie;
  inbox.push_back(std::move(sent));
}

bool TestnetRank::poll(Completion& out) {
  if (lost) throw Lost();
  if (inbox.empty()) return false;
  out = std::move(inbox.front());
  inbox.pop_front();
  return true;
}

void TestnetRank::wait(Time at) {
  waits = true;
  until = at;
  fiber->pause();
  if (lost) throw Lost();
}

}  // namespace weft::testnet

namespace weft {

Status run_on_testnet(std::uint32_t ranks, const TestnetOptions& options,
                      const std::function<void(const Fabric&)>& body) {
  testnet::World world(ranks, options, body);
  return world.run();
}

}  // namespace weft
