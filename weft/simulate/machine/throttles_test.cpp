// SPDX-License-Identifier: Apache-2.0
// What is said to hold a link back does so in the simulation, to the rate that is said.
#include "weft/simulate/machine/throttles.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <weft/base/file.hpp>
#include <weft/base/test_file.hpp>
#include <weft/simulate/router/network.hpp>

namespace weft {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

MachineDescription read(const std::string& net, const std::vector<std::string>& sets = {},
                        const std::string& profile = "") {
  auto machine = read_machine({.net = net, .profile = profile, .sets = sets});
  EXPECT_TRUE(machine) << machine.error().text();
  return *std::move(machine);
}

TEST(Throttles, ProfilesHaveNone) {
  for (const char* const profile : {"cluster", "nsim", "textbook"})
    for (const char* const net : {"torus:4x4x4", "fattree:k=4,levels=2", "dragonfly:a=4,h=2,p=2"})
      EXPECT_THAT(read(net, {}, profile).warnings, IsEmpty()) << profile << " " << net;
}

TEST(Throttles, ARoutingThatCablesDownChangeIsNamed) {
  const std::vector<std::string> one_down = {"network.down+=random:1"};
  EXPECT_THAT(read("fattree:radix=8,levels=2,taper=2", one_down).warnings, IsEmpty());
  EXPECT_THAT(read("torus:4x4,p=2", one_down).warnings,
              ElementsAre(HasSubstr("routing is dor-around (4 VCs) instead of dor (2 VCs)")));
  EXPECT_THAT(read("torus:4x4,p=2", {"network.down+=random:1", "routing.policy=ugal-l"}).warnings,
              ElementsAre(HasSubstr("routing ugal-l takes shortest paths in layers of VCs")));
}

TEST(Throttles, ANodeAloneHasNone) {
  const std::string path = test_file("alone.graph");
  ASSERT_TRUE(write_file(path, "weft-graph 1\nrouter r\nnode n r\n"));
  EXPECT_THAT(read(path, {"node.memory_rate=1 GB/s"}).warnings, IsEmpty());
  ASSERT_TRUE(write_file(path, "weft-graph 1\nrouter r\nnode n r\nnode m r\n"));
  EXPECT_THAT(read(path, {"node.memory_rate=1 GB/s"}).warnings, testing::Not(IsEmpty()));
}

TEST(Throttles, DefaultsFollowTheLinks) {
  for (const char* const rate : {"1 GB/s", "25 GB/s", "50 GB/s", "200 GB/s"})
    for (const char* const delay : {"5 ns", "100 ns", "5 us"})
      EXPECT_THAT(read("torus:4x4x4",
                       {std::string("link.rate=") + rate, std::string("link.delay=") + delay})
                      .warnings,
                  IsEmpty())
          << rate << " " << delay;
  EXPECT_THAT(read("dragonfly:a=4,h=2,p=2", {"link.global.length=100 m", "node.rails=2"}).warnings,
              IsEmpty());
}

TEST(Throttles, AreNamedWithWhatWouldDo) {
  EXPECT_THAT(read("torus:4x4x4", {"link.rate=25 GB/s"}, "nsim").warnings,
              ElementsAre(HasSubstr("router.buffer of 4 KiB lets one virtual channel use"),
                          HasSubstr("node.dma_rate of 10 GB/s holds the card's link to 40 %"),
                          HasSubstr("node.memory_rate of 10 GB/s copies")));
  // A card's own rate is what it says.
  EXPECT_THAT(read("torus:4x4x4", {"nic.inject_rate=5 GB/s"}).warnings, IsEmpty());
  // Two VCs of 60 % fill a link; one does not.
  const std::vector<std::string> small = {"router.buffer=8 KiB"};
  EXPECT_THAT(read("torus:4x4x4", small).warnings, IsEmpty());
  EXPECT_THAT(read("mesh:4x4x4", small).warnings,
              ElementsAre(HasSubstr("router.buffer of 8 KiB lets one virtual channel use")));
  EXPECT_THAT(read("torus:4x4x4", {"nic.rate=10 GB/s", "nic.inject_rate=20 GB/s"}).warnings,
              ElementsAre(HasSubstr("nic.inject_rate of 20 GB/s is more than the card's link")));
  EXPECT_THAT(read("torus:4x4x4", {"nic.rate=50 GB/s"}).warnings, IsEmpty());
  EXPECT_THAT(read("torus:4x4x4",
                   {"nic.rate=16 GB/s", "node.dma_rate=16 GB/s", "node.memory_rate=16 GB/s",
                    "router.buffer=64 KiB"},
                   "nsim")
                  .warnings,
              ElementsAre(HasSubstr("a card's link of 16 GB/s is used at the rate of the links")));
  EXPECT_THAT(read("torus:4x4x4", {"router.switch_rate=5 GB/s"}).warnings,
              ElementsAre(HasSubstr("router.switch_rate of 5 GB/s holds links to 20 %")));
  EXPECT_THAT(read("torus:4x4x4", {"node.bus_rate=16 GB/s", "node.bus_header=32 B"}).warnings,
              ElementsAre(HasSubstr("node.bus_rate, less headers, of 12.8 GB/s")));
  EXPECT_THAT(
      read("torus:4x4,p=2", {"node.sockets=2", "node.rails=2", "node.far_latency=400 ns"}).warnings,
      ElementsAre(HasSubstr("node.far_latency, with node.far_transactions under way, of "
                            "10.2 GB/s")));
}

class Watch final : public Host {
 public:
  Time alarm(int, NodeId, Time) override { return Time::never(); }
  void delivered(int, const Delivery& d) override { arrived = d.arrived; }
  Time arrived;
};

// A long message between neighbours.
Rate measure(const MachineDescription& machine) {
  Watch watch;
  const auto policy = *make_policy("shortest", *machine.topology, machine.hardware.vcs);
  const auto network = *Network::make(*machine.topology, machine.hardware, *policy, watch, {});
  const Bytes size{machine.hardware.mtu.count * 2000};
  network->send(NodeId(0), NodeId(1), size, Time::zero());
  EXPECT_FALSE(*network->run(Time::never()));
  const double on_wire = 2000.0 * static_cast<double>(machine.hardware.packet_max().count);
  return Rate::bit_per_s(
      static_cast<std::int64_t>(8 * on_wire / watch.arrived.since_start().in_seconds()));
}

TEST(Throttles, SayTheRateThatIsSimulated) {
  for (const char* const release : {"tail", "head"}) {
    for (const char* const buffer : {"4 KiB", "9000 B", "13 KiB", "20 KiB", "40 KiB"}) {
      for (const char* const delay : {"25 ns", "300 ns"}) {
        const MachineDescription machine =
            read("complete:2",
                 {std::string("router.buffer=") + buffer, "router.vcs=1",
                  std::string("link.delay=") + delay, std::string("router.release=") + release});
        Rate said = machine.hardware.link.rate;
        for (const CreditLoop& loop : machine.hardware.credit_loops())
          said = std::min(said, machine.hardware.vc_rate(loop));
        EXPECT_NEAR(measure(machine).in_byte_per_s() / said.in_byte_per_s(), 1.0, 0.02)
            << release << " " << buffer << " " << delay;
      }
    }
  }
}

}  // namespace
}  // namespace weft
