// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include <weft/base/quantity.hpp>
#include <weft/program/run_record/tables.hpp>

namespace weft {

namespace {

std::string duration_text(std::int64_t ps) {
  return to_text(Duration::ps(ps));
}

// Wide enough for hours to the picosecond.
constexpr std::string_view calls_row = "  {:<28}{:>12} {:>17} {:>17} {:>8} {:>17} {:>13}\n";

}  // namespace

void CallTotals::add(const CallTotals& more) {
  const bool first = count == 0;
  count += more.count;
  bytes += more.bytes;
  inside += more.inside;
  if (!first && (more.longest < longest ||
                 (more.longest == longest && longest_rank.index < more.longest_rank.index)))
    return;
  longest = more.longest;
  longest_rank = more.longest_rank;
}

void add_rank(CallTable& calls, RankId rank, const CallTable& of_rank) {
  for (const auto& [name, totals] : of_rank) {
    CallTotals more = totals;
    more.longest = totals.inside;
    more.longest_rank = rank;
    calls[name].add(more);
  }
}

std::string calls_table(const CallTable& table, std::uint32_t ranks) {
  std::vector<std::pair<std::string, CallTotals>> calls(table.begin(), table.end());
  std::stable_sort(calls.begin(), calls.end(),
                   [](const auto& a, const auto& b) { return a.second.inside > b.second.inside; });
  std::string out = fmt::format(calls_row, "call", "calls", "time/rank", "longest", "of rank",
                                "time/call", "bytes");
  std::size_t shown = 0;
  for (const auto& [name, t] : calls) {
    if (++shown > 12) {
      out += fmt::format("  and {} more\n", calls.size() - 12);
      break;
    }
    const std::int64_t inside = t.inside.in_ps();
    out += fmt::format(
        calls_row, name, t.count, duration_text(inside / std::max<std::int64_t>(ranks, 1)),
        duration_text(t.longest.in_ps()), t.longest_rank.index,
        duration_text(inside / std::max<std::int64_t>(static_cast<std::int64_t>(t.count), 1)),
        t.bytes);
  }
  return out;
}

std::string uneven_call(const CallTable& calls, std::uint32_t ranks, Duration program_time) {
  const auto mean = [&](const CallTotals& t) {
    return t.inside / std::max<std::int64_t>(ranks, 1);
  };
  const CallTable::value_type* found = nullptr;
  for (const auto& entry : calls) {
    const CallTotals& t = entry.second;
    if (t.longest < mean(t) * 10 || t.longest < program_time / 4) continue;
    if (found == nullptr || t.longest > found->second.longest) found = &entry;
  }
  if (found == nullptr) return {};
  const auto& [name, t] = *found;
  return fmt::format("rank {} is in {} for {}, ranks on average for {}; others may wait for it",
                     t.longest_rank.index, name, to_text(t.longest), to_text(mean(t)));
}

std::string ranks_csv(const std::vector<RankRow>& rows) {
  std::string out = "rank,node,end_ps,waited_ps,spent_ps,messages,bytes\n";
  for (const RankRow& row : rows) {
    const RankCounts& c = row.counts;
    out += fmt::format("{},{},{},{},{},{},{}\n", row.rank.index, row.node, row.end_ps,
                       c.waited.in_ps(), c.spent.in_ps(), c.messages, c.bytes);
  }
  return out;
}

std::string calls_csv(const CallTable& calls) {
  std::string out = "call,count,bytes,time_ps,longest_ps,longest_rank\n";
  for (const auto& [name, t] : calls) {
    out += fmt::format("{},{},{},{},{},{}\n", name, t.count, t.bytes, t.inside.in_ps(),
                       t.longest.in_ps(), t.longest_rank.index);
  }
  return out;
}

std::string algorithms_text(const AlgorithmTable& algorithms) {
  std::string out;
  std::string_view last;
  for (const auto& [words, count] : algorithms) {
    const std::string_view operation = std::string_view(words).substr(0, words.find('='));
    const std::string_view algorithm = std::string_view(words).substr(operation.size() + 1);
    const std::string_view unit = !out.empty() ? "" : count == 1 ? " call" : " calls";
    const std::string begin =
        operation == last ? ", " : fmt::format("{}{}: ", out.empty() ? "" : "; ", operation);
    out += fmt::format("{}{} ({}{})", begin, algorithm, count, unit);
    last = operation;
  }
  return out;
}

std::string traffic_text(std::size_t ranks, const std::vector<PairCount>& pairs) {
  std::string out = fmt::format("# weft traffic matrix, {} ranks: from to bytes messages\n", ranks);
  for (const PairCount& pair : pairs) {
    out += fmt::format("{} {} {} {}\n", pair.from.index, pair.to.index, pair.bytes, pair.messages);
  }
  return out;
}

}  // namespace weft
