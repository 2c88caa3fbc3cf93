// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <weft/base/pack.hpp>
#include <weft/program/simulated_run/totals.hpp>

namespace weft {

std::uint32_t RunTotals::ranks_open() const {
  return static_cast<std::uint32_t>(
      std::count_if(ranks.begin(), ranks.end(), [](const RankEntry& r) { return !r.done; }));
}

int RunTotals::exit_code() const {
  const auto bad =
      std::find_if(ranks.begin(), ranks.end(), [](const RankEntry& r) { return r.code != 0; });
  return bad == ranks.end() ? 0 : bad->code;
}

RunTotals take_totals(const SimulationSetup& setup, World& world,
                      const ProgramRanks& program_ranks) {
  RunTotals totals;
  for (std::uint32_t r = 0; r < setup.placement->ranks(); ++r) {
    const RankId rank(r);
    if (!world.is_here(rank)) continue;
    const RankCounts& counts = world.counts(rank);
    const bool done = world.done(rank);
    totals.ranks.push_back({rank, done, program_ranks.code(rank),
                            done ? counts.ended : world.now(rank), counts,
                            program_ranks.connections(rank)});
  }
  const Graph& graph = setup.machine.topology->graph;
  const Network& network = world.network();
  for (std::uint32_t l = 0; l < graph.link_count(); ++l) {
    if (network.is_here(graph.source_of(LinkId(l))))
      totals.links.push_back({LinkId(l), network.link(LinkId(l))});
  }
  for (std::uint32_t n = 0; n < graph.node_count(); ++n) {
    if (network.is_here(NodeId(n)))
      totals.node_links.push_back({NodeId(n), network.node_link(NodeId(n))});
  }
  totals.network = network.counts();
  totals.latencies_ps = world.latencies_ps();
  totals.calls = program_ranks.calls();
  totals.protocols = program_ranks.protocols();
  totals.algorithms = program_ranks.algorithms();
  totals.windows = program_ranks.windows();
  totals.notes = program_ranks.notes();
  totals.aborts = program_ranks.aborts();
  totals.pairs = world.pairs();
  return totals;
}

namespace {

template <typename Value>
void put_map(Packer& out, const std::map<std::string, Value>& map) {
  out.put(std::uint64_t{map.size()});
  for (const auto& [name, value] : map) {
    out.put_text(name);
    out.put(value);
  }
}

PeerBytes pack(const RunTotals& totals) {
  Packer out;
  out.put_list(totals.ranks);
  out.put_list(totals.links);
  out.put_list(totals.node_links);
  out.put(totals.network);
  totals.latencies_ps.pack(out);
  put_map(out, totals.calls);
  out.put(totals.protocols);
  put_map(out, totals.algorithms);
  put_map(out, totals.windows);
  out.put(std::uint64_t{totals.notes.size()});
  for (const Note& note : totals.notes) {
    out.put(note.at);
    out.put(note.rank);
    out.put_text(note.text);
  }
  out.put(std::uint64_t{totals.aborts.size()});
  for (const ProgramRanks::Abort& abort : totals.aborts) {
    out.put(abort.at);
    out.put(abort.rank);
    out.put(abort.code);
    out.put_text(abort.message);
  }
  out.put_list(totals.pairs);
  return out.take();
}

void add(std::uint64_t& sum, const std::uint64_t& more) {
  sum += more;
}

void add(CallTotals& sum, const CallTotals& more) {
  sum.add(more);
}

void add(WindowTotals& sum, const WindowTotals& more) {
  sum.entries += more.entries;
  sum.first_start = std::min(sum.first_start, more.first_start);
  sum.last_stop = std::max(sum.last_stop, more.last_stop);
  sum.inside += more.inside;
  sum.waited += more.waited;
  sum.spent += more.spent;
  sum.messages += more.messages;
  sum.bytes += more.bytes;
}

template <typename Value>
void add_map(std::map<std::string, Value>& sum, Unpacker& in) {
  for (auto left = in.take<std::uint64_t>(); left > 0; --left) {
    const std::string name = in.take_text();
    add(sum[name], in.take<Value>());
  }
}

template <typename T>
void append(std::vector<T>& sum, const std::vector<T>& more) {
  sum.insert(sum.end(), more.begin(), more.end());
}

void add(RunTotals& sum, Unpacker in) {
  append(sum.ranks, in.take_list<RankEntry>());
  append(sum.links, in.take_list<LinkEntry>());
  append(sum.node_links, in.take_list<NodeLinkEntry>());
  const auto counts = in.take<NetworkCounts>();
  sum.network.packets_sent += counts.packets_sent;
  sum.network.packets_delivered += counts.packets_delivered;
  sum.network.hops += counts.hops;
  sum.network.visits += counts.visits;
  sum.latencies_ps.merge(Histogram::unpack(in));
  add_map(sum.calls, in);
  sum.protocols.add(in.take<ProtocolCounts>());
  add_map(sum.algorithms, in);
  add_map(sum.windows, in);
  for (auto left = in.take<std::uint64_t>(); left > 0; --left) {
    const auto at = in.take<Time>();
    const auto rank = in.take<RankId>();
    sum.notes.push_back({at, rank, in.take_text()});
  }
  for (auto left = in.take<std::uint64_t>(); left > 0; --left) {
    const auto at = in.take<Time>();
    const auto rank = in.take<RankId>();
    const auto code = in.take<int>();
    sum.aborts.push_back({at, rank, code, in.take_text()});
  }
  append(sum.pairs, in.take_list<PairCount>());
}

template <typename T, typename Key>
void sort_by(std::vector<T>& list, Key&& key) {
  std::stable_sort(list.begin(), list.end(),
                   [&](const T& a, const T& b) { return key(a) < key(b); });
}

}  // namespace

RunTotals merge_totals(ProcessGroup* peers, RunTotals mine) {
  if (peers == nullptr || peers->count() == 1) return mine;
  const std::vector<PeerBytes> all = peers->gather(pack(mine));
  if (peers->self() != 0) return mine;
  RunTotals sum;
  for (const PeerBytes& bytes : all) add(sum, Unpacker(bytes));
  const auto by_time = [](const auto& one) { return std::pair(one.at, one.rank); };
  sort_by(sum.ranks, [](const RankEntry& r) { return r.rank; });
  sort_by(sum.links, [](const LinkEntry& l) { return l.link; });
  sort_by(sum.node_links, [](const NodeLinkEntry& n) { return n.node; });
  sort_by(sum.notes, by_time);
  sort_by(sum.aborts, by_time);
  sort_by(sum.pairs, [](const PairCount& p) { return std::pair(p.from, p.to); });
  return sum;
}

}  // namespace weft
