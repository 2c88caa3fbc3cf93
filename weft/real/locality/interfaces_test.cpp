// SPDX-License-Identifier: Apache-2.0
#include "weft/real/locality/interfaces.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include <weft/base/test_file.hpp>
#include <weft/real/locality/test_interfaces.hpp>

namespace weft::locality {
namespace {

using List = std::vector<Interface>;
using Requests = std::vector<std::string>;

std::string chosen(const List& own, const Requests& requests) {
  const auto rails = choose_rails(own, requests);
  return rails ? list_text(*rails) : "error: " + rails.error().message();
}

const List& usual() {
  static const List list = {card("eth0", "10.1.0.1/24", 10),        card("eth1", "10.2.0.1/24", 25),
                            down(card("eth2", "10.3.0.1/24")),      without_address("eth3"),
                            unplugged(card("eth4", "10.4.0.1/24")), card("fab0", "fd00::1/64"),
                            card("usb0", "169.254.3.1/16"),         loopback()};
  return list;
}

TEST(ReadInterfaces, FindsTheLoopbackOfThisHost) {
  const auto interfaces = read_interfaces();
  ASSERT_TRUE(interfaces);
  const auto found = std::find_if(interfaces->begin(), interfaces->end(),
                                  [](const Interface& one) { return one.loopback; });
  ASSERT_NE(found, interfaces->end());
  if (!found->usable()) GTEST_SKIP() << "the loopback is down in this sandbox";
  EXPECT_EQ(to_text(found->address), "127.0.0.1");
  EXPECT_EQ(found->prefix, 8);
  EXPECT_EQ(found->node, -1);
}

class Folder {
 public:
  explicit Folder(const std::string& name) : path(test_file(name)) {}
  void put(const std::string& file, const std::string& contents) const {
    const std::filesystem::path full = path + "/" + file;
    std::filesystem::create_directories(full.parent_path());
    std::ofstream(full) << contents << "\n";
  }
  Interface details(const std::string& name) const {
    Interface one;
    one.name = name;
    read_details(one, path);
    return one;
  }
  std::string path;
};

TEST(ReadDetails, TakesSpeedMtuAndNode) {
  const Folder net("net");
  net.put("eth0/speed", "25000");
  net.put("eth0/mtu", "9000");
  net.put("eth0/device/numa_node", "1");
  const Interface one = net.details("eth0");
  EXPECT_EQ(one.speed, Rate::gbit_per_s(25));
  EXPECT_EQ(one.mtu, 9000);
  EXPECT_EQ(one.node, 1);
}

TEST(ReadDetails, KnowsWhatDriversDoNotTell) {
  const Folder net("untold");
  net.put("eth0/speed", "-1");
  net.put("eth0/device/numa_node", "-1");
  net.put("eth1/speed", "4294967295");
  for (const char* name : {"eth0", "eth1", "absent"}) {
    EXPECT_EQ(net.details(name).speed, Rate()) << name;
    EXPECT_EQ(net.details(name).node, -1) << name;
  }
}

TEST(ReadDetails, LooksBelowVlansAndBonds) {
  const Folder net("stacked");
  net.put("bond0/lower_eth0/device/numa_node", "1");
  net.put("bond0/lower_eth1/device/numa_node", "1");
  net.put("bond1/lower_eth0/device/numa_node", "0");
  net.put("bond1/lower_eth1/device/numa_node", "1");
  net.put("vlan5/lower_bond0/lower_eth0/device/numa_node", "1");
  EXPECT_EQ(net.details("bond0").node, 1);
  EXPECT_EQ(net.details("bond1").node, -1);
  EXPECT_EQ(net.details("vlan5").node, 1);
}

TEST(Interfaces, TravelAsText) {
  const auto read = parse_interfaces(to_text(usual()));
  ASSERT_TRUE(read);
  EXPECT_EQ(*read, usual());
  EXPECT_TRUE(parse_interfaces("")->empty());
}

TEST(Interfaces, RefuseBrokenText) {
  for (const char* text : {"x", "eth0 10.0.0.1 ur- 0 1500 -1", "eth0 10.0.0.1/33 ur- 0 1500 -1",
                           "eth0 10.0.0.1/24 ur 0 1500 -1", "eth0 10.0.0.1/24 ur- x 1500 -1",
                           "eth0 10.0.0.1/24 ur- 0 1500 -2", " 10.0.0.1/24 ur- 0 1500 -1",
                           "eth0 10.0.0.1/24 ur- 0 1500", "eth0 10.0.0.1/24 ur- -5 1500 0"})
    EXPECT_FALSE(parse_interfaces(text)) << text;
}

TEST(ChooseRails, TakesAllThatLeadToOthers) {
  EXPECT_EQ(chosen(usual(), {}), "eth0 (10.1.0.1/24), eth1 (10.2.0.1/24), fab0 (fd00::1/64)");
}

TEST(ChooseRails, HasTheLoopbackIfThereIsNothingElse) {
  EXPECT_EQ(chosen({down(card("eth0", "10.1.0.1/24")), loopback()}, {}), "lo (127.0.0.1/8)");
  EXPECT_EQ(chosen({down(loopback())}, {}), "none");
}

TEST(ChooseRails, TakesNamesAddressesAndSubnets) {
  EXPECT_EQ(chosen(usual(), {"eth1"}), "eth1 (10.2.0.1/24)");
  EXPECT_EQ(chosen(usual(), {"10.1.0.1"}), "eth0 (10.1.0.1/24)");
  EXPECT_EQ(chosen(usual(), {"10.0.0.0/8"}), "eth0 (10.1.0.1/24), eth1 (10.2.0.1/24)");
  EXPECT_EQ(chosen(usual(), {"fd00::/16"}), "fab0 (fd00::1/64)");
  EXPECT_EQ(chosen(usual(), {"eth1", "eth0", "10.2.0.1"}),
            "eth1 (10.2.0.1/24), eth0 (10.1.0.1/24)");
  EXPECT_EQ(chosen(usual(), {"usb0"}), "usb0 (169.254.3.1/16)");
}

TEST(ChooseRails, GivesOneHostSeveralRailsToItself) {
  EXPECT_EQ(chosen(usual(), {"127.0.0.1", "127.0.0.2"}), "lo (127.0.0.1/8), lo (127.0.0.2/8)");
}

TEST(ChooseRails, NamesWhatThereIs) {
  const List two = {card("eth0", "10.1.0.1/24"), down(card("eth1", "10.2.0.1/24"))};
  const std::string there = "; there are: eth0 (10.1.0.1/24), eth1 (down)";
  EXPECT_EQ(chosen(two, {"eth7"}),
            "error: rail 'eth7': this host has no interface of this name" + there);
  EXPECT_EQ(chosen(two, {"10.9.0.1"}),
            "error: rail '10.9.0.1': no interface of this host has this address" + there);
  EXPECT_EQ(
      chosen(two, {"10.9.0.0/16"}),
      "error: rail '10.9.0.0/16': no interface of this host has an address in this subnet" + there);
  EXPECT_EQ(chosen(two, {"10.9.0.0/99"}),
            "error: rail '10.9.0.0/99': the number after '/' must be between 0 and 32");
}

TEST(ChooseRails, SaysWhyAnInterfaceCannotServe) {
  const std::string remedy = "; fix that or leave it out of the rails";
  EXPECT_EQ(chosen(usual(), {"eth2"}), "error: rail 'eth2': interface 'eth2' is down" + remedy);
  EXPECT_EQ(chosen(usual(), {"10.3.0.1"}),
            "error: rail '10.3.0.1': interface 'eth2' is down" + remedy);
  EXPECT_EQ(chosen(usual(), {"eth3"}),
            "error: rail 'eth3': interface 'eth3' has no address" + remedy);
  EXPECT_EQ(
      chosen(usual(), {"eth4"}),
      "error: rail 'eth4': interface 'eth4' has no carrier (cable, or the port at the switch)" +
          remedy);
}

}  // namespace
}  // namespace weft::locality
