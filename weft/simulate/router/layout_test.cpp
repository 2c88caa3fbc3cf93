// SPDX-License-Identifier: Apache-2.0
// Every cable of the network is found in the tables, with the right routers, ports and delays at
// its ends; every buffer has one feeder, and that feeder fills it.
#include "weft/simulate/router/layout.hpp"

#include <set>
#include <string>

#include <gtest/gtest.h>

#include <weft/parallel/processes/local.hpp>
#include <weft/simulate/router/test_state.hpp>

namespace weft::detail {
namespace {

// The output that sends into the cable at a port.
const Output& cable_output(const State& state, RouterIndex r, std::uint32_t port) {
  const std::uint32_t behind = state.setup.buffered ? state.routers[r].ends() : 0;
  return state.outputs[state.output_at(r, LocalOutput(behind + port))];
}

void check_cables(const State& state) {
  const Graph& graph = state.setup.graph;
  const Placement& placement = state.placement;
  for (RouterIndex r; r.value < placement.ids.size(); ++r) {
    const auto ports = graph.ports(placement.ids[r]);
    ASSERT_EQ(state.routers[r].ports, ports.size());
    for (std::uint32_t p = 0; p < ports.size(); ++p) {
      const Output& out = cable_output(state, r, p);
      ASSERT_EQ(out.kind, ports[p].connected() ? to_router : to_nowhere);
      if (!ports[p].connected()) continue;
      const LocalInput expected(ports[p].peer_port * state.setup.vcs);
      if (!placement.has(ports[p].peer)) {
        ASSERT_TRUE(out.remote);
        EXPECT_EQ(out.remote_router(), ports[p].peer);
        EXPECT_EQ(out.remote_target(), expected);
        EXPECT_EQ(out.owner, placement.process_of[ports[p].peer.index]);
        continue;
      }
      const RouterIndex to = placement.find(ports[p].peer);
      EXPECT_EQ(out.router, to);
      EXPECT_EQ(out.remote, placement.worker_of(r) != placement.worker_of(to));
      const InputIndex real = out.remote ? out.real_target : out.target;
      EXPECT_EQ(real - state.routers[to].first_input, expected);
    }
  }
}

// The targets of every output that leads somewhere are its own, and know it.
void check_feeders(const State& state) {
  std::set<InputIndex> fed;
  for (OutputIndex o; o.value < state.output_count; ++o) {
    const Output& out = state.outputs[o];
    const RouterIndex r = state.router_of_output[o];
    const Router& router = state.routers[r];
    ASSERT_LT((o - router.first_output).value, router.outputs);
    const bool card = o - router.first_output >= router.first_card_output();
    if (out.kind == to_nowhere && !card) continue;
    for (Vc vc{0}; vc.value < state.setup.vcs; ++vc) {
      const Input& target = state.inputs[out.target + vc];
      EXPECT_TRUE(fed.insert(out.target + vc).second);
      EXPECT_EQ(target.feeder(), o);
      EXPECT_EQ(state.accounts[state.channel(o, vc)].ring, state.first_slot(target));
      if (!out.remote || !state.placement.alone()) continue;
      const Input& real = state.inputs[out.real_target + vc];
      EXPECT_TRUE(real.remote);
      EXPECT_EQ(real.mirror(), out.target + vc);
    }
  }
}

TEST(Layout, ConnectsEveryCable) {
  for (const std::string spec : {"torus:4x3", "mesh:4x3,p=2", "hypercube:3"}) {
    for (const std::int64_t output_buffer : {0, 512}) {
      for (const int workers : {1, 3}) {
        SCOPED_TRACE(spec + " " + std::to_string(output_buffer) + " " + std::to_string(workers));
        NetworkHardware machine = test_machine();
        machine.output_buffer = Bytes{output_buffer};
        const TestState test(spec, "dor", machine, workers);
        check_cables(*test.state);
        check_feeders(*test.state);
      }
    }
  }
}

TEST(Layout, MirrorsOnlyWhatAnotherWorkerOwns) {
  const TestState one("ring:6", "dor", test_machine());
  EXPECT_EQ(one.state->input_count, one.state->real_inputs);
  const TestState two("ring:6", "dor", test_machine(), 2);
  // Two cables cross between the halves of a ring, in both directions, with two VCs.
  EXPECT_EQ(two.state->input_count, two.state->real_inputs + 2 * 2 * 2);
}

TEST(Layout, OfOneOfSeveralProcessesHasItsPartOnly) {
  const auto peers = make_local_group(2);
  for (const auto& self : peers) {
    const TestState test("ring:6", "dor", test_machine(), 2, self.get());
    const State& state = *test.state;
    ASSERT_EQ(state.placement.ids.size(), 3u);
    EXPECT_EQ(state.placement.ids[RouterIndex(0)].index, self->self() == 0 ? 0u : 3u);
    EXPECT_FALSE(state.placement.alone());
    check_cables(state);
    check_feeders(state);
    ASSERT_EQ(state.remote_feeders.size(), 2u);  // One cable at either end of the part.
    for (const RemoteFeeder& feeder : state.remote_feeders) {
      EXPECT_NE(feeder.process, static_cast<std::uint32_t>(self->self()));
      EXPECT_FALSE(state.placement.has(feeder.router));
    }
  }
}

// Every slot of every ring has a place of its own, and the shallow ones stand together.
TEST(Layout, RingsDoNotMeet) {
  for (const bool cut : {false, true}) {
    const std::uint32_t rings = 6;
    RingShape shape = RingShape::of(100, rings);
    if (cut) {
      shape.block_bits = 1;
      shape.block_mask = 1;
      shape.stride = rings << shape.block_bits;
    }
    ASSERT_GE(1u << shape.bits, 100u);
    std::set<std::size_t> places;
    std::size_t shallow_end = 0;
    for (InputIndex input; input.value < rings; ++input) {
      for (std::uint32_t position = 0; position <= shape.mask; ++position) {
        const std::size_t place = shape.first(input) + shape.offset(position);
        EXPECT_LT(place, shape.slots());
        EXPECT_TRUE(places.insert(place).second) << "slot " << position;
        EXPECT_EQ(shape.offset(position + shape.mask + 1), shape.offset(position));
        if (position <= shape.block_mask) shallow_end = std::max(shallow_end, place + 1);
      }
    }
    EXPECT_EQ(shallow_end, std::size_t{rings} << shape.block_bits);
    for (RouterIndex r; r.value < 100; ++r) EXPECT_LE(shape.first_position(r), shape.block_mask);
  }
}

TEST(Layout, ManyRingsAreCutIntoBlocks) {
  const auto is_whole = [](const RingShape& shape) { return shape.block_bits == shape.bits; };
  EXPECT_TRUE(is_whole(RingShape::of(16, 1'000'000)));
  EXPECT_TRUE(is_whole(RingShape::of(128, 8000)));
  EXPECT_FALSE(is_whole(RingShape::of(128, 20'000)));
  EXPECT_FALSE(is_whole(RingShape::of(16, 16'000'000)));  // A million routers.
}

TEST(Layout, FindsHowSoonRoutersAffectEachOther) {
  const TestState test("ring:6", "dor", test_machine());
  const Lookahead least = find_lookahead(*test.state);
  EXPECT_EQ(least.packets_ps, Duration::ns(7 + 11 + 100).in_ps());
  EXPECT_EQ(least.credits_ps, Duration::ns(7 + 90 + 5).in_ps());
  const TestState alone("fattree:k=4,levels=1", "dest-down", test_machine());
  EXPECT_EQ(find_lookahead(*alone.state).packets_ps, never_at);
}

}  // namespace
}  // namespace weft::detail
