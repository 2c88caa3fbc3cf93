// SPDX-License-Identifier: Apache-2.0
// Does the judge find what is wrong? Policies that break one promise each.
#include <string>

#include <gtest/gtest.h>

#include <weft/network/route/conformance.hpp>
#include <weft/network/route/cube_legs.hpp>
#include <weft/network/route/test_networks.hpp>

namespace weft {
namespace {

enum class Fault {
  none,
  no_dateline,
  understated_hops,
  vc_outside,
  wrong_ejection,
  down_port,
  coin_in_order,
  coin_one_path,
  no_escape_at_source,
  leaves_escape,
  escape_not_acyclic,
  two_answers,
  source_unasked,
};

// Dimension order on a torus, with one fault.
class Faulty final : public Policy {
 public:
  Faulty(const Topology& t, Fault fault) : legs_(t), masks_(legs_.masks(0, 2)), fault_(fault) {}

  void next(RouterId here, const Flight& flight, const PortView& view,
            Choices& out) const override {
    if (here == flight.destination) return out.add_eject();
    if (fault_ == Fault::wrong_ejection && flight.hops == 1) return out.add_eject();
    auto bits = static_cast<std::uint32_t>(flight.state);
    const detail::LegStep step = legs_.step(here, flight.destination, bits, flight.hops == 0);
    if (fault_ != Fault::down_port && !view.up(step.port)) return;
    Choice choice{.port = step.port, .vcs = masks_[step.vc_class], .state = step.state};
    if (fault_ == Fault::no_dateline || fault_ == Fault::escape_not_acyclic) choice.vcs = 3;
    if (fault_ == Fault::vc_outside) choice.vcs = 4;
    if (fault_ == Fault::two_answers) choice.state = ++calls_;
    if (fault_ == Fault::source_unasked) choice.state |= flight.source_node.index & 1u;
    choice.escape = fault_ == Fault::escape_not_acyclic ||
                    (fault_ == Fault::no_escape_at_source && flight.hops > 0) ||
                    (fault_ == Fault::leaves_escape && flight.hops == 0);
    out.add(choice);
  }
  PolicyFacts facts() const override {
    return {.choices_max = 1,
            .hops_max = legs_.hops_max() - (fault_ == Fault::understated_hops ? 1 : 0),
            .asks_source = false,
            .looks = false,
            .in_order = fault_ == Fault::coin_in_order,
            .one_path = fault_ == Fault::coin_one_path};
  }

 private:
  detail::CubeLegs legs_;
  detail::LegMasks masks_;
  Fault fault_;
  mutable std::uint64_t calls_ = 0;  // Only to be wrong on purpose.
};

std::string verdict(Fault fault, bool cut = false) {
  const Topology topology = test_network("torus:4x4");
  const Faulty policy(topology, fault);
  FakeView view(topology, FakeView::Load::empty);
  if (cut) view.cut(topology.graph.link(RouterId(0), 0));
  Judge judge(topology, policy, 2, view);
  for (std::uint32_t s = 0; s < 16; ++s)
    for (std::uint32_t d = 0; d < 16; ++d)
      for (const std::uint64_t bits : {std::uint64_t{0}, ~std::uint64_t{0}})
        judge.follow(NodeId(s), NodeId(d), bits);
  judge.check_dependencies();
  return judge.report();
}

TEST(Judge, AcceptsWhatIsRight) {
  EXPECT_EQ(verdict(Fault::none), "");
  EXPECT_EQ(verdict(Fault::none, true), "");
}

TEST(Judge, FindsTheCycleOfATorusWithoutDateline) {
  const std::string text = verdict(Fault::no_dateline);
  EXPECT_NE(text.find("cycle of channels"), std::string::npos);
  // All round one ring of the torus, back to where it begins.
  EXPECT_NE(text.find("(0,0)-(1,0)/vc0 -> (1,0)-(2,0)/vc0 -> (2,0)-(3,0)/vc0 -> (3,0)-(0,0)/vc0"),
            std::string::npos)
      << text;
}

TEST(Judge, FindsBrokenPromises) {
  const auto has = [](const std::string& text, const char* part) {
    return text.find(part) != std::string::npos;
  };
  EXPECT_TRUE(has(verdict(Fault::understated_hops), "more than hops_max = 3"));
  EXPECT_TRUE(has(verdict(Fault::vc_outside), "VC mask 4 is empty or outside"));
  EXPECT_TRUE(has(verdict(Fault::wrong_ejection), "ejected at the wrong router"));
  EXPECT_TRUE(has(verdict(Fault::down_port, true), "port 0 is down or unplugged"));
  EXPECT_TRUE(has(verdict(Fault::coin_in_order), "the way depends on the packet's bits"));
  EXPECT_TRUE(has(verdict(Fault::coin_one_path), "one_path, but the way depends on"));
  EXPECT_TRUE(has(verdict(Fault::two_answers), "answered differently"));
  EXPECT_TRUE(has(verdict(Fault::source_unasked), "answered differently"));
  EXPECT_TRUE(has(verdict(Fault::no_escape_at_source), "no escape offered"));
  EXPECT_TRUE(has(verdict(Fault::leaves_escape), "the escape is left again"));
  EXPECT_TRUE(has(verdict(Fault::escape_not_acyclic), "cycle of channels"));
}

// A policy with all its VCs made one and its escapes made ordinary.
class Squeezed final : public Policy {
 public:
  explicit Squeezed(const Policy& inner) : inner_(inner) {}
  void next(RouterId here, const Flight& flight, const PortView& view,
            Choices& out) const override {
    Choices choices;
    inner_.next(here, flight, view, choices);
    for (Choice choice : choices.all()) {
      if (choice.port != Choice::eject) choice.vcs = 1;
      choice.escape = false;
      out.add(choice);
    }
  }
  PolicyFacts facts() const override { return inner_.facts(); }

 private:
  const Policy& inner_;
};

// Needing more than one VC is no formality: without the separation the same ways have cycles. And
// where one VC is enough the judge agrees.
TEST(Judge, FindsTheCycleOnceVcsAreMerged) {
  const struct {
    std::string_view policy, network;
    bool cycle;
  } cases[] = {{"dor", "torus:4x4", true},
               {"dor-balanced", "torus:5x4", true},
               {"xy-yx", "mesh:4x4", true},
               {"xy-yx-adaptive", "mesh:4x4", true},
               {"planar-adaptive", "mesh:4x4", true},
               {"planar-adaptive-booksim", "mesh:4x4", false},
               {"min-adaptive", "mesh:4x4", true},
               {"min-adaptive-booksim", "torus:4x4", true},
               {"valiant", "mesh:4x4", true},
               {"ugal-l", "hyperx:3x3x2,p=2", true},
               {"valiant", "dragonfly:a=4,h=2,p=1,g=4", true},
               {"minimal", "dragonfly:a=4,h=2,p=2", true},
               {"shortest", "torus:5x4", true},
               {"dor", "mesh:4x4", false},
               {"minimal", "hyperx:3x3x2,p=2", false},
               {"adaptive-up", "fattree:k=2,levels=3", false},
               {"up-down", "irregular", false}};
  for (const auto& c : cases) {
    const Topology topology = test_network(c.network);
    const auto made = make_policy(c.policy, topology, 12);
    ASSERT_TRUE(made) << made.error().text();
    const Squeezed policy(**made);
    FakeView view(topology, FakeView::Load::random);
    Judge judge(topology, policy, 1, view);
    Rng rng(1);
    for (std::uint32_t i = 0; i < 60'000; ++i)
      judge.follow(NodeId(static_cast<std::uint32_t>(rng.below(topology.graph.node_count()))),
                   NodeId(static_cast<std::uint32_t>(rng.below(topology.graph.node_count()))),
                   rng.next());
    judge.check_dependencies();
    EXPECT_EQ(judge.report().find("cycle of channels") != std::string::npos, c.cycle)
        << c.policy << " on " << c.network << ": " << judge.report();
  }
}

}  // namespace
}  // namespace weft
