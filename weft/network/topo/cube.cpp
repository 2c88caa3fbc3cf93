// SPDX-License-Identifier: Apache-2.0
// k-ary n-cubes and meshes: tori, meshes, mixtures of both, rings, hypercubes, Tofu.
#include <algorithm>
#include <array>
#include <cstdlib>

#include <fmt/core.h>

#include <weft/base/text.hpp>
#include <weft/network/topo/family.hpp>

namespace weft::detail {
namespace {

constexpr int max_nodes_per_router = 65535;

int apart(int radix, bool wrap, int a, int b) {
  const int straight = std::abs(a - b);
  return wrap ? std::min(straight, radix - straight) : straight;
}

std::uint64_t cable_count(const Lattice& shape) {
  const std::uint64_t routers = product(shape.radix);
  std::uint64_t cables = 0;
  for (std::size_t d = 0; d < shape.radix.size(); ++d) {
    const auto radix = static_cast<std::uint64_t>(shape.radix[d]);
    cables += product(routers / radix, shape.wrap[d] ? radix : radix - 1);
  }
  return cables;
}

std::vector<Cable> lay_cables(const Lattice& shape) {
  std::vector<Cable> cables;
  cables.reserve(cable_count(shape));
  const auto routers = static_cast<std::uint32_t>(product(shape.radix));
  std::uint32_t stride = 1;
  for (int d = 0; d < shape.dimensions(); ++d) {
    const auto at = static_cast<std::size_t>(d);
    const auto radix = static_cast<std::uint32_t>(shape.radix[at]);
    for (std::uint32_t r = 0; r < routers; ++r) {
      const bool edge = (r / stride) % radix == radix - 1;
      if (edge && !shape.wrap[at]) continue;
      const std::uint32_t up = edge ? r - (radix - 1) * stride : r + stride;
      cables.push_back({RouterId(r), static_cast<std::uint16_t>(Lattice::up_port(d)), RouterId(up),
                        static_cast<std::uint16_t>(Lattice::down_port(d)),
                        static_cast<std::uint8_t>(d), true});
    }
    stride *= radix;
  }
  return cables;
}

// How many cables an innermost line of this dimension loses when it is cut in two.
std::uint64_t cables_per_line(const Lattice& shape, std::size_t d) {
  return shape.wrap[d] ? 2 : 1;
}

int distance(const Lattice& shape, RouterId from, RouterId to) {
  std::uint32_t a = from.index;
  std::uint32_t b = to.index;
  int total = 0;
  for (std::size_t d = 0; d < shape.radix.size(); ++d) {
    const auto radix = static_cast<std::uint32_t>(shape.radix[d]);
    total += apart(shape.radix[d], shape.wrap[d], static_cast<int>(a % radix),
                   static_cast<int>(b % radix));
    a /= radix;
    b /= radix;
  }
  return total;
}

// Dimensions add up, and each is met by (N/k)^2 pairs of the others. For k positions the distances
// of all ordered pairs sum to k*floor(k^2/4) on a ring and (k^3-k)/3 on a line.
DistanceSum distance_sum(const Lattice& shape) {
  const auto routers = static_cast<double>(product(shape.radix));
  DistanceSum sum;
  for (std::size_t d = 0; d < shape.radix.size(); ++d) {
    const int k = shape.radix[d];
    const double wide = k;
    const std::int64_t square_quarter = static_cast<std::int64_t>(k) * k / 4;  // Rounded down.
    const double line = shape.wrap[d] ? wide * static_cast<double>(square_quarter)
                                      : (wide * wide * wide - wide) / 3;
    sum.total += line * (routers / wide) * (routers / wide);
    sum.largest += shape.wrap[d] ? k / 2 : k - 1;
  }
  return sum;
}

// Cut the longest dimension in the middle; while its radix is odd the middle layer is itself cut,
// along the next. For meshes and for tori this is the optimum (Aroca and Fernandez Anta, "Bisection
// (Band)Width of Product Networks", 2014). With mixed wraps, "longest" is by radix over cables per
// line; if that radix is even, routing all pairs in dimension order loads no cable more than the
// cut ones, which proves the cut least; otherwise it is only the best we know.
Bisection bisection(const Lattice& shape) {
  std::vector<std::size_t> order(shape.radix.size());
  for (std::size_t d = 0; d < order.size(); ++d) order[d] = d;
  const auto shorter = [&](std::size_t a, std::size_t b) {
    return static_cast<std::uint64_t>(shape.radix[a]) * cables_per_line(shape, b) <
           static_cast<std::uint64_t>(shape.radix[b]) * cables_per_line(shape, a);
  };
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) {
    if (shorter(a, b) || shorter(b, a)) return shorter(b, a);
    return shape.radix[a] % 2 < shape.radix[b] % 2;  // Among equals an even one ends the cut.
  });
  const bool uniform = std::all_of(order.begin(), order.end(),
                                   [&](auto d) { return shape.wrap[d] == shape.wrap[0]; });
  Bisection made;
  std::uint64_t layer = product(shape.radix);
  for (const std::size_t d : order) {
    layer /= static_cast<std::uint64_t>(shape.radix[d]);
    made.cables += layer * cables_per_line(shape, d);
    if (shape.radix[d] % 2 == 0) break;
  }
  if (!uniform && shape.radix[order[0]] % 2 != 0) made.ground = Ground::upper_bound;
  return made;
}

class CubeShape final : public GridShape {
 public:
  explicit CubeShape(Lattice lattice) : GridShape(axes_of(lattice)), lattice_(std::move(lattice)) {}

  std::optional<int> distance(const Graph&, RouterId from, RouterId to) const override {
    return detail::distance(lattice_, from, to);
  }
  std::optional<DistanceSum> distance_sum(const Graph&) const override {
    return detail::distance_sum(lattice_);
  }
  std::optional<Bisection> bisection() const override { return detail::bisection(lattice_); }
  std::optional<int> diameter_max() const override {
    return detail::distance_sum(lattice_).largest;
  }
  const Lattice* lattice() const override { return &lattice_; }

 private:
  static std::vector<GridAxis> axes_of(const Lattice& lattice) {
    std::vector<GridAxis> axes;
    for (std::size_t d = 0; d < lattice.radix.size(); ++d)
      axes.push_back({lattice.radix[d], lattice.wrap[d] ? Wiring::ring : Wiring::line});
    return axes;
  }

  Lattice lattice_;
};

Result<Topology> build(Lattice shape, int p, std::string name) {
  for (std::size_t d = 0; d < shape.radix.size(); ++d)
    if (shape.radix[d] == 2) shape.wrap[d] = false;
  const std::uint64_t routers = product(shape.radix);
  const std::uint64_t nodes = product(routers, static_cast<std::uint64_t>(p));
  // First without the cables: their count is only safe to add up once the routers are few enough.
  if (Status s = check_limits(routers, nodes, 0); !s) return std::move(s).error();
  if (Status s = check_limits(routers, nodes, cable_count(shape)); !s) return std::move(s).error();
  Graph::Parts parts;
  parts.port_count.assign(routers, static_cast<std::uint16_t>(2 * shape.dimensions()));
  parts.cables = lay_cables(shape);
  parts.router_of = place_nodes(routers, p);
  for (int d = 0; d < shape.dimensions(); ++d) parts.link_classes.push_back(dimension_name(d));
  auto graph = Graph::make(std::move(parts));
  if (!graph) return std::move(graph).error();
  return Topology{std::move(name), std::make_shared<const CubeShape>(std::move(shape)),
                  *std::move(graph)};
}

Result<Topology> make_uniform(Spec& spec, std::string_view kind, bool wrap) {
  std::vector<int> radix = spec.sizes("", 2);
  const int p = spec.number("p", 1, 1, max_nodes_per_router);
  if (Status s = spec.finish(); !s) return std::move(s).error();
  std::string name = spec_name(kind, sizes_text(radix), p);
  std::vector<bool> wraps(radix.size(), wrap);
  return build({std::move(radix), std::move(wraps)}, p, std::move(name));
}

Result<Topology> make_torus(Spec& spec) {
  return make_uniform(spec, "torus", true);
}
Result<Topology> make_mesh(Spec& spec) {
  return make_uniform(spec, "mesh", false);
}

Result<Topology> make_cube(Spec& spec) {
  std::vector<int> radix = spec.sizes("", 2);
  const std::string wrap = spec.text("wrap");
  const int p = spec.number("p", 1, 1, max_nodes_per_router);
  if (Status s = spec.finish(); !s) return std::move(s).error();
  if (wrap.size() != radix.size() || wrap.find_first_not_of("01") != std::string::npos)
    return Error::input(fmt::format(
        "'wrap' is '{}', but must be one 0 or 1 for each of the {} sizes", wrap, radix.size()));
  std::vector<bool> wraps;
  for (const char c : wrap) wraps.push_back(c == '1');
  std::string name = spec_name("cube", sizes_text(radix) + ",wrap=" + wrap, p);
  return build({std::move(radix), std::move(wraps)}, p, std::move(name));
}

// The 6-D mesh/torus of the Tofu interconnect: X, Y and Z are rings of units, a unit is 2x3x2 with
// a ring in the middle dimension.
Result<Topology> make_tofu(Spec& spec) {
  std::vector<int> radix = spec.sizes("", 2);
  const int p = spec.number("p", 1, 1, max_nodes_per_router);
  if (Status s = spec.finish(); !s) return std::move(s).error();
  if (radix.size() == 3) radix.insert(radix.end(), {2, 3, 2});
  if (radix.size() != 6 || radix[3] != 2 || radix[4] != 3 || radix[5] != 2)
    return Error::input("a tofu network has three sizes, or six of which the last are 2x3x2");
  std::string name = spec_name("tofu", sizes_text(std::span(radix).first(3)), p);
  return build({std::move(radix), {true, true, true, false, true, false}}, p, std::move(name));
}

Result<Topology> make_ring(Spec& spec) {
  std::vector<int> radix = spec.sizes("", 2);
  const int p = spec.number("p", 1, 1, max_nodes_per_router);
  if (Status s = spec.finish(); !s) return std::move(s).error();
  if (radix.size() != 1) return Error::input("a ring has one size; for more use torus");
  std::string name = spec_name("ring", sizes_text(radix), p);
  return build({std::move(radix), {true}}, p, std::move(name));
}

Result<Topology> make_hypercube(Spec& spec) {
  const int dimensions = spec.number("", std::nullopt, 1, 24);
  const int p = spec.number("p", 1, 1, max_nodes_per_router);
  if (Status s = spec.finish(); !s) return std::move(s).error();
  const auto n = static_cast<std::size_t>(dimensions);
  return build({std::vector<int>(n, 2), std::vector<bool>(n, false)}, p,
               spec_name("hypercube", std::to_string(dimensions), p));
}

constexpr std::array grid_parameters = {sizes_parameter, nodes_parameter};
constexpr std::array wrap_parameters = {
    sizes_parameter, SpecParameter{"wrap", "a 1 (ring) or 0 (line) for each dimension"},
    nodes_parameter};
constexpr std::array tofu_parameters = {
    SpecParameter{"", "XxYxZ rings of units of 2x3x2 (which may be written out)"}, nodes_parameter};
constexpr std::array ring_parameters = {routers_parameter, nodes_parameter};
constexpr std::array hypercube_parameters = {SpecParameter{"", "dimensions"}, nodes_parameter};

}  // namespace

extern const TopologyKind torus_kind{
    .name = "torus",
    .usage = "torus:SIZES[,p=N]",
    .example = "torus:4x3",
    .help = "k-ary n-cube: a ring per dimension",
    .parameters = grid_parameters,
    .make = &make_torus,
};
extern const TopologyKind mesh_kind{
    .name = "mesh",
    .usage = "mesh:SIZES[,p=N]",
    .example = "mesh:4x3",
    .help = "a line per dimension",
    .parameters = grid_parameters,
    .make = &make_mesh,
};
extern const TopologyKind cube_kind{
    .name = "cube",
    .usage = "cube:SIZES,wrap=BITS[,p=N]",
    .example = "cube:4x4x3,wrap=101",
    .help = "ring or line, dimension by dimension",
    .parameters = wrap_parameters,
    .make = &make_cube,
};
extern const TopologyKind tofu_kind{
    .name = "tofu",
    .usage = "tofu:XxYxZ[,p=N]",
    .example = "tofu:3x2x2",
    .help = "6-D mesh/torus of the Tofu kind",
    .parameters = tofu_parameters,
    .make = &make_tofu,
};
extern const TopologyKind ring_kind{
    .name = "ring",
    .usage = "ring:N[,p=N]",
    .example = "ring:5",
    .help = "one ring",
    .parameters = ring_parameters,
    .make = &make_ring,
};
extern const TopologyKind hypercube_kind{
    .name = "hypercube",
    .usage = "hypercube:N[,p=N]",
    .example = "hypercube:4",
    .help = "2^N routers",
    .parameters = hypercube_parameters,
    .make = &make_hypercube,
};

}  // namespace weft::detail
