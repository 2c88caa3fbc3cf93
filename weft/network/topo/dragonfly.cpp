// SPDX-License-Identifier: Apache-2.0
// Dragonflies.
#include <algorithm>
#include <array>

#include <fmt/core.h>

#include <weft/base/text.hpp>
#include <weft/network/topo/family.hpp>

namespace weft::detail {
namespace {

constexpr int max_size = 32768;  // Local and global ports together are counted in 16 bits.
constexpr std::uint8_t local_class = 0;
constexpr std::uint8_t global_class = 1;

// Groups of `a` routers, all-to-all inside; h global cables and p nodes per router; g groups.
// Ports: as RouterGroups has them, a-1..a-2+h global. Global cable number j = position * h +
// (port-(a-1)) of a group goes, when g = a*h+1, to group (j < own group ? j : j+1); with fewer
// groups the same order is dealt round.
struct Dragonfly {
  int a = 0, h = 0, p = 0, g = 0;
};

RouterId router(const Dragonfly& s, int group, int position) {
  return RouterId(static_cast<std::uint32_t>(group) * static_cast<std::uint32_t>(s.a) +
                  static_cast<std::uint32_t>(position));
}

void lay_local(const Dragonfly& s, std::vector<Cable>& cables) {
  for (int group = 0; group < s.g; ++group)
    for (int low = 0; low < s.a; ++low)
      for (int high = low + 1; high < s.a; ++high)
        cables.push_back({router(s, group, low), static_cast<std::uint16_t>(high - 1),
                          router(s, group, high), static_cast<std::uint16_t>(low), local_class,
                          true});
}

// Joins global cable number `i` of one group to number `j` of another.
Cable global_cable(const Dragonfly& s, int group, int i, int other, int j) {
  return {router(s, group, i / s.h),
          static_cast<std::uint16_t>(s.a - 1 + i % s.h),
          router(s, other, j / s.h),
          static_cast<std::uint16_t>(s.a - 1 + j % s.h),
          global_class,
          true};
}

// What is left when every pair of groups has its whole rounds: `left` < g-1 ports per group, which
// become a graph of groups where each has `left` neighbours: rings of step 1, 2, ... and, if `left`
// is odd, one cable more per group. For even g that joins opposite groups. For odd g that cannot be
// (the ends would be odd in number): the ring of step (g-1)/2 visits all groups, every second of
// its cables is laid, and the last group keeps a free port.
void deal_rest(const Dragonfly& s, int first, int left, std::vector<Cable>& cables) {
  std::vector<int> next(static_cast<std::size_t>(s.g), first);
  const auto join = [&](int one, int two) {
    int& i = next[static_cast<std::size_t>(one)];
    int& j = next[static_cast<std::size_t>(two)];
    cables.push_back(global_cable(s, one, i++, two, j++));
  };
  for (int step = 1; step <= left / 2; ++step)
    for (int group = 0; group < s.g; ++group) join(group, (group + step) % s.g);
  if (left % 2 == 0) return;
  if (s.g % 2 == 0) {
    for (int group = 0; group < s.g / 2; ++group) join(group, group + s.g / 2);
    return;
  }
  const std::int64_t step = (s.g - 1) / 2;
  for (int k = 0; k + 1 < s.g; k += 2)
    join(static_cast<int>(k * step % s.g), static_cast<int>((k + 1) * step % s.g));
}

void lay_global(const Dragonfly& s, std::vector<Cable>& cables) {
  const int others = s.g - 1;
  const int rounds = s.a * s.h / others;
  for (int round = 0; round < rounds; ++round)
    for (int low = 0; low < s.g; ++low)
      for (int high = low + 1; high < s.g; ++high)
        cables.push_back(
            global_cable(s, low, round * others + high - 1, high, round * others + low));
  deal_rest(s, rounds * others, s.a * s.h % others, cables);
}

std::span<const Port> global_ports(const Dragonfly& s, const Graph& graph, RouterId r) {
  return graph.ports(r).subspan(static_cast<std::size_t>(s.a - 1));
}

std::uint32_t group_of(const Dragonfly& s, RouterId r) {
  return r.index / static_cast<std::uint32_t>(s.a);
}

Coordinates coordinates(const Dragonfly& s, RouterId r) {
  return {static_cast<int>(group_of(s, r)),
          static_cast<int>(r.index % static_cast<std::uint32_t>(s.a))};
}

std::optional<RouterId> find_router(const Dragonfly& s, const Coordinates& c) {
  if (c.size() != 2 || c[0] < 0 || c[0] >= s.g || c[1] < 0 || c[1] >= s.a) return std::nullopt;
  return router(s, c[0], c[1]);
}

std::string router_name(const Dragonfly& s, RouterId r) {
  const Coordinates c = coordinates(s, r);
  return fmt::format("g{}.r{}", c[0], c[1]);
}

std::optional<RouterId> find_router(const Dragonfly& s, std::string_view name) {
  const std::size_t dot = name.find(".r");
  if (!name.starts_with('g') || dot == std::string_view::npos) return std::nullopt;
  const auto group = parse_int(name.substr(1, dot - 1));
  const auto position = parse_int(name.substr(dot + 2));
  if (!group || !position || *group < 0 || *group >= s.g || *position < 0 || *position >= s.a)
    return std::nullopt;
  return router(s, static_cast<int>(*group), static_cast<int>(*position));
}

// Every two groups have a cable, so local, global, local always works: nothing is farther than 3.
int distance(const Dragonfly& s, const Graph& graph, RouterId from, RouterId to) {
  if (from == to) return 0;
  const std::uint32_t here = group_of(s, from);
  const std::uint32_t there = group_of(s, to);
  if (here == there) return 1;
  int best = 3;
  for (const Port& out : global_ports(s, graph, from)) {
    if (!out.connected()) continue;
    if (out.peer == to) return 1;
    if (group_of(s, out.peer) == there) best = 2;
  }
  for (const Port& in : global_ports(s, graph, to)) {
    if (!in.connected()) continue;
    if (group_of(s, in.peer) == here) best = 2;
    // Two global cables in a row through a router of a third group.
    for (const Port& out : global_ports(s, graph, from))
      if (out.connected() && out.peer == in.peer) best = 2;
  }
  return best;
}

// Counts near routers, router by router; the rest are 3 away.
DistanceSum distance_sum(const Dragonfly& s, const Graph& graph) {
  DistanceSum sum;
  const std::uint32_t routers = graph.router_count();
  std::vector<std::uint32_t> seen_by(routers, routers);
  for (std::uint32_t r = 0; r < routers; ++r) {
    std::uint32_t near[2] = {0, 0};
    std::vector<RouterId> first;
    seen_by[r] = r;
    const auto meet = [&](const Port& port, int away) {
      if (!port.connected() || seen_by[port.peer.index] == r) return false;
      seen_by[port.peer.index] = r;
      ++near[away - 1];
      return true;
    };
    for (const Port& port : graph.ports(RouterId(r)))
      if (meet(port, 1)) first.push_back(port.peer);
    for (const RouterId f : first) {
      // A local neighbour's local ports lead back into the group, which is all seen already.
      const bool local = group_of(s, f) == group_of(s, RouterId(r));
      for (const Port& port : local ? global_ports(s, graph, f) : graph.ports(f)) meet(port, 2);
    }
    const std::uint32_t far = routers - 1 - near[0] - near[1];
    sum.total += near[0] + 2.0 * near[1] + 3.0 * far;
    sum.largest = std::max(sum.largest, far > 0 ? 3 : near[1] > 0 ? 2 : near[0] > 0 ? 1 : 0);
  }
  return sum;
}

class DragonflyShape final : public Shape {
 public:
  explicit DragonflyShape(const Dragonfly& s) : shape_(s), groups_{.size = s.a, .count = s.g} {}

  Coordinates coordinates(RouterId r) const override { return detail::coordinates(shape_, r); }
  std::optional<RouterId> find_router(const Coordinates& c) const override {
    return detail::find_router(shape_, c);
  }
  std::string router_name(RouterId r) const override { return detail::router_name(shape_, r); }
  std::optional<RouterId> find_router(std::string_view name) const override {
    return detail::find_router(shape_, name);
  }
  std::optional<int> distance(const Graph& graph, RouterId from, RouterId to) const override {
    return detail::distance(shape_, graph, from, to);
  }
  std::optional<DistanceSum> distance_sum(const Graph& graph) const override {
    return detail::distance_sum(shape_, graph);
  }
  std::optional<int> diameter_max() const override {
    if (shape_.a * shape_.h < shape_.g - 1) return std::nullopt;
    return shape_.g > 1 ? 3 : 1;
  }
  const RouterGroups* groups() const override { return &groups_; }
  std::optional<RouterBlocks> blocks() const override {
    const auto size = static_cast<std::uint32_t>(shape_.a);
    return RouterBlocks{size * static_cast<std::uint32_t>(shape_.g), size, "group"};
  }

 private:
  Dragonfly shape_;
  RouterGroups groups_;
};

Result<Topology> build(const Dragonfly& s) {
  const auto wide = [](int v) { return static_cast<std::uint64_t>(v); };
  const std::uint64_t routers = product(wide(s.a), wide(s.g));
  const std::uint64_t nodes = product(routers, wide(s.p));
  const std::uint64_t cables = product(routers, wide(s.a - 1 + s.h)) / 2;
  if (Status status = check_limits(routers, nodes, cables); !status)
    return std::move(status).error();
  Graph::Parts parts;
  parts.port_count.assign(routers, static_cast<std::uint16_t>(s.a - 1 + s.h));
  parts.cables.reserve(cables);
  lay_local(s, parts.cables);
  lay_global(s, parts.cables);
  parts.router_of = place_nodes(routers, s.p);
  parts.link_classes = {"local", "global"};
  auto graph = Graph::make(std::move(parts));
  if (!graph) return std::move(graph).error();
  return Topology{fmt::format("dragonfly:a={},h={},p={},g={}", s.a, s.h, s.p, s.g),
                  std::make_shared<const DragonflyShape>(s), *std::move(graph)};
}

Result<Topology> make_dragonfly(Spec& spec) {
  Dragonfly s;
  s.a = spec.number("a", std::nullopt, 1, max_size);
  s.h = spec.number("h", std::nullopt, 1, max_size);
  s.p = spec.number("p", s.h, 1, max_size);
  const std::int64_t most = std::int64_t{s.a} * s.h + 1;
  // The whole network is refused later if `most` is absurd; here it only must fit.
  s.g = spec.number("g", static_cast<int>(most), 2, 1 << 30);
  if (Status status = spec.finish(); !status) return std::move(status).error();
  if (s.g > most)
    return Error::input(fmt::format(
        "'g' is {}, but {} routers with {} global cables each reach at most {} groups (a*h+1)", s.g,
        s.a, s.h, most));
  return build(s);
}

constexpr std::array dragonfly_parameters = {
    SpecParameter{"a", "routers per group"}, SpecParameter{"h", "global cables per router"},
    SpecParameter{"p", "nodes per router (h)"}, SpecParameter{"g", "groups (a*h+1, the most)"}};

}  // namespace

extern const TopologyKind dragonfly_kind{
    .name = "dragonfly",
    .usage = "dragonfly:a=N,h=N[,p=N][,g=N]",
    .example = "dragonfly:a=4,h=2,p=2",
    .help = "groups of routers, all to all inside and between",
    .parameters = dragonfly_parameters,
    .make = &make_dragonfly,
};

}  // namespace weft::detail
