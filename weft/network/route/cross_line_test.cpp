// SPDX-License-Identifier: Apache-2.0
// Cross-Line in closed form: the comparison of lines, the lines themselves, and the VCs that keep
// it free of deadlock; also what happens without them.
#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <weft/network/route/conformance.hpp>
#include <weft/network/route/line_order.hpp>
#include <weft/network/route/test_networks.hpp>

namespace weft {
namespace {

using detail::compare_lines;
using detail::Shorter;
using Load = FakeView::Load;

// Written nearest first.
LineNews line(const std::string& bits) {
  LineNews news{0, static_cast<int>(bits.size())};
  for (std::size_t i = 0; i < bits.size(); ++i)
    news.word |= std::uint64_t{bits[i] == '1' ? 1u : 0u} << i;
  return news;
}

int sign(int value) {
  return value < 0 ? -1 : value > 0 ? 1 : 0;
}

TEST(CompareLines, FollowsTheFiveSteps) {
  struct Case {
    const char *a, *b;
    int winner;  // -1: a.
  };
  for (const Case& c : {Case{"111", "110", -1},
                        {"1101", "1100", -1},
                        {"0111", "0011", -1},
                        {"11", "1111", 1},
                        {"1010", "1010", 0},
                        {"", "0", -1},
                        {"110", "11", 1},
                        {"", "", 0},
                        {"1", "", -1},
                        {"00", "0", 1},
                        {"10110", "10101", -1}}) {
    EXPECT_EQ(sign(compare_lines(line(c.a), line(c.b))), c.winner) << c.a << " " << c.b;
    EXPECT_EQ(sign(compare_lines(line(c.b), line(c.a))), -c.winner) << c.b << " " << c.a;
  }
}

TEST(CompareLines, AShorterLineMayLose) {
  EXPECT_GT(compare_lines(line("11"), line("110"), Shorter::loses), 0);
  EXPECT_LT(compare_lines(line("10"), line("011"), Shorter::loses), 0);
  EXPECT_EQ(compare_lines(line("01"), line("01"), Shorter::loses), 0);
}

TEST(CompareLines, TakesFullWords) {
  const LineNews all{~std::uint64_t{0}, 64}, one_busy{~std::uint64_t{0} >> 1, 64};
  EXPECT_LT(compare_lines(all, one_busy), 0);
  EXPECT_EQ(compare_lines(all, all), 0);
}

std::unique_ptr<Policy> policy_of(const std::string& name, const Topology& t, int vcs) {
  auto made = make_policy(name, t, vcs);
  EXPECT_TRUE(made) << made.error().text();
  return std::move(*made);
}

TEST(CrossLineVcs, AreThoseOfThePaper) {
  EXPECT_EQ(vcs_needed("crossline", test_network("mesh:5x4")), 2);
  EXPECT_EQ(vcs_needed("crossline", test_network("torus:5x4")), 6);
  EXPECT_EQ(vcs_needed("crossline", test_network("mesh:3x3x3")), 4);
  EXPECT_EQ(vcs_needed("crossline", test_network("torus:3x3x3")), 16);
  EXPECT_EQ(vcs_needed("crossline:escape", test_network("mesh:5x4")), 2);
  EXPECT_EQ(vcs_needed("crossline:escape", test_network("torus:3x3x3")), 3);
  // 8 nets of 5 levels are more than there can be; the escape will do.
  EXPECT_EQ(vcs_needed("crossline", test_network("torus:3x3x3x3")), 0);
  EXPECT_EQ(vcs_needed("crossline:escape", test_network("torus:3x3x3x3")), 3);
  const auto refused = make_policy("crossline", test_network("torus:3x3x3x3"), 32);
  ASSERT_FALSE(refused);
  EXPECT_EQ(
      refused.error().text(),
      "routing 'crossline' does not fit torus:3x3x3x3; fitting: dor, dor-balanced, dor-around, "
      "min-adaptive, min-adaptive-booksim, rca-1d, crossline:escape, foresight, "
      "valiant, ugal-l, shortest, up-down");
}

TEST(CrossLineWords, AreCheckedOneByOne) {
  const Topology t = test_network("torus:4x4");
  const auto message = [&](const char* name) { return make_policy(name, t, 6).error().text(); };
  EXPECT_EQ(message("crossline:ecsape"),
            "routing 'crossline' knows no word 'ecsape'; did you mean 'escape'?");
  EXPECT_EQ(message("crossline:fold,nofold"),
            "routing 'crossline' cannot be both 'fold' and 'nofold'");
  EXPECT_EQ(message("valiant:cut"), "routing 'valiant' takes no words; leave out ':cut'");
  EXPECT_EQ(message("dor:cut"), "routing 'dor' knows no word 'cut'; known: coin, up");
  EXPECT_TRUE(make_policy("crossline:cut,cut,escape", t, 6));
}

// Lines: as long as the links ahead, and as the packet will find them.
TEST(CrossLineLines, EndAtTheEdgeOrHalfWayRound) {
  const Topology mesh = test_network("mesh:5x4");
  const auto on_mesh = policy_of("crossline", mesh, 2);
  EXPECT_EQ(on_mesh->lines()->line(RouterId(1), 0, 0).length, 3);
  EXPECT_EQ(on_mesh->lines()->line(RouterId(1), 1, 0).length, 1);
  EXPECT_EQ(on_mesh->lines()->line(RouterId(4), 0, 0).length, 0);
  EXPECT_EQ(on_mesh->lines()->width(0, 0), 4);
  EXPECT_EQ(on_mesh->lines()->width(2, 1), 0);  // No packet of net 1 goes up.
  EXPECT_EQ(on_mesh->lines()->line(RouterId(1), 2, 0).vcs, 3u);
  EXPECT_EQ(policy_of("crossline:nofold", mesh, 2)->lines()->line(RouterId(1), 2, 0).vcs, 1u);

  const Topology torus = test_network("torus:5x4");
  const auto nets = policy_of("crossline", torus, 6);
  EXPECT_EQ(nets->lines()->line(RouterId(1), 0, 0).length, 2);
  EXPECT_EQ(policy_of("crossline:ring", torus, 6)->lines()->line(RouterId(1), 0, 0).length, 4);
  const Line wrap = nets->lines()->line(RouterId(4), 0, 0);  // Over the wrap a level higher.
  EXPECT_EQ(wrap.vcs, 1u << 1);
  EXPECT_EQ(wrap.next, 1);
  EXPECT_EQ(nets->lines()->line(RouterId(3), 0, 2).length, 1);  // The top level ends before it.
  EXPECT_EQ(nets->lines()->line(RouterId(4), 0, 2).length, 0);
  const Line same = policy_of("crossline:number", torus, 6)->lines()->line(RouterId(4), 0, 0);
  EXPECT_EQ(same.vcs, 1u);
  EXPECT_EQ(same.next, 0);
}

// Follows random choices from everywhere to everywhere.
void walk_all(const Topology& t, const Policy& policy,
              const std::function<void(const Choice&, int level, int net)>& see) {
  Rng rng(5);
  FakeView view(t, Load::random, 3);
  for (std::uint32_t s = 0; s < t.graph.node_count(); ++s) {
    for (std::uint32_t d = 0; d < t.graph.node_count(); ++d) {
      RouterId here = t.graph.router_of(NodeId(s));
      Flight flight{.destination = t.graph.router_of(NodeId(d)), .state = rng.next()};
      const int links = distance(t, here, flight.destination);
      for (;; ++flight.hops) {
        Choices choices;
        view.stand_at(here);
        policy.next(here, flight, view, choices);
        const Choice& choice =
            choices[static_cast<int>(rng.below(static_cast<std::uint64_t>(choices.count())))];
        if (choice.port == Choice::eject) break;
        flight.state = choice.state;
        see(choice, static_cast<int>(choice.state >> 8), static_cast<int>(choice.state & 0xff));
        here = t.graph.port(t.graph.link(here, choice.port)).peer;
      }
      ASSERT_EQ(flight.hops, links);
    }
  }
}

TEST(CrossLineNets, KeepTheirSignAndTheirLevels) {
  for (const char* spec : {"torus:6x5", "torus:4x4", "mesh:5x5"}) {
    const Topology t = test_network(spec);
    const int vcs = vcs_needed("crossline", t);
    walk_all(t, *policy_of("crossline", t, vcs), [&](const Choice& choice, int level, int net) {
      EXPECT_LE(level, 2);
      EXPECT_TRUE(choice.port < 2 || net == choice.port - 2);
    });
    walk_all(t, *policy_of("crossline:escape", t, vcs), [](const Choice&, int, int) {});
  }
}

std::string judge(const Topology& t, const Policy& policy, int vcs) {
  FakeView view(t, Load::random, 11);
  Judge judge(t, policy, vcs, view);
  for (std::uint32_t s = 0; s < t.graph.node_count(); ++s)
    for (std::uint32_t d = 0; d < t.graph.node_count(); ++d)
      for (const std::uint64_t bits : {std::uint64_t{0}, ~std::uint64_t{0}})
        judge.follow(NodeId(s), NodeId(d), bits);
  judge.check_dependencies();
  return judge.report();
}

TEST(CrossLineDependencies, HaveNoCycleInAnyForm) {
  for (const char* spec : {"mesh:3x3", "mesh:4x5", "torus:3x3", "torus:4x4", "torus:5x5",
                           "torus:3x5", "mesh:3x3x3", "torus:3x3x2"}) {
    const Topology t = test_network(spec);
    for (const char* words : {"nets", "nofold", "better-net", "cut,parity", "once", "ring,number",
                              "escape", "escape,cut", "escape,parity", "order"}) {
      const std::string name = std::string("crossline:") + words;
      for (const int more : {0, 1}) {
        const int vcs = vcs_needed(name, t) + more;
        EXPECT_EQ(judge(t, *policy_of(name, t, vcs), vcs), "") << spec << " " << name;
      }
    }
  }
}

// The same ways with VCs thrown together.
class Careless final : public Policy {
 public:
  Careless(const Policy& right, std::function<VcMask(VcMask)> merge)
      : right_(right), merge_(std::move(merge)) {}
  void next(RouterId here, const Flight& flight, const PortView& view,
            Choices& out) const override {
    Choices choices;
    right_.next(here, flight, view, choices);
    for (Choice choice : choices.all()) {
      if (choice.port != Choice::eject) choice.vcs = merge_(choice.vcs);
      out.add(choice);
    }
  }
  PolicyFacts facts() const override { return right_.facts(); }

 private:
  const Policy& right_;
  std::function<VcMask(VcMask)> merge_;
};

TEST(CrossLineDependencies, HaveCyclesWithoutNetsOrLevels) {
  for (const char* spec : {"torus:4x4", "torus:5x5"}) {
    const Topology t = test_network(spec);
    const auto right = policy_of("crossline:nofold", t, 6);
    const Careless no_nets(*right, [](VcMask v) { return v < 8 ? v : v >> 3; });
    const Careless no_levels(*right, [](VcMask v) { return v < 8 ? VcMask{1} : VcMask{2}; });
    EXPECT_NE(judge(t, no_nets, 6).find("cycle"), std::string::npos) << spec;
    EXPECT_NE(judge(t, no_levels, 6).find("cycle"), std::string::npos) << spec;
  }
  const Topology mesh = test_network("mesh:4x4");
  const auto right = policy_of("crossline:nofold", mesh, 2);
  const Careless one_vc(*right, [](VcMask) { return VcMask{1}; });
  EXPECT_NE(judge(mesh, one_vc, 2).find("cycle"), std::string::npos);
}

}  // namespace
}  // namespace weft
