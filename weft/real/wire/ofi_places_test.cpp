// SPDX-License-Identifier: Apache-2.0
#include <sstream>

#include <gtest/gtest.h>

#include <weft/real/wire/ofi_places.hpp>

namespace weft::wire {
namespace {

OfiPlace place(const char* provider, const char* domain, const char* fabric, bool named = false) {
  return {provider, domain, fabric, Rate::gbit_per_s(100), named};
}

using Pairs = std::vector<locality::RailPair>;

TEST(OfiPlaces, TextReadsBack) {
  const std::vector<OfiPlace> places = {place("verbs", "mlx5_0", "IB-0xfe80"),
                                        place("tcp", "eth 0", "10.0.0.0/8", true)};
  std::istringstream in(to_text(places) + "more");
  const auto read = read_places(in);
  ASSERT_TRUE(read) << read.error().text();
  EXPECT_EQ(*read, places);
  for (const char* const bad :
       {"", "x\n", "1\n", "1\na\tb\tc\n", "1\na\tb\tc\t-5\t0\n", "99999\n"}) {
    std::istringstream from(bad);
    EXPECT_FALSE(read_places(from)) << bad;
  }
}

TEST(OfiPlaces, PairsAreTheSameFromBothSides) {
  const std::vector<OfiPlace> a = {place("verbs", "mlx5_1", "B"), place("verbs", "mlx5_0", "A"),
                                   place("tcp", "eth0", "S"), place("verbs", "mlx5_2", "A")};
  const std::vector<OfiPlace> b = {place("verbs", "q1", "A"), place("verbs", "q0", "A"),
                                   place("efa", "e", "S"), place("verbs", "q2", "B")};
  const Pairs from_a = pair_places(a, b);
  EXPECT_EQ(from_a, (Pairs{{1, 1}, {3, 0}, {0, 3}}));
  Pairs from_b = pair_places(b, a);
  for (auto& pair : from_b) std::swap(pair.mine, pair.theirs);
  EXPECT_EQ(from_b, from_a);
}

TEST(OfiPlaces, AcrossFabricsOnlyIfNamed) {
  const std::vector<OfiPlace> a = {place("tcp", "eth0", "10.1.0.0/24", true)};
  const std::vector<OfiPlace> b = {place("tcp", "eth0", "10.2.0.0/24", true)};
  const std::vector<OfiPlace> c = {place("tcp", "eth0", "10.2.0.0/24", false)};
  EXPECT_EQ(pair_places(a, b), (Pairs{{0, 0}}));
  EXPECT_TRUE(pair_places(a, c).empty());
  // This provider names the fabric after the card.
  const std::vector<OfiPlace> d = {place("efa", "e0", "x")}, e = {place("efa", "e0", "y")};
  EXPECT_EQ(pair_places(d, e), (Pairs{{0, 0}}));
}

TEST(OfiPlaces, WishesSayProviderAndDomain) {
  EXPECT_EQ(parse_ofi_rail_name("ofi:verbs")->provider, "verbs");
  EXPECT_EQ(parse_ofi_rail_name("ofi:tcp:eth0")->domain, "eth0");
  for (const char* const bad : {"ofi:", "ofi::eth0", "ofi:tcp:", "eth0"}) {
    EXPECT_FALSE(parse_ofi_rail_name(bad)) << bad;
  }
}

}  // namespace
}  // namespace weft::wire
