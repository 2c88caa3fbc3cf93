// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <weft/real/wire/contact.hpp>

namespace weft::wire {
namespace {

TEST(Contact, PlacesComeAsTheyWent) {
  const ContactPlace place{"host.1", "a name", "0-3,8", {"", "7:x\n\0", "lo"}};
  const auto read = parse_place(to_text(place));
  ASSERT_TRUE(read) << read.error().text();
  EXPECT_EQ(read->host, place.host);
  EXPECT_EQ(read->name, place.name);
  EXPECT_EQ(read->processors, place.processors);
  EXPECT_EQ(read->rails, place.rails);
}

TEST(Contact, AddressesComeAsTheyWent) {
  ContactAddress address;
  address.room = 77;
  address.rails = {std::string("\0\xff:3", 4), ""};
  const auto read = parse_address(to_text(address));
  ASSERT_TRUE(read) << read.error().text();
  EXPECT_EQ(read->room, 77u);
  EXPECT_EQ(read->rails, address.rails);
}

TEST(Contact, WhatCannotBeMeantIsRefused) {
  ContactAddress address;
  address.rails = {"one", "two"};
  const std::string good = to_text(address);
  EXPECT_FALSE(parse_place(good));
  EXPECT_FALSE(parse_address(to_text(ContactPlace{})));
  for (std::size_t cut = 0; cut < good.size(); ++cut) {
    EXPECT_FALSE(parse_address(good.substr(0, cut))) << cut;
  }
  for (const char* const bad : {"x", "5:ab", "-1:", "99999999999999999999:a", "3abc", ":"}) {
    EXPECT_FALSE(unpack_texts(bad)) << bad;
  }
}

}  // namespace
}  // namespace weft::wire
