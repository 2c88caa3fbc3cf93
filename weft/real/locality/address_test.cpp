// SPDX-License-Identifier: Apache-2.0
#include "weft/real/locality/address.hpp"

#include <gtest/gtest.h>

namespace weft::locality {
namespace {

TEST(Address, IsReadAndWritten) {
  for (const char* text : {"10.64.0.1", "0.0.0.0", "255.255.255.255", "fd00::1", "::1"}) {
    const auto address = parse_address(text);
    ASSERT_TRUE(address) << text;
    EXPECT_EQ(to_text(*address), text);
  }
  for (const char* text : {"", "eth0", "10.64.0", "10.64.0.256", "10.64.0.1 ", "fd00::g"})
    EXPECT_FALSE(parse_address(text)) << text;
}

TEST(Subnet, CutsAtAnyBit) {
  const Address address = *parse_address("10.255.255.255");
  EXPECT_EQ(to_text(subnet_of(address, 0)), "0.0.0.0/0");
  EXPECT_EQ(to_text(subnet_of(address, 9)), "10.128.0.0/9");
  EXPECT_EQ(to_text(subnet_of(address, 20)), "10.255.240.0/20");
  EXPECT_EQ(to_text(subnet_of(address, 31)), "10.255.255.254/31");
  EXPECT_EQ(to_text(subnet_of(address, 32)), "10.255.255.255/32");
  EXPECT_EQ(to_text(subnet_of(*parse_address("fd00:1:2:3::9"), 64)), "fd00:1:2:3::/64");
  EXPECT_EQ(to_text(subnet_of(*parse_address("fd00::ff"), 124)), "fd00::f0/124");
}

TEST(Subnet, ContainsAddressesOfItsFamilyOnly) {
  const Subnet subnet = *parse_subnet("10.64.0.7/16");
  EXPECT_EQ(to_text(subnet), "10.64.0.0/16");
  EXPECT_TRUE(contains(subnet, *parse_address("10.64.255.1")));
  EXPECT_FALSE(contains(subnet, *parse_address("10.65.0.1")));
  EXPECT_FALSE(contains(*parse_subnet("0.0.0.0/0"), *parse_address("fd00::1")));
}

TEST(Subnet, RefusesWhatIsNone) {
  EXPECT_EQ(parse_subnet("10.64.0.0/33").error().message(),
            "'10.64.0.0/33': the number after '/' must be between 0 and 32");
  EXPECT_FALSE(parse_subnet("10.64.0.0"));
  EXPECT_FALSE(parse_subnet("10.64.0.0/"));
  EXPECT_FALSE(parse_subnet("eth0/16"));
  EXPECT_TRUE(parse_subnet("fd00::/128"));
}

TEST(Address, KnowsLinkLocalOnes) {
  EXPECT_TRUE(is_link_local(*parse_address("169.254.1.1")));
  EXPECT_TRUE(is_link_local(*parse_address("fe80::1")));
  EXPECT_TRUE(is_link_local(*parse_address("febf::1")));
  EXPECT_FALSE(is_link_local(*parse_address("fec0::1")));
  EXPECT_FALSE(is_link_local(*parse_address("10.0.0.1")));
}

}  // namespace
}  // namespace weft::locality
