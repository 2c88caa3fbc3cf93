// SPDX-License-Identifier: Apache-2.0
// Policies from shared libraries: the example of plugins/, and libraries with a fault each.
#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include <weft/network/route/conformance.hpp>
#include <weft/network/route/path.hpp>
#include <weft/network/route/policy_plugin.hpp>
#include <weft/network/route/test_networks.hpp>

namespace weft {
namespace {

const std::string library = WEFT_TEST_PLUGIN;
const std::string routing = library + ":column-first";

std::string refusal(const std::string& text, std::string_view network = "mesh:4x3") {
  const auto made = make_policy(text, test_network(network), 1);
  return made ? "accepted" : made.error().message();
}

bool says(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(Plugin, IsMadeLikeAnyOther) {
  const Topology mesh = test_network("mesh:4x3");
  EXPECT_EQ(vcs_needed(routing, mesh), 1);
  const auto policy = make_policy(routing, mesh, 1);
  ASSERT_TRUE(policy) << policy.error().text();
  std::vector<LinkId> links;
  ASSERT_TRUE(follow_path(**policy, mesh.graph, NodeId(0), NodeId(11), links));
  ASSERT_EQ(links.size(), 5u);  // (0,0) to (3,2): the column first.
  EXPECT_EQ(router_name(mesh, mesh.graph.port(links[0]).peer), "(0,1)");
  EXPECT_FALSE(dimension_order(routing, mesh));
}

TEST(Plugin, KeepsTheSamePromises) {
  const Topology mesh = test_network("mesh:4x3");
  const auto policy = make_policy(routing, mesh, 1);
  ASSERT_TRUE(policy) << policy.error().text();
  FakeView view(mesh, FakeView::Load::empty);
  Judge judge(mesh, **policy, 1, view);
  for (std::uint32_t a = 0; a < mesh.graph.node_count(); ++a)
    for (std::uint32_t b = 0; b < mesh.graph.node_count(); ++b)
      judge.follow(NodeId(a), NodeId(b), 0);
  judge.check_dependencies();
  EXPECT_TRUE(judge.errors().empty()) << judge.report();
}

TEST(Plugin, DoesNotFitEveryNetwork) {
  const std::string text = refusal(routing, "torus:4x4");
  EXPECT_TRUE(says(text, "does not fit torus:4x4; fitting: dor")) << text;
}

TEST(Plugin, IsRefusedWithAReason) {
  EXPECT_TRUE(says(refusal("./no_such_library.so:x"),
                   "routing library './no_such_library.so' does not exist"))
      << refusal("./no_such_library.so:x");
  EXPECT_TRUE(says(refusal("no_such_library.so:x"), "does not exist"));
  EXPECT_TRUE(says(refusal(WEFT_TEST_TEXT ":x"), "cannot be loaded: "));
  EXPECT_TRUE(says(refusal(WEFT_TEST_PLUGIN_1 ":x"), "the symbol 'weft_policies_v1' is missing"));
  EXPECT_TRUE(says(refusal(WEFT_TEST_PLUGIN_2 ":hollow"),
                   "was built for version " + std::to_string(policy_interface_version + 1) +
                       " of the policy interface, and this weft has version " +
                       std::to_string(policy_interface_version) + ";"));
  EXPECT_TRUE(says(refusal(WEFT_TEST_PLUGIN_3 ":hollow"), "was built with other headers"));
  EXPECT_TRUE(says(refusal(WEFT_TEST_PLUGIN_4 ":hollow"), "has an incomplete policy 'hollow'"));
  EXPECT_TRUE(says(refusal(library + ":colum-first"),
                   "has no policy 'colum-first'; did you mean 'column-first'?"))
      << refusal(library + ":colum-first");
  EXPECT_TRUE(
      says(refusal(library), "needs the name of a policy behind a colon; it has: column-first"))
      << refusal(library);
  EXPECT_TRUE(says(refusal(routing + ":fast"), "takes no words; leave out ':fast'"))
      << refusal(routing + ":fast");
}

TEST(Plugin, PathsBecomeAbsolute) {
  const std::string here = std::filesystem::current_path().string();
  EXPECT_EQ(with_absolute_path("./libx.so:name:a,b"), here + "/libx.so:name:a,b");
  EXPECT_EQ(with_absolute_path("libx.so:name"), here + "/libx.so:name");
  EXPECT_EQ(with_absolute_path("/opt/libx.so:name"), "/opt/libx.so:name");
  EXPECT_EQ(with_absolute_path("dor:up"), "dor:up");
  EXPECT_EQ(with_path_from("./libx.so:name:a,b", "nets"), "nets/libx.so:name:a,b");
  EXPECT_EQ(with_path_from("../libx.so:name", "/opt/nets"), "/opt/libx.so:name");
  EXPECT_EQ(with_path_from("/opt/libx.so:name", "nets"), "/opt/libx.so:name");
  EXPECT_EQ(with_path_from("libx.so:name", ""), "libx.so:name");
  EXPECT_EQ(with_path_from("dor:up", "nets"), "dor:up");
  EXPECT_FALSE(names_plugin("crossline:escape,cut"));
  EXPECT_TRUE(names_plugin("../a.so:b"));
}

}  // namespace
}  // namespace weft
