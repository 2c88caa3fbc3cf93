// SPDX-License-Identifier: Apache-2.0
// Slim Fly (Besta and Hoefler, 2014): the graphs of McKay, Miller and Siran (1998), of diameter two
// and almost as many routers as any graph of that degree can have.
#include <array>
#include <vector>

#include <fmt/core.h>

#include <weft/network/topo/family.hpp>
#include <weft/network/topo/galois_field.hpp>

namespace weft::detail {
namespace {

constexpr int q_min = 3;
constexpr int q_max = 4096;  // Far above what check_limits lets pass.
constexpr int max_nodes_per_router = 65535;

// q = 4w + delta, where delta is -1, 0 or 1: every prime power but 2 is of this form.
int delta_of(int q) {
  return q % 4 == 3 ? -1 : q % 4;
}

int degree(int q) {
  return (3 * q - delta_of(q)) / 2;
}

// Differences of the positions of neighbours in a group: powers of the field's generator, as in
// Hafner, "Geometric realisation of the graphs of McKay-Miller-Siran" (2004). The differences of
// the other half of the groups are these times the generator.
std::vector<bool> differences(const GaloisField& field, bool other_half) {
  const int q = field.size();
  const int shift = other_half ? 1 : 0;
  std::vector<bool> chosen(static_cast<std::size_t>(q), false);
  const auto choose = [&](int from, int count) {
    for (int i = 0; i < count; ++i)
      chosen[static_cast<std::size_t>(field.power(from + 2 * i + shift))] = true;
  };
  if (delta_of(q) >= 0) {
    choose(0, q / 2);
  } else {
    const int w = (q + 1) / 4;
    choose(0, w);
    choose(2 * w - 1, w);
  }
  return chosen;
}

// Routers (half, group, position). In a group of the first half positions y are joined whose
// difference is chosen; position y of group x and position c of group m of the other half are
// joined if y = m x + c.
std::vector<Edge> lay_edges(int q) {
  const GaloisField field(q);
  const auto number = [q](int half, int group, int position) {
    return static_cast<std::uint32_t>((half * q + group) * q + position);
  };
  std::vector<Edge> edges;
  for (int half = 0; half < 2; ++half) {
    const std::vector<bool> chosen = differences(field, half == 1);
    for (int group = 0; group < q; ++group)
      for (int a = 0; a < q; ++a)
        for (int difference = 1; difference < q; ++difference) {
          const int b = field.add(a, difference);
          if (chosen[static_cast<std::size_t>(difference)] && a < b)
            edges.push_back({number(half, group, a), number(half, group, b), 0});
        }
  }
  for (int x = 0; x < q; ++x)
    for (int m = 0; m < q; ++m)
      for (int c = 0; c < q; ++c)
        edges.push_back({number(0, x, field.add(field.multiply(m, x), c)), number(1, m, c), 1});
  return edges;
}

class SlimFlyShape final : public DiameterTwoShape {
 public:
  explicit SlimFlyShape(int q) : q_(q) {}

  Coordinates coordinates(RouterId r) const override {
    const int index = static_cast<int>(r.index);
    return {index / (q_ * q_), index / q_ % q_, index % q_};
  }
  std::optional<RouterId> find_router(const Coordinates& c) const override {
    if (c.size() != 3 || c[0] < 0 || c[0] > 1) return std::nullopt;
    if (c[1] < 0 || c[1] >= q_ || c[2] < 0 || c[2] >= q_) return std::nullopt;
    return RouterId(static_cast<std::uint32_t>((c[0] * q_ + c[1]) * q_ + c[2]));
  }
  std::string router_name(RouterId r) const override { return tuple_text(coordinates(r)); }
  std::optional<RouterId> find_router(std::string_view name) const override {
    const auto c = parse_tuple(name);
    return c ? find_router(*c) : std::nullopt;
  }
  std::optional<RouterBlocks> blocks() const override {
    const auto size = static_cast<std::uint32_t>(q_);
    return RouterBlocks{2 * size * size, size, "group"};
  }

 private:
  int q_;
};

Result<Topology> make_slim_fly(Spec& spec) {
  const int q = spec.number("q", std::nullopt, q_min, q_max);
  if (!is_prime_power(q)) spec.fail(no_prime_power(q, q_min));
  const int balanced = (degree(q) + 1) / 2;
  const int p = spec.number("p", balanced, 1, max_nodes_per_router);
  if (Status s = spec.finish(); !s) return std::move(s).error();
  const auto wide = static_cast<std::uint64_t>(q);
  const std::uint64_t routers = 2 * wide * wide;
  const auto ports = static_cast<std::uint64_t>(degree(q));
  if (Status s =
          check_limits(routers, routers * static_cast<std::uint64_t>(p), routers * ports / 2);
      !s)
    return std::move(s).error();
  auto graph = make_graph({.routers = static_cast<std::uint32_t>(routers),
                           .edges = lay_edges(q),
                           .link_classes = {"local", "global"},
                           .nodes_per_router = p});
  if (!graph) return std::move(graph).error();
  return Topology{fmt::format("slimfly:q={},p={}", q, p), std::make_shared<const SlimFlyShape>(q),
                  *std::move(graph)};
}

constexpr std::array parameters = {
    SpecParameter{"q", "a prime power from 3; there are 2q^2 routers"},
    SpecParameter{"p", "nodes per router (half the cables of a router)"}};

}  // namespace

extern const TopologyKind slim_fly_kind{
    .name = "slimfly",
    .usage = "slimfly:q=N[,p=N]",
    .example = "slimfly:q=5,p=1",
    .help = "McKay-Miller-Siran graph: diameter 2, about 1.5 q cables per router",
    .parameters = parameters,
    .make = &make_slim_fly,
};

}  // namespace weft::detail
