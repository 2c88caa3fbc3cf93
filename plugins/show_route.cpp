// SPDX-License-Identifier: Apache-2.0
// A program on top of the installed libraries: prints the routers on the way from one node to
// another, under any routing that weft knows or a library has.
//
//   show_route ./libcolumn_first.so:column-first mesh:4x3 0 11
#include <cstdint>
#include <cstdio>
#include <exception>
#include <vector>

#include <weft/base/text.hpp>
#include <weft/network/route/path.hpp>

namespace {

int fail(const char* message) {
  std::fprintf(stderr, "show_route: %s\n", message);
  return 2;
}

int run(int argc, char** argv) {
  if (argc != 5) return fail("usage: show_route ROUTING TOPOLOGY FROM TO");
  const auto topology = weft::make_topology(argv[2]);
  if (!topology) return fail(topology.error().text().c_str());
  const auto from = weft::parse_int(argv[3]);
  const auto to = weft::parse_int(argv[4]);
  const auto count = static_cast<std::int64_t>(topology->graph.node_count());
  if (!from || !to || *from < 0 || *to < 0 || *from >= count || *to >= count)
    return fail("FROM and TO are numbers of nodes");
  const auto policy = weft::make_policy(argv[1], *topology, weft::vcs_needed(argv[1], *topology));
  if (!policy) return fail(policy.error().text().c_str());
  const weft::NodeId first(static_cast<std::uint32_t>(*from));
  std::vector<weft::LinkId> links;
  if (!weft::follow_path(**policy, topology->graph, first,
                         weft::NodeId(static_cast<std::uint32_t>(*to)), links))
    return fail("there is no way");
  std::printf("%s\n", weft::router_name(*topology, topology->graph.router_of(first)).c_str());
  for (const weft::LinkId link : links)
    std::printf("%s\n", weft::router_name(*topology, topology->graph.port(link).peer).c_str());
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& e) {
    return fail(e.what());
  }
}
