// SPDX-License-Identifier: Apache-2.0
#include "weft/network/probe/known.hpp"

#include <gtest/gtest.h>

namespace weft::probe {
namespace {

TEST(Known, NamesAsSlurmWritesThem) {
  const auto names = expand_names("h[0-2,7],login,n[08-10]x");
  ASSERT_TRUE(names.has_value());
  EXPECT_EQ(*names,
            (std::vector<std::string>{"h0", "h1", "h2", "h7", "login", "n08x", "n09x", "n10x"}));
  EXPECT_FALSE(expand_names("h[0-2").has_value());
  EXPECT_FALSE(expand_names("h[2-0]").has_value());
  EXPECT_FALSE(expand_names("h[0-2]c[0-1]").has_value());
}

TEST(Known, Slurm) {
  const auto known = read_slurm(
      "# fabric\nSwitchName=s0 Nodes=h[0-1]\nSwitchName=s1 Nodes=h2,h3 LinkSpeed=100\n"
      "SwitchName=top Switches=s[0-1]\n",
      "topology.conf");
  ASSERT_TRUE(known.has_value()) << known.error().text();
  EXPECT_EQ(known->on.at("h3"), "s1");
  EXPECT_EQ(known->above.at("s0"), "top");
  const auto wrong = read_slurm("SwitchName=s0 Nodes=h0\nSwitchName=s1 Node=h1\n", "t.conf");
  ASSERT_FALSE(wrong.has_value());
  EXPECT_EQ(wrong.error().line(), 2);
}

TEST(Known, LldpInBothForms) {
  const auto known = read_lldp(
      "host h0\nlldp.eth0.via=LLDP\nlldp.eth0.chassis.mac=00:11:22:33:44:55\n"
      "lldp.eth0.chassis.name=leaf1\nlldp.eth0.port.descr=Eth1\n"
      "host h1\n{\"lldp\": {\"interface\": {\"eth0\": {\"chassis\": {\"leaf2\": {\"id\": "
      "{\"type\": \"mac\"}}}}}}}\n"
      "host h2\nlldp.eth0.chassis.mac=00:11:22:33:44:66\n",
      "lldp.txt");
  ASSERT_TRUE(known.has_value()) << known.error().text();
  EXPECT_EQ(known->on.at("h0"), "leaf1");
  EXPECT_EQ(known->on.at("h1"), "leaf2");
  EXPECT_EQ(known->on.at("h2"), "00:11:22:33:44:66");
  EXPECT_FALSE(read_lldp("lldp.eth0.chassis.name=x\n", "f").has_value());
  EXPECT_FALSE(read_lldp("host a\n{\"lldp\": [}\n", "f").has_value());
  EXPECT_FALSE(read_lldp("host a\nnothing\n", "f").has_value());
}

// Serial numbers as lstopo prints them; h2 has none, which is what ordinary users see.
TEST(Known, HwlocTellsWhoIsTogether) {
  const auto part = [](const std::string& host, const std::string& infos) {
    return "host " + host + "\n<?xml version=\"1.0\"?>\n<topology version=\"2.0\">\n<object>\n" +
           infos + "</object>\n</topology>\n";
  };
  const std::string chassis = "  <info name=\"DMIChassisSerial\" value=\"CZ1\"/>\n";
  const auto known = read_hwloc(
      part("h0", chassis) + part("h1", chassis) +
          part("h2", "  <info name=\"DMIChassisSerial\" value=\"To Be Filled By O.E.M.\"/>\n") +
          part("h3",
               "  <info name=\"DMIChassisSerial\" value=\"0\"/>\n"
               "  <info name=\"DMIProductUUID\" value=\"4c4c-11\"/>\n"),
      "hwloc.txt");
  ASSERT_TRUE(known.has_value()) << known.error().text();
  EXPECT_EQ(known->on.at("h0"), known->on.at("h1"));
  EXPECT_FALSE(known->on.contains("h2"));
  EXPECT_EQ(known->on.at("h3"), "DMIProductUUID 4c4c-11");
  Finding finding;
  finding.switches = {{"s0", 0}, {"s1", 10}};
  finding.hosts = {{"h0", 0, 1}, {"h1", 0, 1}, {"h3", 0, 1}};
  // Two chassis may share a switch.
  EXPECT_TRUE(check_against(finding, *known).differences.empty());
  finding.hosts[1].on = 1;
  EXPECT_EQ(check_against(finding, *known).differences.size(), 1u);
  EXPECT_EQ(read_hwloc(part("h0", "") + "host h1\nMachine (31GB)\n", "f").error().line(), 7);
  EXPECT_FALSE(read_hwloc(part("h0", ""), "f").has_value());
}

TEST(Known, GroupsAndTheCheck) {
  Finding finding;
  finding.switches = {{"s0", 0}, {"s1", 10}};
  finding.hosts = {{"a", 0, 1}, {"b", 0, 1}, {"c", 1, 1}, {"d", 1, 1}, {"e", nowhere, 0}};
  const auto same = read_groups("a x\nb x # both\nc y\nd y\ne y\nz y\n", "groups");
  ASSERT_TRUE(same.has_value());
  EXPECT_EQ(check_against(finding, *same).compared, 4u);
  EXPECT_TRUE(check_against(finding, *same).differences.empty());
  const auto other = read_groups("a x\nb y\nc y\nd y\n", "groups");
  ASSERT_TRUE(other.has_value());
  EXPECT_EQ(check_against(finding, *other).differences.size(), 2u);
  EXPECT_EQ(read_groups("a x\na y\n", "g").error().line(), 2);
  EXPECT_FALSE(read_known("netloc=x").has_value());
  EXPECT_FALSE(read_known("slurm").has_value());
}

}  // namespace
}  // namespace weft::probe
