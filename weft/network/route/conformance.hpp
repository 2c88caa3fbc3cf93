// SPDX-License-Identifier: Apache-2.0
// The judge of policies: follows every choice a policy offers and checks what policy.hpp promises.
// It is slow and obvious, knows nothing of how a policy thinks, and is not part of the library:
// tests, ours and those of policies out of the tree, compile it in.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <weft/base/rng.hpp>
#include <weft/network/route/policy.hpp>

namespace weft {

// Outputs as a router could see them. One object is carried from router to router.
class FakeView final : public PortView {
 public:
  enum class Load { empty, random, full };

  FakeView(const Topology& topology, Load load, std::uint64_t seed = 0)
      : graph_(topology.graph), load_(load), rng_(seed), down_(graph_.link_count(), false) {}

  void stand_at(RouterId here) { here_ = here; }
  // Both directions of the cable; known to the routers only, not to the graph.
  void cut(LinkId link);
  bool any_cut() const { return any_cut_; }

  bool up(int port) const override;
  Bytes free(int port, int vc) const override;
  Bytes queued(int port) const override;
  Bytes flowing(int /*port*/) const override { return flowing_; }
  void set_flowing(Bytes bytes) { flowing_ = bytes; }
  LineNews line(int port, int line) const override;

 private:
  Bytes flowing_;
  std::uint64_t draw(int port, int vc) const;

  const Graph& graph_;
  Load load_;
  Rng rng_;
  std::vector<bool> down_;
  bool any_cut_ = false;
  RouterId here_;
};

// Collects what a policy does over many packets. Broken promises are sentences in errors(), the
// first few of them; after the last packet, check_dependencies() looks for a cycle.
class Judge {
 public:
  Judge(const Topology& topology, const Policy& policy, int vcs, FakeView& view);

  // Follows all choices of a packet whose own random bits are `bits`.
  void follow(NodeId source, NodeId destination, std::uint64_t bits);

  // No cycle among all channels or, if the policy has escapes, among the escape channels alone
  // (Duato), which then must be offered in every state, kept once taken, and used by no others.
  void check_dependencies();

  const std::vector<std::string>& errors() const { return errors_; }
  std::string report() const;
  // The packet followed last: whether it always arrives, and the links of its longest path.
  bool delivered() const { return delivered_; }
  int hops() const { return hops_; }

 private:
  struct Head {  // Where a packet may stand after some hops, and how it came there.
    RouterId router;
    std::uint64_t state = 0;
    std::uint32_t link = no_link;
    VcMask vcs = 0;
    bool escaped = false;
    auto operator<=>(const Head&) const = default;
  };
  struct Pair {
    NodeId source, destination;
  };
  static constexpr std::uint32_t no_link = 0xffffffffu;

  void ask(const Head& head, const Flight& flight, std::vector<Head>& next);
  void take(const Head& head, const Choice& choice, std::vector<Head>& next);
  bool check_choice(const Head& head, const Flight& flight, const Choice& choice);
  void check_escape(const Head& head);
  void check_path(NodeId source, NodeId destination, const std::vector<std::vector<Head>>& trail);
  void check_escape_channels();
  void fail(const Head& head, const std::string& what);
  VcMask& waits(std::vector<VcMask>& table, std::uint32_t link, int port, int vc) const;
  std::vector<std::uint32_t> find_cycle(std::vector<VcMask>& table) const;
  std::string channel_name(std::uint32_t channel) const;

  const Topology& topology_;
  const Graph& graph_;
  const Policy& policy_;
  int vcs_;
  PolicyFacts facts_;
  FakeView& view_;
  std::vector<std::size_t> first_;  // Per link: where its row of the tables below begins.
  // Per (link in, port out, vc in): the VCs out that a packet may wait for.
  std::vector<VcMask> waits_all_, waits_escape_;
  std::vector<VcMask> used_free_, used_escape_;       // Per link.
  std::vector<std::vector<std::vector<Head>>> ways_;  // For one path: by pair, first seen.
  bool escapes_ = false;
  std::string without_escape_, left_escape_;  // First state found without, first return from it.
  Pair pair_;
  std::uint64_t bits_ = 0;
  bool delivered_ = false;
  int hops_ = 0;
  Choices choices_, again_;
  std::vector<std::string> errors_;
};

}  // namespace weft
