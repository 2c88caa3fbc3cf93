// SPDX-License-Identifier: Apache-2.0
// The definitions are those of BookSim and of Dally and Towles, Principles and Practices of
// Interconnection Networks, section 3.2.
#include "weft/workload/patterns/pattern.hpp"

#include <array>
#include <bit>
#include <string>
#include <utility>

#include <fmt/format.h>

#include <weft/base/text.hpp>
#include <weft/workload/patterns/decimal.hpp>
#include <weft/workload/patterns/probability.hpp>

namespace weft {
namespace {

using Made = Result<std::unique_ptr<Pattern>>;

class Uniform final : public Pattern {
 public:
  Uniform(std::uint32_t nodes, bool others) : nodes_(nodes), others_(others) {}
  NodeId destination(NodeId source, Rng& rng) const override {
    if (!others_) return NodeId(static_cast<std::uint32_t>(rng.below(nodes_)));
    const auto drawn = static_cast<std::uint32_t>(rng.below(nodes_ - 1));
    return NodeId(drawn < source.index ? drawn : drawn + 1);
  }
  void shares(NodeId source, std::vector<Share>& out) const override {
    for (std::uint32_t n = 0; n < nodes_; ++n)
      if (!others_ || n != source.index) out.push_back({NodeId(n), 1});
  }
  bool fixed() const override { return false; }

 private:
  std::uint32_t nodes_;
  bool others_;
};

class Table final : public Pattern {
 public:
  explicit Table(std::vector<NodeId> to) : to_(std::move(to)) {}
  NodeId destination(NodeId source, Rng&) const override { return to_[source.index]; }
  void shares(NodeId source, std::vector<Share>& out) const override {
    out.push_back({to_[source.index], 1});
  }
  bool fixed() const override { return true; }

 private:
  std::vector<NodeId> to_;
};

class Hotspot final : public Pattern {
 public:
  Hotspot(std::uint32_t nodes, const Decimal& fraction, std::vector<NodeId> hot)
      : nodes_(nodes), hot_(std::move(hot)) {
    of_ = 1;
    for (int i = 0; i < fraction.places; ++i) of_ *= 10;
    part_ = static_cast<std::uint64_t>(fraction.digits);
    to_hot_ = Probability::ratio(part_, of_);
  }
  NodeId destination(NodeId, Rng& rng) const override {
    if (to_hot_.happens(rng)) return hot_[static_cast<std::size_t>(rng.below(hot_.size()))];
    return NodeId(static_cast<std::uint32_t>(rng.below(nodes_)));
  }
  void shares(NodeId, std::vector<Share>& out) const override {
    for (std::uint32_t n = 0; n < nodes_; ++n)
      out.push_back({NodeId(n), (of_ - part_) * hot_.size()});
    for (const NodeId h : hot_) out.push_back({h, part_ * nodes_});
  }
  bool fixed() const override { return false; }

 private:
  std::uint32_t nodes_;
  std::vector<NodeId> hot_;
  std::uint64_t part_ = 0, of_ = 1;
  Probability to_hot_;
};

// Half of the machine receives from both halves by turns of a coin.
class Asymmetric final : public Pattern {
 public:
  explicit Asymmetric(std::uint32_t nodes) : half_(nodes / 2) {}
  NodeId destination(NodeId source, Rng& rng) const override {
    return NodeId(source.index % half_ + (rng.coin() ? half_ : 0));
  }
  void shares(NodeId source, std::vector<Share>& out) const override {
    out.push_back({NodeId(source.index % half_), 1});
    out.push_back({NodeId(source.index % half_ + half_), 1});
  }
  bool fixed() const override { return false; }

 private:
  std::uint32_t half_;
};

template <typename Map>
Made make_table(std::uint32_t nodes, Map&& map) {
  std::vector<NodeId> to(nodes);
  for (std::uint32_t n = 0; n < nodes; ++n) to[n] = NodeId(map(n));
  return std::unique_ptr<Pattern>(std::make_unique<Table>(std::move(to)));
}

// move(x, dimension) for each coordinate; the local number stays.
template <typename Move>
Made make_by_coordinates(const Grid& grid, Move&& move) {
  return make_table(grid.nodes(), [&](std::uint32_t n) {
    const auto local = n % static_cast<std::uint32_t>(grid.per_point);
    std::uint32_t rest = n / static_cast<std::uint32_t>(grid.per_point);
    std::uint32_t to = local, step = static_cast<std::uint32_t>(grid.per_point);
    for (const int radix : grid.radix) {
      const auto r = static_cast<std::uint32_t>(radix);
      to += step * (move(rest % r, r) % r);
      rest /= r;
      step *= r;
    }
    return to;
  });
}

Made make_uniform(const PatternRequest& request) {
  return std::unique_ptr<Pattern>(std::make_unique<Uniform>(request.grid.nodes(), false));
}

Made make_uniform_others(const PatternRequest& request) {
  if (request.grid.nodes() < 2)
    return Error::input("pattern 'uniform-others' needs two nodes or more");
  return std::unique_ptr<Pattern>(std::make_unique<Uniform>(request.grid.nodes(), true));
}

// Nodes without coordinates form a square, as the bits of BookSim's transpose do.
Result<std::vector<std::uint32_t>> transposable_radices(const PatternRequest& request) {
  const Grid& grid = request.grid;
  std::vector<std::uint32_t> radix(grid.radix.begin(), grid.radix.end());
  if (radix.size() == 1) {
    std::uint32_t side = 1;
    while (std::uint64_t{side} * side < radix[0]) ++side;
    if (std::uint64_t{side} * side != radix[0])
      return Error::input(fmt::format(
          "pattern 'transpose' needs a square number of nodes, there are {}", radix[0]));
    return std::vector{side, side};
  }
  for (std::size_t i = 0; i < radix.size(); ++i)
    if (radix[i] != radix[radix.size() - 1 - i])
      return Error::input(fmt::format(
          "pattern 'transpose' needs equal sizes first and last, as in 8x8 or 8x4x8, not {}",
          fmt::join(grid.radix, "x")));
  return radix;
}

Made make_transpose(const PatternRequest& request) {
  auto radix = transposable_radices(request);
  if (!radix) return std::move(radix).error();
  const auto per_point = static_cast<std::uint32_t>(request.grid.per_point);
  return make_table(request.grid.nodes(), [&](std::uint32_t n) {
    // Reading the coordinates from the first and writing them as digits from the last turns them.
    std::uint32_t rest = n / per_point, to = 0;
    for (const std::uint32_t r : *radix) {
      to = to * r + rest % r;
      rest /= r;
    }
    return to * per_point + n % per_point;
  });
}

Made make_bit_complement(const PatternRequest& request) {
  const std::uint32_t nodes = request.grid.nodes();
  return make_table(nodes, [&](std::uint32_t n) { return nodes - 1 - n; });
}

// Patterns that move the bits of a node's number: map(n, bits).
template <typename Map>
Made make_by_bits(const PatternRequest& request, Map&& map) {
  const std::uint32_t nodes = request.grid.nodes();
  if (!std::has_single_bit(nodes))
    return Error::input(fmt::format("pattern '{}' needs a power of two of nodes, there are {}",
                                    request.name, nodes));
  const int bits = std::countr_zero(nodes);
  return make_table(nodes, [&](std::uint32_t n) { return bits == 0 ? n : map(n, bits); });
}

Made make_bit_reverse(const PatternRequest& request) {
  return make_by_bits(request, [](std::uint32_t n, int bits) {
    std::uint32_t to = 0;
    for (int i = 0; i < bits; ++i) to |= ((n >> i) & 1u) << (bits - 1 - i);
    return to;
  });
}

Made make_shuffle(const PatternRequest& request) {
  return make_by_bits(request, [](std::uint32_t n, int bits) {
    return ((n << 1) & ((std::uint32_t{1} << bits) - 1)) | (n >> (bits - 1));
  });
}

Made make_bit_rotation(const PatternRequest& request) {
  return make_by_bits(
      request, [](std::uint32_t n, int bits) { return (n >> 1) | ((n & 1u) << (bits - 1)); });
}

Made make_tornado(const PatternRequest& request) {
  return make_by_coordinates(
      request.grid, [](std::uint32_t x, std::uint32_t radix) { return x + (radix + 1) / 2 - 1; });
}

Made make_neighbour(const PatternRequest& request) {
  return make_by_coordinates(request.grid, [](std::uint32_t x, std::uint32_t) { return x + 1; });
}

Made make_shift(const PatternRequest& request) {
  const auto by = parse_int(request.parameters);
  const std::uint32_t nodes = request.grid.nodes();
  if (!by || *by < 0 || *by >= nodes)
    return Error::input(
        fmt::format("pattern 'shift' needs a number below {}, as in 'shift:1'", nodes));
  const auto step = static_cast<std::uint32_t>(*by);
  return make_table(nodes, [&](std::uint32_t n) {
    return static_cast<std::uint32_t>((std::uint64_t{n} + step) % nodes);
  });
}

Result<std::vector<NodeId>> parse_nodes(std::string_view text, std::uint32_t nodes) {
  std::vector<NodeId> parsed;
  for (const std::string_view item : split(text, ',')) {
    const auto node = parse_int(trim(item));
    if (!node || *node < 0 || *node >= nodes)
      return Error::input(fmt::format("'{}' is not a node; they are 0 to {}", item, nodes - 1));
    parsed.push_back(NodeId(static_cast<std::uint32_t>(*node)));
  }
  return parsed;
}

Made make_hotspot(const PatternRequest& request) {
  const std::size_t at = request.parameters.find('@');
  if (at == std::string_view::npos)
    return Error::input("pattern 'hotspot' needs a share and nodes, as in 'hotspot:0.2@5,9'");
  auto fraction = parse_decimal(request.parameters.substr(0, at));
  if (!fraction) return std::move(fraction).error().during("share of pattern 'hotspot'");
  if (fraction->value() > 1)
    return Error::input("the share of pattern 'hotspot' must not exceed 1");
  auto hot = parse_nodes(request.parameters.substr(at + 1), request.grid.nodes());
  if (!hot) return std::move(hot).error().during("pattern 'hotspot'");
  return std::unique_ptr<Pattern>(
      std::make_unique<Hotspot>(request.grid.nodes(), *fraction, *std::move(hot)));
}

Made make_asymmetric(const PatternRequest& request) {
  const std::uint32_t nodes = request.grid.nodes();
  if (nodes % 2 != 0)
    return Error::input(
        fmt::format("pattern 'asymmetric' needs an even number of nodes, there are {}", nodes));
  return std::unique_ptr<Pattern>(std::make_unique<Asymmetric>(nodes));
}

std::vector<std::uint32_t> shuffled(std::uint32_t nodes, Rng& rng) {
  std::vector<std::uint32_t> order(nodes);
  for (std::uint32_t n = 0; n < nodes; ++n) order[n] = n;
  for (std::uint32_t n = nodes; n > 1; --n)
    std::swap(order[n - 1], order[static_cast<std::size_t>(rng.below(n))]);
  return order;
}

// "permutation" or "permutation:SEED".
Result<Rng> permutation_rng(const PatternRequest& request) {
  if (request.parameters.empty()) return Rng(request.seed).stream("permutation");
  const auto seed = parse_int(request.parameters);
  if (!seed || *seed < 0)
    return Error::input(
        fmt::format("pattern '{}' takes a seed, as in '{}:7'", request.name, request.name));
  return Rng(static_cast<std::uint64_t>(*seed)).stream("permutation");
}

Made make_permutation(const PatternRequest& request) {
  auto rng = permutation_rng(request);
  if (!rng) return std::move(rng).error();
  const auto order = shuffled(request.grid.nodes(), *rng);
  return make_table(request.grid.nodes(), [&](std::uint32_t n) { return order[n]; });
}

Made make_derangement(const PatternRequest& request) {
  const std::uint32_t nodes = request.grid.nodes();
  if (nodes < 2) return Error::input("pattern 'derangement' needs two nodes or more");
  auto rng = permutation_rng(request);
  if (!rng) return std::move(rng).error();
  // More than one permutation in three has no fixed point: 2000 misses in a row do not happen.
  for (int tries = 0; tries < 2000; ++tries) {
    const auto order = shuffled(nodes, *rng);
    bool fixed_point = false;
    for (std::uint32_t n = 0; n < nodes && !fixed_point; ++n) fixed_point = order[n] == n;
    if (!fixed_point) return make_table(nodes, [&](std::uint32_t n) { return order[n]; });
  }
  return Error::run("no permutation without a fixed point was found");
}

constexpr std::array table = {
    PatternEntry{"uniform", "", "uniform", "any node, the source included", false, &make_uniform},
    PatternEntry{"uniform-others", "", "uniform-others", "any node but the source", false,
                 &make_uniform_others},
    PatternEntry{"transpose", "", "transpose", "(x,y) to (y,x); in n dimensions all reversed",
                 false, &make_transpose},
    PatternEntry{"bit-complement", "bitcomp", "bit-complement",
                 "node n to N-1-n, the opposite corner", false, &make_bit_complement},
    PatternEntry{"bit-reverse", "bitrev", "bit-reverse", "the bits of the number backwards", false,
                 &make_bit_reverse},
    PatternEntry{"shuffle", "", "shuffle", "the bits of the number rotated left", false,
                 &make_shuffle},
    PatternEntry{"bit-rotation", "bitrot", "bit-rotation", "the bits of the number rotated right",
                 false, &make_bit_rotation},
    PatternEntry{"tornado", "", "tornado", "x to x + ceil(k/2) - 1 mod k in every dimension", false,
                 &make_tornado},
    PatternEntry{"neighbour", "neighbor", "neighbour", "x to x + 1 mod k in every dimension", false,
                 &make_neighbour},
    PatternEntry{"shift", "", "shift:N", "node n to n + N modulo the number of nodes", true,
                 &make_shift},
    PatternEntry{"hotspot", "", "hotspot:SHARE@NODE,NODE...",
                 "this share to these nodes, the rest uniform", true, &make_hotspot},
    PatternEntry{"permutation", "randperm", "permutation[:SEED]",
                 "drawn once; a node may send to itself", true, &make_permutation},
    PatternEntry{"derangement", "", "derangement[:SEED]", "drawn once; no node sends to itself",
                 true, &make_derangement},
    PatternEntry{"asymmetric", "", "asymmetric",
                 "n to n mod N/2 of the lower or the upper half, by coin", false, &make_asymmetric},
};

}  // namespace

std::span<const PatternEntry> builtin_patterns() {
  return table;
}

Result<std::unique_ptr<Pattern>> make_pattern(std::string_view spec, const Grid& grid,
                                              std::uint64_t seed) {
  WEFT_CHECK(grid.nodes() > 0);
  const std::size_t colon = spec.find(':');
  const std::string_view name = trim(spec.substr(0, colon));
  const std::string_view parameters =
      colon == std::string_view::npos ? std::string_view() : trim(spec.substr(colon + 1));
  std::vector<std::string_view> known;
  for (const PatternEntry& entry : table) {
    known.push_back(entry.name);
    if (entry.name != name && (entry.alias.empty() || entry.alias != name)) continue;
    if (!entry.takes_parameters && colon != std::string_view::npos)
      return Error::input(fmt::format("pattern '{}' takes no parameters", name));
    return entry.make({.grid = grid, .name = entry.name, .parameters = parameters, .seed = seed});
  }
  return Error::input(fmt::format("unknown pattern '{}'{}", name, suggest(name, known)));
}

}  // namespace weft
