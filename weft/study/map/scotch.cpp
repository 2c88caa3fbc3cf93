// SPDX-License-Identifier: Apache-2.0
#include <weft/study/map/scotch.hpp>

#ifdef WEFT_SCOTCH

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <mutex>
#include <vector>

#include <scotch.h>

#include <weft/base/loaded_library.hpp>
#include <weft/study/map/overflow.hpp>

namespace weft::map {

namespace {

struct Scotch {
  decltype(&SCOTCH_graphInit) graph_init = nullptr;
  decltype(&SCOTCH_graphExit) graph_exit = nullptr;
  decltype(&SCOTCH_graphBuild) graph_build = nullptr;
  decltype(&SCOTCH_graphMap) graph_map = nullptr;
  decltype(&SCOTCH_archInit) arch_init = nullptr;
  decltype(&SCOTCH_archExit) arch_exit = nullptr;
  decltype(&SCOTCH_archBuild) arch_build = nullptr;
  decltype(&SCOTCH_archTorusX) arch_torus = nullptr;
  decltype(&SCOTCH_archMeshX) arch_mesh = nullptr;
  decltype(&SCOTCH_stratInit) strat_init = nullptr;
  decltype(&SCOTCH_stratExit) strat_exit = nullptr;
  decltype(&SCOTCH_contextInit) context_init = nullptr;
  decltype(&SCOTCH_contextExit) context_exit = nullptr;
  decltype(&SCOTCH_contextRandomSeed) context_seed = nullptr;
  decltype(&SCOTCH_contextRandomClone) context_clone = nullptr;
  decltype(&SCOTCH_contextRandomReset) context_reset = nullptr;
  decltype(&SCOTCH_contextThreadSpawn) context_threads = nullptr;
  decltype(&SCOTCH_contextBindGraph) context_bind = nullptr;
  decltype(&SCOTCH_numSizeof) number_size = nullptr;
  bool there = false;

  static const Scotch& get() {
    static const Scotch library;
    return library;
  }

 private:
  Scotch() {
    LoadedLibrary library(WEFT_SCOTCH);
    library.find("SCOTCH_graphInit", graph_init);
    library.find("SCOTCH_graphExit", graph_exit);
    library.find("SCOTCH_graphBuild", graph_build);
    library.find("SCOTCH_graphMap", graph_map);
    library.find("SCOTCH_archInit", arch_init);
    library.find("SCOTCH_archExit", arch_exit);
    library.find("SCOTCH_archBuild", arch_build);
    library.find("SCOTCH_archTorusX", arch_torus);
    library.find("SCOTCH_archMeshX", arch_mesh);
    library.find("SCOTCH_stratInit", strat_init);
    library.find("SCOTCH_stratExit", strat_exit);
    library.find("SCOTCH_contextInit", context_init);
    library.find("SCOTCH_contextExit", context_exit);
    library.find("SCOTCH_contextRandomSeed", context_seed);
    library.find("SCOTCH_contextRandomClone", context_clone);
    library.find("SCOTCH_contextRandomReset", context_reset);
    library.find("SCOTCH_contextThreadSpawn", context_threads);
    library.find("SCOTCH_contextBindGraph", context_bind);
    library.find("SCOTCH_numSizeof", number_size);
    // One that was built with wider integers has another layout.
    there = library.is_complete() && number_size() == static_cast<int>(sizeof(SCOTCH_Num));
  }
};

// Everything Scotch holds for one call.
class Session {
 public:
  explicit Session(const Scotch& library) : library_(library) {
    library.graph_init(&ranks_);
    library.graph_init(&network_);
    library.graph_init(&bound_);
    // One thread and random numbers of its own: by itself it would use all processors, and draw
    // differently from call to call.
    library.context_init(&context_);
    library.context_clone(&context_);
    library.context_seed(&context_, 1);
    library.context_reset(&context_);
    library.context_threads(&context_, 1, nullptr);
    library.arch_init(&target_);
    library.strat_init(&strategy_);
    library.strat_init(&cutting_);
  }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  ~Session() {
    library_.strat_exit(&cutting_);
    library_.strat_exit(&strategy_);
    library_.arch_exit(&target_);
    library_.graph_exit(&bound_);
    library_.graph_exit(&network_);
    library_.graph_exit(&ranks_);
    library_.context_exit(&context_);
  }

  // Vertices and edges of ranks that talk; weights must not add up beyond an integer.
  bool take_ranks(const Problem& problem) {
    double total = 0;
    for (const Flow& f : problem.traffic().flows()) total += static_cast<double>(f.bytes);
    const double scale = std::max(1.0, 2 * total / (1 << 29));
    first_.push_back(0);
    for (std::uint32_t r = 0; r < problem.ranks(); ++r) {
      for (const Talk& talk : problem.talks(r)) {
        peer_.push_back(static_cast<SCOTCH_Num>(talk.peer));
        weight_.push_back(
            static_cast<SCOTCH_Num>(std::max(1.0, std::floor((talk.out + talk.in) / scale))));
      }
      first_.push_back(static_cast<SCOTCH_Num>(peer_.size()));
    }
    return library_.graph_build(&ranks_, 0, static_cast<SCOTCH_Num>(problem.ranks()), first_.data(),
                                nullptr, nullptr, nullptr, static_cast<SCOTCH_Num>(peer_.size()),
                                peer_.data(), weight_.data()) == 0;
  }

  // Scotch's own torus or mesh where it has no holes. For other networks it makes a table that
  // grows with the square of the routers; where that is too much, a cube's holes are left to
  // seat().
  bool take_network(const Problem& problem) {
    constexpr std::uint32_t routers_max = 4096;
    const Graph& graph = problem.topology().graph;
    const bool many = graph.router_count() > routers_max;
    const Lattice* const lattice = problem.topology().shape->lattice();
    if (lattice != nullptr && (many || (problem.whole() && graph.all_up()))) {
      const bool all =
          std::find(lattice->wrap.begin(), lattice->wrap.end(), false) == lattice->wrap.end();
      const bool none =
          std::find(lattice->wrap.begin(), lattice->wrap.end(), true) == lattice->wrap.end();
      std::vector<SCOTCH_Num> sides(lattice->radix.begin(), lattice->radix.end());
      const auto count = static_cast<SCOTCH_Num>(sides.size());
      if (all && sides.size() <= 5) return library_.arch_torus(&target_, count, sides.data()) == 0;
      if (none && sides.size() <= 5) return library_.arch_mesh(&target_, count, sides.data()) == 0;
    }
    return !many && take_graph(problem);
  }

  // Routers by their own numbers, also where only some take ranks.
  bool map(std::vector<SCOTCH_Num>& out) {
    if (library_.context_bind(&context_, &ranks_, &bound_) != 0) return false;
    return library_.graph_map(&bound_, &target_, &strategy_, out.data()) == 0;
  }

 private:
  bool take_graph(const Problem& problem) {
    const Graph& graph = problem.topology().graph;
    std::vector<bool> open(graph.router_count(), false);
    for (std::uint32_t s = 0; s < problem.slots(); ++s)
      open[graph.router_of(problem.node(s)).index] = true;
    cables_first_.push_back(0);
    for (std::uint32_t r = 0; r < graph.router_count(); ++r) {
      if (open[r]) list_.push_back(static_cast<SCOTCH_Num>(r));
      std::vector<SCOTCH_Num> peers;
      for (const Port& port : graph.ports(RouterId(r)))
        if (port.usable() && port.peer.index != r)
          peers.push_back(static_cast<SCOTCH_Num>(port.peer.index));
      std::sort(peers.begin(), peers.end());
      peers.erase(std::unique(peers.begin(), peers.end()), peers.end());
      cables_.insert(cables_.end(), peers.begin(), peers.end());
      cables_first_.push_back(static_cast<SCOTCH_Num>(cables_.size()));
    }
    if (library_.graph_build(&network_, 0, static_cast<SCOTCH_Num>(graph.router_count()),
                             cables_first_.data(), nullptr, nullptr, nullptr,
                             static_cast<SCOTCH_Num>(cables_.size()), cables_.data(), nullptr) != 0)
      return false;
    SCOTCH_Graph own;
    library_.graph_init(&own);
    const bool made = library_.context_bind(&context_, &network_, &own) == 0 &&
                      library_.arch_build(&target_, &own, static_cast<SCOTCH_Num>(list_.size()),
                                          list_.data(), &cutting_) == 0;
    library_.graph_exit(&own);
    return made;
  }

  const Scotch& library_;
  SCOTCH_Context context_;
  SCOTCH_Graph ranks_, network_, bound_;
  SCOTCH_Arch target_;
  SCOTCH_Strat strategy_, cutting_;  // Each is filled in at its first use, for that use alone.
  std::vector<SCOTCH_Num> first_, peer_, weight_, cables_first_, cables_, list_;
};

bool has_one_router(const Problem& problem) {
  const Graph& graph = problem.topology().graph;
  for (std::uint32_t s = 1; s < problem.slots(); ++s)
    if (graph.router_of(problem.node(s)) != graph.router_of(problem.node(0))) return false;
  return true;
}

}  // namespace

bool has_scotch() {
  return Scotch::get().there;
}

Result<RankMap> scotch_map(const Problem& problem) {
  static std::mutex one_at_a_time;  // Its random numbers are the whole process's.
  const std::lock_guard lock(one_at_a_time);
  const Scotch& library = Scotch::get();
  if (!library.there) return Error::run(WEFT_SCOTCH " is missing (Debian: libscotch-7.0)");
  // On a network with one place Scotch leaks memory.
  if (problem.ranks() == 0 || has_one_router(problem)) return problem.in_order();
  Session session(library);
  std::vector<SCOTCH_Num> place(problem.ranks());
  if (!session.take_ranks(problem) || !session.take_network(problem) || !session.map(place))
    return Error::run("Scotch cannot map onto this network, or it is too large for that");
  std::vector<RouterId> wanted;
  for (const SCOTCH_Num p : place) wanted.push_back(RouterId(static_cast<std::uint32_t>(p)));
  return seat(problem, wanted);
}

}  // namespace weft::map

#else

namespace weft::map {

bool has_scotch() {
  return false;
}

Result<RankMap> scotch_map(const Problem&) {
  return Error::run("this weft was built without Scotch (Debian: libscotch-dev)");
}

}  // namespace weft::map

#endif
