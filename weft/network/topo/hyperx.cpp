// SPDX-License-Identifier: Apache-2.0
// HyperX and complete graphs.
#include <algorithm>
#include <array>

#include <weft/network/topo/family.hpp>

namespace weft::detail {
namespace {

constexpr int max_ports = 65535;
constexpr int max_nodes_per_router = 65535;

// HyperX (flattened butterfly): each dimension fully connected. Ports: dimension by dimension,
// s_d - 1 each (to coordinate q: q < own ? q : q-1). A complete graph is a HyperX of one dimension.
struct HyperX {
  std::vector<int> size;
};

std::vector<Cable> lay_cables(const HyperX& shape, std::uint64_t count) {
  std::vector<Cable> cables;
  cables.reserve(count);
  const auto routers = static_cast<std::uint32_t>(product(shape.size));
  std::uint32_t stride = 1;
  std::uint32_t first_port = 0;
  for (std::size_t d = 0; d < shape.size.size(); ++d) {
    const auto size = static_cast<std::uint32_t>(shape.size[d]);
    for (std::uint32_t r = 0; r < routers; ++r) {
      const std::uint32_t own = r / stride % size;
      for (std::uint32_t q = own + 1; q < size; ++q)  // q > own: port q-1 here, port own there.
        cables.push_back({RouterId(r), static_cast<std::uint16_t>(first_port + q - 1),
                          RouterId(r + (q - own) * stride),
                          static_cast<std::uint16_t>(first_port + own),
                          static_cast<std::uint8_t>(d), true});
    }
    stride *= size;
    first_port += size - 1;
  }
  return cables;
}

// Cables out of the first `count` routers in the order that fills the greatest dimension first;
// `size` is sorted, the smallest (most significant) first.
std::uint64_t cut_after(std::span<const int> size, std::uint64_t count) {
  if (size.empty()) return 0;
  const auto k = static_cast<std::uint64_t>(size[0]);
  const std::uint64_t layer = product(size.subspan(1));
  const std::uint64_t full = count / layer;
  const std::uint64_t rest = count % layer;
  const std::uint64_t across =
      (layer - rest) * full * (k - full) + (rest > 0 ? rest * (full + 1) * (k - full - 1) : 0);
  return across + cut_after(size.subspan(1), rest);
}

int distance(const HyperX& shape, RouterId from, RouterId to) {
  std::uint32_t a = from.index;
  std::uint32_t b = to.index;
  int total = 0;
  for (const int s : shape.size) {
    const auto size = static_cast<std::uint32_t>(s);
    if (a % size != b % size) ++total;
    a /= size;
    b /= size;
  }
  return total;
}

DistanceSum distance_sum(const HyperX& shape) {
  const auto routers = static_cast<double>(product(shape.size));
  DistanceSum sum;
  for (const int s : shape.size) sum.total += routers * (routers - routers / s);
  sum.largest = static_cast<int>(shape.size.size());
  return sum;
}

// Every router has the same number of cables, so the fewest are cut where the half keeps the most
// inside; that is the half which fills whole cliques, the greatest first (Lindsey, "Assignment of
// numbers to vertices", 1964).
Bisection bisection(const HyperX& shape) {
  std::vector<int> size = shape.size;
  std::sort(size.begin(), size.end());
  return {cut_after(size, product(size) / 2), Ground::exact};
}

class HyperXShape final : public GridShape {
 public:
  explicit HyperXShape(HyperX shape) : GridShape(axes_of(shape)), shape_(std::move(shape)) {}

  std::optional<int> distance(const Graph&, RouterId from, RouterId to) const override {
    return detail::distance(shape_, from, to);
  }
  std::optional<DistanceSum> distance_sum(const Graph&) const override {
    return detail::distance_sum(shape_);
  }
  std::optional<Bisection> bisection() const override { return detail::bisection(shape_); }
  std::optional<int> diameter_max() const override {
    int hops = 0;
    for (const int size : shape_.size) hops += size > 1 ? 1 : 0;
    return hops;
  }

 private:
  static std::vector<GridAxis> axes_of(const HyperX& shape) {
    std::vector<GridAxis> axes;
    for (const int size : shape.size) axes.push_back({size, Wiring::complete});
    return axes;
  }

  HyperX shape_;
};

Result<Topology> build(HyperX shape, int p, std::string name) {
  const std::uint64_t routers = product(shape.size);
  std::uint64_t ports = 0;
  for (const int s : shape.size) ports += static_cast<std::uint64_t>(s - 1);
  const std::uint64_t nodes = product(routers, static_cast<std::uint64_t>(p));
  const std::uint64_t cables = product(routers, ports) / 2;
  if (Status s = check_limits(routers, nodes, cables); !s) return std::move(s).error();
  if (ports > max_ports) return Error::input("a router would have more than 65535 ports");
  Graph::Parts parts;
  parts.port_count.assign(routers, static_cast<std::uint16_t>(ports));
  parts.cables = lay_cables(shape, cables);
  parts.router_of = place_nodes(routers, p);
  for (int d = 0; d < static_cast<int>(shape.size.size()); ++d)
    parts.link_classes.push_back(dimension_name(d));
  auto graph = Graph::make(std::move(parts));
  if (!graph) return std::move(graph).error();
  return Topology{std::move(name), std::make_shared<const HyperXShape>(std::move(shape)),
                  *std::move(graph)};
}

Result<Topology> make_hyperx(Spec& spec) {
  HyperX shape{spec.sizes("", 2)};
  const int p = spec.number("p", 1, 1, max_nodes_per_router);
  if (Status s = spec.finish(); !s) return std::move(s).error();
  std::string name = spec_name("hyperx", sizes_text(shape.size), p);
  return build(std::move(shape), p, std::move(name));
}

Result<Topology> make_complete(Spec& spec) {
  const int count = spec.number("", std::nullopt, 2, max_ports + 1);
  const int p = spec.number("p", 1, 1, max_nodes_per_router);
  if (Status s = spec.finish(); !s) return std::move(s).error();
  return build({{count}}, p, spec_name("complete", std::to_string(count), p));
}

constexpr std::array hyperx_parameters = {sizes_parameter, nodes_parameter};
constexpr std::array complete_parameters = {routers_parameter, nodes_parameter};

}  // namespace

extern const TopologyKind hyperx_kind{
    .name = "hyperx",
    .usage = "hyperx:SIZES[,p=N]",
    .example = "hyperx:4x3",
    .help = "every dimension fully connected",
    .parameters = hyperx_parameters,
    .make = &make_hyperx,
};
extern const TopologyKind complete_kind{
    .name = "complete",
    .usage = "complete:N[,p=N]",
    .example = "complete:5",
    .help = "every router to every other",
    .parameters = complete_parameters,
    .make = &make_complete,
};

}  // namespace weft::detail
