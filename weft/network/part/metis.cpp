// SPDX-License-Identifier: Apache-2.0
// Cuts a network by METIS, if weft was built with it.
#include <weft/network/part/cuts.hpp>
#include <weft/network/part/halve.hpp>
#include <weft/network/part/part.hpp>

#ifdef WEFT_METIS

#include <algorithm>
#include <array>
#include <cstdlib>
#include <mutex>
#include <numeric>

#include <metis.h>

#include <weft/base/loaded_library.hpp>

namespace weft {

namespace {

struct MetisLibrary {
  decltype(&METIS_SetDefaultOptions) set_defaults = nullptr;
  decltype(&METIS_PartGraphKway) at_once = nullptr;
  decltype(&METIS_PartGraphRecursive) halve = nullptr;

  static const MetisLibrary& get() {
    static const MetisLibrary library;
    return library;
  }
  bool is_there() const { return halve != nullptr; }

 private:
  MetisLibrary() {
    LoadedLibrary library(WEFT_METIS);
    library.find("METIS_SetDefaultOptions", set_defaults);
    library.find("METIS_PartGraphKway", at_once);
    library.find("METIS_PartGraphRecursive", halve);
    if (!library.is_complete()) halve = nullptr;
  }
};

}  // namespace

bool has_metis() {
  return MetisLibrary::get().is_there();
}

namespace detail {
namespace {

constexpr std::uint32_t outside = 0xffffffffu;

struct MetisGraph {
  std::vector<idx_t> first, peer, links;  // Neighbours of each router and the links to them.
  std::vector<idx_t> weight;
};

// METIS draws with rand(); the numbers that others draw must stay the same.
class OwnRandomNumbers {
 public:
  OwnRandomNumbers() : before_(::initstate(1, state_.data(), state_.size())) {}
  ~OwnRandomNumbers() { ::setstate(before_); }
  OwnRandomNumbers(const OwnRandomNumbers&) = delete;
  OwnRandomNumbers& operator=(const OwnRandomNumbers&) = delete;

 private:
  std::array<char, 128> state_{};
  char* before_;
};

using Options = std::array<idx_t, METIS_NOPTIONS>;

constexpr const char* other_metis =
    "the METIS found at run time is not the one weft was built with";

// One that was built with wider integers writes beyond the options.
bool fits_header(Options& options) {
  std::array<idx_t, std::size_t{2} * METIS_NOPTIONS> wide{};
  MetisLibrary::get().set_defaults(wide.data());
  std::copy_n(wide.begin(), METIS_NOPTIONS, options.begin());
  return std::all_of(wide.begin() + METIS_NOPTIONS, wide.end(), [](idx_t i) { return i == 0; });
}

class Metis {
 public:
  explicit Metis(const CutTask& task)
      : task_(task), owner_(task.weight.size()), local_(task.weight.size(), outside) {}

  // METIS would do the halving itself, but where a half has fewer routers than parts are wanted of
  // it, it says so on the standard output and goes on.
  Result<Owners> halve() {
    Numbers all(owner_.size());
    std::iota(all.begin(), all.end(), 0u);
    if (Status s = divide(all, task_.parts, 0); !s) return std::move(s).error();
    return owner_;
  }

  // All parts at once: better for many parts, but only where each has many routers (see above).
  bool can_cut_at_once() const {
    constexpr std::uint64_t routers_per_part = 16;
    std::uint64_t total = 0;
    for (const std::uint32_t w : task_.weight) total += w;
    const std::uint64_t router = *std::max_element(task_.weight.begin(), task_.weight.end());
    return task_.parts > 2 && router <= total / task_.parts / routers_per_part &&
           task_.weight.size() / task_.parts >= routers_per_part;
  }
  Result<Owners> cut_at_once() {
    Numbers all(owner_.size());
    std::iota(all.begin(), all.end(), 0u);
    return run(MetisLibrary::get().at_once, all,
               std::vector<real_t>(task_.parts, 1 / real_t(task_.parts)));
  }

 private:
  Status divide(const Numbers& set, std::uint32_t parts, std::uint32_t first_part) {
    if (parts == 1) {
      for (const std::uint32_t r : set) owner_[r] = first_part;
      return {};
    }
    const std::array<std::uint32_t, 2> share{parts / 2, parts - parts / 2};
    auto side = run(MetisLibrary::get().halve, set,
                    {real_t(share[0]) / real_t(parts), real_t(share[1]) / real_t(parts)});
    if (!side) return std::move(side).error();
    std::array<Numbers, 2> half;
    for (std::size_t i = 0; i < set.size(); ++i) half[(*side)[i]].push_back(set[i]);
    for (const std::size_t poor : {0u, 1u}) fill(half[1 - poor], half[poor], share[poor]);
    if (Status s = divide(half[0], share[0], first_part); !s) return s;
    return divide(half[1], share[1], first_part + share[0]);
  }

  // A part needs a router, however heavy those of the other side are.
  static void fill(Numbers& rich, Numbers& poor, std::uint32_t routers) {
    if (poor.size() >= routers) return;
    const auto given = static_cast<std::ptrdiff_t>(routers - poor.size());
    poor.insert(poor.end(), rich.end() - given, rich.end());
    rich.erase(rich.end() - given, rich.end());
    std::sort(poor.begin(), poor.end());
  }

  // The piece of each router of the set.
  Result<Owners> run(decltype(&METIS_PartGraphKway) cut, const Numbers& set,
                     std::vector<real_t> shares) {
    Options options;
    if (!fits_header(options)) return Error::run(other_metis);
    options[METIS_OPTION_SEED] = 1;
    // Thousandths that a part may be heavier than it should be; of halves of halves they add up.
    options[METIS_OPTION_UFACTOR] = shares.size() == 2 ? 1 : 10;
    MetisGraph graph = graph_of(set);
    auto routers = static_cast<idx_t>(set.size());
    auto parts = static_cast<idx_t>(shares.size());
    idx_t constraints = 1;
    idx_t links = 0;
    std::vector<idx_t> part(set.size());
    const OwnRandomNumbers guard;
    const int status = cut(&routers, &constraints, graph.first.data(), graph.peer.data(),
                           graph.weight.data(), nullptr, graph.links.data(), &parts, shares.data(),
                           nullptr, options.data(), &links, part.data());
    if (status == METIS_ERROR_MEMORY) return Error::run("METIS has not enough memory");
    if (status != METIS_OK) return Error::run("METIS could not cut the network");
    return Owners(part.begin(), part.end());
  }

  MetisGraph graph_of(const Numbers& set) {
    MetisGraph made;
    made.first.push_back(0);
    made.peer.reserve(1);  // An address even where there is no cable.
    made.links.reserve(1);
    for (std::size_t i = 0; i < set.size(); ++i) local_[set[i]] = static_cast<std::uint32_t>(i);
    for (const std::uint32_t r : set) add_router(r, made);
    for (const std::uint32_t r : set) local_[r] = outside;
    // METIS sums weights in an idx_t, and knows no router without any.
    std::uint64_t total = 0;
    for (const std::uint32_t r : set) total += task_.weight[r];
    const std::uint64_t scale = total / (std::uint64_t{1} << 30) + 1;
    for (const std::uint32_t r : set)
      made.weight.push_back(
          static_cast<idx_t>(std::max<std::uint64_t>(task_.weight[r] / scale, 1)));
    return made;
  }

  // Several links to the same neighbour become one, as METIS wants it.
  void add_router(std::uint32_t r, MetisGraph& made) const {
    Numbers peers;
    for (const Port& port : task_.topology.graph.ports(RouterId(r)))
      if (port.usable() && local_[port.peer.index] != outside)
        peers.push_back(local_[port.peer.index]);
    std::sort(peers.begin(), peers.end());
    for (std::size_t i = 0; i < peers.size(); ++i) {
      if (i > 0 && peers[i] == peers[i - 1]) {
        ++made.links.back();
      } else {
        made.peer.push_back(static_cast<idx_t>(peers[i]));
        made.links.push_back(1);
      }
    }
    made.first.push_back(static_cast<idx_t>(made.peer.size()));
  }

  const CutTask& task_;
  Owners owner_;
  Numbers local_;  // Position in the set that is being cut.
};

Status check_there() {
  if (!has_metis()) return Error::run(WEFT_METIS " is missing (Debian: libmetis5)");
  return {};
}

std::mutex one_at_a_time;  // There is one rand() for all threads.

}  // namespace

Result<std::vector<std::uint8_t>> halve_graph(const HalvingTask& task) {
  if (Status s = check_there(); !s) return std::move(s).error();
  const std::lock_guard lock(one_at_a_time);
  Options options;
  if (!fits_header(options)) return Error::run(other_metis);
  options[METIS_OPTION_SEED] = static_cast<idx_t>(task.seed);
  options[METIS_OPTION_UFACTOR] = 1;
  auto vertices = static_cast<idx_t>(task.first.size() - 1);
  idx_t constraints = 1;
  idx_t parts = 2;
  idx_t cut = 0;
  std::array<real_t, 2> shares = {static_cast<real_t>(task.share),
                                  static_cast<real_t>(1 - task.share)};
  std::vector<idx_t> first(task.first.begin(), task.first.end());
  std::vector<idx_t> peer(task.peer.begin(), task.peer.end());
  std::vector<idx_t> weight(task.weight.begin(), task.weight.end());
  peer.reserve(1);
  weight.reserve(1);
  std::vector<idx_t> part(task.first.size() - 1);
  const OwnRandomNumbers guard;
  const int status = MetisLibrary::get().halve(
      &vertices, &constraints, first.data(), peer.data(), nullptr, nullptr, weight.data(), &parts,
      shares.data(), nullptr, options.data(), &cut, part.data());
  if (status != METIS_OK) return Error::run("METIS could not halve the graph");
  return std::vector<std::uint8_t>(part.begin(), part.end());
}

// Neither of METIS's two ways is better for all networks: take the one that cuts fewer links.
Result<Owners> cut_metis(const CutTask& task) {
  if (Status s = check_there(); !s) return std::move(s).error();
  const std::lock_guard lock(one_at_a_time);
  Metis metis(task);
  auto halved = metis.halve();
  if (!halved) return halved;
  even_out(task, *halved);
  if (!metis.can_cut_at_once()) return halved;
  auto at_once = metis.cut_at_once();
  if (!at_once) return at_once;
  even_out(task, *at_once);
  const Graph& graph = task.topology.graph;
  return links_between(graph, *at_once) < links_between(graph, *halved) ? at_once : halved;
}

}  // namespace detail
}  // namespace weft

#else

namespace weft {

bool has_metis() {
  return false;
}

Result<std::vector<std::uint8_t>> detail::halve_graph(const HalvingTask&) {
  return Error::call("this weft was built without METIS (Debian: libmetis-dev)");
}

Result<detail::Owners> detail::cut_metis(const CutTask&) {
  return Error::call("this weft was built without METIS (Debian: libmetis-dev)");
}

}  // namespace weft

#endif
