// SPDX-License-Identifier: Apache-2.0
#include "weft/real/locality/pairing.hpp"

#include <algorithm>

#include <gtest/gtest.h>

#include <weft/base/rng.hpp>
#include <weft/base/test_seed.hpp>
#include <weft/real/locality/test_interfaces.hpp>

namespace weft::locality {
namespace {

using List = std::vector<Interface>;

// "eth0-eth1 eth1-eth0": names of mine and theirs, in the order of the rails.
std::string names(const List& mine, const List& theirs, Meeting meeting = {}) {
  std::string text;
  for (const RailPair& pair : pair_rails(mine, theirs, meeting))
    text += (text.empty() ? "" : " ") + mine[pair.mine].name + "-" + theirs[pair.theirs].name;
  return text;
}

TEST(PairRails, JoinsCommonSubnets) {
  const List a = {card("eth0", "10.1.0.1/24"), card("eth1", "10.2.0.1/24"),
                  card("eth2", "10.3.0.1/24"), loopback()};
  const List b = {card("en5", "10.3.0.2/24"), card("en6", "10.1.0.2/24"), loopback()};
  EXPECT_EQ(names(a, b), "eth0-en6 eth2-en5");
  EXPECT_EQ(names(b, a), "en6-eth0 en5-eth2");
}

TEST(PairRails, NeedsTheSameSubnet) {
  const List a = {card("eth0", "10.1.0.1/24")};
  EXPECT_EQ(names(a, {card("eth0", "10.1.1.1/24")}), "");
  EXPECT_EQ(names(a, {card("eth0", "10.1.0.2/16")}), "");
  EXPECT_EQ(names(a, {}), "");
  EXPECT_EQ(names({}, {}), "");
}

TEST(PairRails, PairsByIndexInOneSubnet) {
  const List a = {card("eth0", "10.1.0.1/24"), card("eth1", "10.1.0.2/24")};
  const List b = {card("eth0", "10.1.0.12/24"), card("eth1", "10.1.0.11/24"),
                  card("eth2", "10.1.0.13/24")};
  EXPECT_EQ(names(a, b), "eth0-eth1 eth1-eth0");
}

TEST(PairRails, PairsFastWithFast) {
  const List a = {card("eth0", "10.1.0.1/24", 1), card("eth1", "10.1.0.2/24", 100)};
  const List b = {card("eth0", "10.1.0.11/24", 100), card("eth1", "10.1.0.12/24", 1)};
  EXPECT_EQ(names(a, b), "eth1-eth0 eth0-eth1");
}

TEST(PairRails, PassesOverBridgesOfContainers) {
  const List a = {card("docker0", "172.17.0.1/16"), card("virbr0", "192.168.122.1/24"),
                  card("eth0", "10.1.0.1/24")};
  const List b = {card("docker0", "172.17.0.1/16"), card("virbr0", "192.168.122.1/24"),
                  card("eth0", "10.1.0.2/24")};
  EXPECT_EQ(names(a, b), "eth0-eth0");
  // A real NIC in the bridge's subnet does not talk to the other host's bridge.
  const List c = {card("docker0", "172.17.0.1/16"), card("eth0", "172.17.0.5/16")};
  EXPECT_EQ(names(c, a), "");
}

TEST(PairRails, PassesOverWhatIsDown) {
  const List a = {down(card("eth0", "10.1.0.1/24")), card("eth1", "10.2.0.1/24"),
                  unplugged(card("eth2", "10.3.0.1/24")), without_address("eth3")};
  const List b = {card("eth0", "10.1.0.2/24"), card("eth1", "10.2.0.2/24"),
                  card("eth2", "10.3.0.2/24"), without_address("eth3")};
  EXPECT_EQ(names(a, b), "eth1-eth1");
}

TEST(PairRails, UsesAnInterfaceOnce) {
  const List a = {card("eth0", "10.1.0.1/24"), card("eth0", "10.2.0.1/24"),
                  card("eth1", "10.2.0.3/24")};
  const List b = {card("eth0", "10.1.0.2/24"), card("eth0", "10.2.0.2/24"),
                  card("eth1", "10.2.0.4/24")};
  EXPECT_EQ(names(a, b), "eth0-eth0 eth1-eth1");
  const List c = {card("eth0", "10.1.0.1/24"), card("eth0", "10.1.0.3/24")};
  const List d = {card("eth0", "10.1.0.2/24"), card("eth0", "10.1.0.4/24")};
  EXPECT_EQ(names(c, d), "eth0-eth0");
}

TEST(PairRails, TakesIpv6) {
  const List a = {card("eth0", "fd00:1::1/64"), card("eth1", "10.1.0.1/24")};
  const List b = {card("eth0", "fd00:1::2/64"), card("eth1", "10.1.0.2/24")};
  EXPECT_EQ(names(a, b), "eth1-eth1 eth0-eth0");
}

TEST(PairRails, HasTheLoopbackInsideAHostOnly) {
  const List a = {loopback(), card("eth0", "10.1.0.1/24")};
  EXPECT_EQ(names(a, a, {.same_host = true}), "lo-lo");
  EXPECT_EQ(names(a, a), "");
  EXPECT_EQ(names({loopback()}, {loopback()}), "");
  const List named = {card("eth1", "10.2.0.1/24"), card("eth0", "10.1.0.1/24")};
  EXPECT_EQ(names(named, named, {.same_host = true, .named = true}), "eth0-eth0 eth1-eth1");
  const List two = {card("lo", "127.0.0.2/8"), card("lo", "127.0.0.1/8")};
  EXPECT_EQ(pair_rails(two, two, {.same_host = true}), (std::vector<RailPair>{{1, 1}, {0, 0}}));
}

TEST(PairRails, GoesOverRoutersIfNamed) {
  const List a = {card("eth0", "10.1.0.1/32"), card("eth1", "10.9.0.1/24")};
  const List b = {card("eth0", "10.1.0.2/32"), card("eth1", "10.9.0.2/24")};
  EXPECT_EQ(names(a, b), "eth1-eth1");
  EXPECT_EQ(names(a, b, {.named = true}), "eth1-eth1 eth0-eth0");
  EXPECT_EQ(names({card("eth0", "10.1.0.1/32")}, {card("eth0", "fd00::1/128")}, {.named = true}),
            "");
}

TEST(NoRail, SaysWhatThereIsAndWhatToDo) {
  const List a = {card("eth0", "10.1.0.1/24")}, b = {down(card("eth0", "10.1.0.2/24"))};
  EXPECT_EQ(no_rail_text({"n1", a}, {"n2", b}),
            "hosts 'n1' and 'n2' have no network in common: 'n1' has eth0 (10.1.0.1/24), 'n2' has "
            "eth0 (down); put interfaces of both on one subnet, or name those to use over a router "
            "with --rails");
}

// Few subnets, addresses and names, so that all combinations occur.
List random_host(Rng& rng, int host) {
  List list;
  const std::uint64_t count = rng.below(6);
  for (std::uint64_t i = 0; i < count; ++i) {
    const bool shared = rng.below(8) == 0;
    const std::string last = std::to_string(shared ? 1 : 10 * (host + 1) + static_cast<int>(i));
    Interface one = card("eth" + std::to_string(rng.below(5)),
                         "10." + std::to_string(rng.below(3)) + ".0." + last + "/24",
                         rng.coin() ? 0 : static_cast<int>(1 + rng.below(3)));
    if (rng.below(8) == 0) one = down(one);
    if (rng.below(8) == 0) one = loopback();
    list.push_back(one);
  }
  return list;
}

// The pairs of addresses, independent of positions.
std::vector<std::pair<Address, Address>> ends(const List& mine, const List& theirs,
                                              Meeting meeting) {
  std::vector<std::pair<Address, Address>> found;
  for (const RailPair& pair : pair_rails(mine, theirs, meeting))
    found.emplace_back(mine[pair.mine].address, theirs[pair.theirs].address);
  return found;
}

template <typename T>
void shuffle(std::vector<T>& list, Rng& rng) {
  for (std::size_t i = list.size(); i > 1; --i) std::swap(list[i - 1], list[rng.below(i)]);
}

TEST(PairRails, IsTheSameFromBothSidesAndInAnyOrder) {
  const std::uint64_t seed = test_seed();
  SCOPED_TRACE(replay_text(seed));
  Rng rng(seed);
  for (int round = 0; round < 3000; ++round) {
    List a = random_host(rng, 0), b = random_host(rng, 1);
    const Meeting meeting{.same_host = false, .named = rng.coin()};
    const auto rails = ends(a, b, meeting);
    auto swapped = ends(b, a, meeting);
    for (auto& [mine, theirs] : swapped) std::swap(mine, theirs);
    ASSERT_EQ(rails, swapped) << to_text(a) << "and\n" << to_text(b);
    for (const RailPair& pair : pair_rails(a, b, meeting)) {
      ASSERT_TRUE(a[pair.mine].usable() && b[pair.theirs].usable());
      ASSERT_NE(a[pair.mine].address, b[pair.theirs].address);
      ASSERT_TRUE(meeting.named || a[pair.mine].subnet() == b[pair.theirs].subnet());
    }
    shuffle(a, rng);
    shuffle(b, rng);
    ASSERT_EQ(rails, ends(a, b, meeting)) << to_text(a) << "and\n" << to_text(b);
  }
}

}  // namespace
}  // namespace weft::locality
