// SPDX-License-Identifier: Apache-2.0
#include "weft/study/traffic/card_pattern.hpp"

#include <utility>
#include <vector>

#include <weft/study/traffic/scenario.hpp>

namespace weft {
namespace {

class CardPattern final : public Pattern {
 public:
  CardPattern(std::unique_ptr<Pattern> nodes, int cards)
      : nodes_(std::move(nodes)), cards_(static_cast<std::uint32_t>(cards)) {}

  NodeId destination(NodeId source, Rng& rng) const override {
    return end(nodes_->destination(node(source), rng), source);
  }
  void shares(NodeId source, std::vector<Share>& out) const override {
    const std::size_t first = out.size();
    nodes_->shares(node(source), out);
    for (std::size_t i = first; i < out.size(); ++i) out[i].to = end(out[i].to, source);
  }
  bool fixed() const override { return nodes_->fixed(); }

 private:
  NodeId node(NodeId end) const { return NodeId(end.index / cards_); }
  NodeId end(NodeId node, NodeId card) const {
    return NodeId(node.index * cards_ + card.index % cards_);
  }

  std::unique_ptr<Pattern> nodes_;
  std::uint32_t cards_;
};

}  // namespace

Result<std::unique_ptr<Pattern>> make_card_pattern(std::string_view spec, const Topology& topology,
                                                   std::uint64_t seed) {
  auto made = make_pattern(spec, grid_of(topology), seed);
  if (!made || topology.cards == 1) return made;
  return std::unique_ptr<Pattern>(std::make_unique<CardPattern>(*std::move(made), topology.cards));
}

}  // namespace weft
