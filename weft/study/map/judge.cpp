// SPDX-License-Identifier: Apache-2.0

#include <weft/study/map/judge.hpp>
#include <weft/study/map/power.hpp>

namespace weft::map {

namespace {

void add_flow(const Problem& problem, const RankMap& map, const Flow& flow, Paths& paths,
              Judgement& made) {
  const NodeId from = problem.node(map[flow.from]);
  const NodeId to = problem.node(map[flow.to]);
  const std::uint32_t hops = paths.hops(from, to);
  const auto bytes = static_cast<double>(flow.bytes);
  made.hops += hops;
  made.hop_bytes += bytes * hops;
  const auto crossings = paths.between(from, to);
  if (hops == no_way_hops && crossings.empty()) ++made.cut_off;
  for (const Crossing& c : crossings) made.loads[c.link] += bytes * c.share;
}

}  // namespace

Judgement judge(const Problem& problem, const RankMap& map, const Objective& objective,
                Paths& paths) {
  const Graph& graph = problem.topology().graph;
  Judgement made;
  made.loads.assign(graph.link_count(), 0);
  for (const Flow& flow : problem.traffic().flows())
    if (flow.from != flow.to) add_flow(problem, map, flow, paths, made);
  std::uint64_t links = 0;
  double sum = 0;
  for (std::uint32_t l = 0; l < graph.link_count(); ++l) {
    double& load = made.loads[l];
    load = load / paths.whole() * problem.slowness(LinkId(l));
    if (!graph.port(LinkId(l)).usable()) continue;
    ++links;
    sum += load;
    if (load > made.link_max) {
      made.link_max = load;
      made.busiest = LinkId(l);
    }
  }
  if (links > 0) made.link_mean = sum / static_cast<double>(links);
  if (made.link_max > 0) {
    double norm = 0;
    for (const double load : made.loads) norm += power(load / made.link_max, objective.norm);
    made.link_norm = made.link_max * power(norm / static_cast<double>(links), 1 / objective.norm);
  }
  made.value = combine(objective, static_cast<double>(made.hops), made.hop_bytes, made.link_max,
                       made.link_norm);
  return made;
}

}  // namespace weft::map
