// SPDX-License-Identifier: Apache-2.0
#include "run_record.hpp"

#include <algorithm>
#include <type_traits>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <weft/base/file.hpp>
#include <weft/base/pack.hpp>
#include <weft/base/quantity.hpp>
#include <weft/program/run_record/counts_json.hpp>

namespace weft {

namespace {

using Json = nlohmann::ordered_json;

struct Sums {
  std::uint64_t messages = 0, bytes = 0;
  Duration program_time, waited_mean, waited_min, waited_max;
  std::uint32_t waited_max_rank = 0;
};

Sums sum_up(const RunRecord& record) {
  Sums sums;
  if (record.rows.empty()) return sums;
  detail::Wide waited = 0;
  sums.waited_min = Duration::max();
  for (const RankRow& row : record.rows) {
    const RankCounts& counts = row.counts;
    sums.messages += counts.messages;
    sums.bytes += counts.bytes;
    sums.program_time = std::max(sums.program_time, counts.ended - Time::zero());
    waited += counts.waited.in_ps();
    sums.waited_min = std::min(sums.waited_min, counts.waited);
    if (counts.waited <= sums.waited_max) continue;
    sums.waited_max = counts.waited;
    sums.waited_max_rank = row.rank.index;
  }
  const auto count = static_cast<std::int64_t>(record.rows.size());
  sums.waited_mean = Duration::ps(static_cast<std::int64_t>(waited / count));
  return sums;
}

double rate_of(const RailUse& rail) {
  const double seconds = rail.busy.in_seconds();
  return seconds > 0 ? static_cast<double>(rail.delivered) / seconds : 0;
}

Json connections_of(const RunRecord& record) {
  Json json = {{"all", record.connections}, {"most", record.connections_max}};
  if (record.managed.opened == 0) return json;
  json["managed"] = {{"neighbours_most", record.managed.neighbours}};
  json["managed"].update(counts_json(record.managed));
  return json;
}

// Field by field, for structs with gaps between fields: old memory of this process would travel in
// the gaps.
template <typename Totals, typename Visit>
void each_field_of_totals(Totals& totals, Visit&& visit) {
  visit(totals.count);
  visit(totals.bytes);
  visit(totals.inside);
  visit(totals.longest);
  visit(totals.longest_rank);
}

template <typename Counts, typename Visit>
void each_field_of_counts(Counts& counts, Visit&& visit) {
  for (auto* const field : {&counts.neighbours, &counts.held_most, &counts.opened,
                            &counts.shortcuts, &counts.evicted, &counts.declined, &counts.refused})
    visit(*field);
  for (auto* const field : {&counts.relayed_frames, &counts.relayed_bytes, &counts.passed_frames,
                            &counts.passed_bytes, &counts.passing_most, &counts.repeated})
    visit(*field);
}

}  // namespace

std::vector<std::byte> pack(const RankNumbers& numbers) {
  Packer out;
  const auto put = [&](const auto& field) { out.put(field); };
  out.put(numbers.row);
  out.put_text(numbers.host);
  out.put(std::uint64_t{numbers.calls.size()});
  for (const auto& [name, totals] : numbers.calls) {
    out.put_text(name);
    each_field_of_totals(totals, put);
  }
  out.put_list(numbers.pairs);
  out.put(std::uint64_t{numbers.rails.size()});
  for (const RailUse& rail : numbers.rails) {
    out.put_text(rail.name);
    out.put(rail.bytes);
    out.put(rail.delivered);
    out.put(rail.busy);
    out.put(rail.downs);
  }
  out.put(numbers.connections);
  each_field_of_counts(numbers.managed, put);
  out.put(std::uint64_t{numbers.algorithms.size()});
  for (const auto& [words, count] : numbers.algorithms) {
    out.put_text(words);
    out.put(count);
  }
  numbers.timeline.pack(out);
  return out.take();
}

RankNumbers unpack_numbers(std::span<const std::byte> bytes) {
  Unpacker in(bytes);
  const auto take = [&](auto& field) {
    field = in.take<std::remove_reference_t<decltype(field)>>();
  };
  RankNumbers numbers;
  numbers.row = in.take<RankRow>();
  numbers.host = in.take_text();
  for (auto left = in.take<std::uint64_t>(); left > 0; --left) {
    std::string name = in.take_text();
    each_field_of_totals(numbers.calls[std::move(name)], take);
  }
  numbers.pairs = in.take_list<PairCount>();
  for (auto left = in.take<std::uint64_t>(); left > 0; --left) {
    RailUse rail;
    rail.name = in.take_text();
    rail.bytes = in.take<std::uint64_t>();
    rail.delivered = in.take<std::uint64_t>();
    rail.busy = in.take<Duration>();
    rail.downs = in.take<std::uint32_t>();
    numbers.rails.push_back(std::move(rail));
  }
  numbers.connections = in.take<std::uint32_t>();
  each_field_of_counts(numbers.managed, take);
  for (auto left = in.take<std::uint64_t>(); left > 0; --left) {
    std::string words = in.take_text();
    numbers.algorithms[std::move(words)] = in.take<std::uint64_t>();
  }
  numbers.timeline = CallTimelinePart::unpack(in);
  return numbers;
}

void RunRecord::add(RankNumbers numbers) {
  hosts.emplace(numbers.row.node, numbers.host);
  add_rank(calls, numbers.row.rank, numbers.calls);
  pairs.insert(pairs.end(), numbers.pairs.begin(), numbers.pairs.end());
  for (const RailUse& more : numbers.rails) {
    RailUse& sum = rails[{numbers.row.node, more.name}];
    sum.bytes += more.bytes;
    sum.delivered += more.delivered;
    sum.busy += more.busy;
    sum.downs += more.downs;
  }
  connections += numbers.connections;
  connections_max = std::max(connections_max, numbers.connections);
  managed.add(numbers.managed);
  for (const auto& [words, count] : numbers.algorithms) algorithms[words] += count;
  rows.push_back(numbers.row);
  timelines.push_back(std::move(numbers.timeline));
}

std::string to_json(const RunRecord& record) {
  const Sums sums = sum_up(record);
  Json hosts = Json::array(), rails = Json::array();
  for (const auto& [node, host] : record.hosts) {
    hosts.push_back({{"node", node}, {"name", host}});
  }
  for (const auto& [key, rail] : record.rails) {
    rails.push_back({{"node", key.first},
                     {"interface", key.second},
                     {"bytes", rail.bytes},
                     {"delivered_bytes", rail.delivered},
                     {"mean_byte_per_s", rate_of(rail)},
                     {"downs", rail.downs}});
  }
  const bool complete = record.ending == "complete";
  const Json json = {
      {"weft", "run"},
      {"version", 1},
      {"program", record.program},
      {"ranks", record.ranks},
      {"ranks_heard", record.rows.size()},
      {"nodes", record.hosts.size()},
      {"hosts", hosts},
      {"payload", "full"},
      {"complete", complete},
      {"ending", record.ending},
      {"program_time_ps", sums.program_time.in_ps()},
      {"messages", sums.messages},
      {"bytes", sums.bytes},
      {"waiting_ps",
       {{"mean", sums.waited_mean.in_ps()},
        {"least", sums.waited_min.in_ps()},
        {"most", sums.waited_max.in_ps()},
        {"most_rank", sums.waited_max_rank}}},
      {"rails", rails},
      {"connections", connections_of(record)},
      {"calls", calls_json(record.calls)},
      {"algorithms", algorithms_json(record.algorithms)},
  };
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string to_table(const RunRecord& record) {
  const auto line = [](const char* name, const std::string& value) {
    return fmt::format("{:<22}{}\n", name, value);
  };
  const Sums sums = sum_up(record);
  std::string out;
  out += line("program",
              record.program + (record.ending == "complete" ? "" : " (" + record.ending + ")"));
  out += line("machine",
              fmt::format("{} hosts, {} ranks{}", record.hosts.size(), record.ranks,
                          record.rows.size() == record.ranks
                              ? ""
                              : fmt::format("; results cover {} of them", record.rows.size())));
  out += line("program time", to_text(sums.program_time));
  out += line("messages", fmt::format("{}, {} bytes", sums.messages, sums.bytes));
  if (!record.algorithms.empty()) out += line("algorithms", algorithms_text(record.algorithms));
  out += line("waiting per rank", fmt::format("mean {}, min {}, max {} (rank {})",
                                              to_text(sums.waited_mean), to_text(sums.waited_min),
                                              to_text(sums.waited_max), sums.waited_max_rank));
  if (const std::string uneven = uneven_call(record.calls, record.ranks, sums.program_time);
      !uneven.empty())
    out += line("uneven", uneven);
  std::size_t shown = 0;
  for (const auto& [key, rail] : record.rails) {
    if (++shown > 8) {
      out += fmt::format("  and {} more\n", record.rails.size() - 8);
      break;
    }
    const double rate = rate_of(rail);
    out += line("rail",
                fmt::format("{} of {}: {} bytes{}{}", key.second, record.hosts.at(key.first),
                            rail.bytes, rate > 0 ? fmt::format(", {:.4g} GB/s", rate / 1e9) : "",
                            rail.downs > 0 ? fmt::format(", failed {} times", rail.downs) : ""));
  }
  if (record.connections > 0) {
    out += line("connections", fmt::format("{} in total, at most {} per rank", record.connections,
                                           record.connections_max));
    const conn::Counts& sum = record.managed;
    if (sum.opened > 0) {
      out += line("relayed", fmt::format("{} frames, {} bytes; {} shortcuts opened, {} evicted",
                                         sum.relayed_frames, sum.relayed_bytes, sum.shortcuts / 2,
                                         sum.evicted));
    }
  }
  return out + (record.calls.empty() ? "" : calls_table(record.calls, record.ranks));
}

Status write_record(const std::string& folder, const RunRecord& record) {
  if (Status wrote = write_timeline_raw(folder, gather_timelines(nullptr, record.timelines));
      !wrote)
    return wrote;
  // The summary is written last: if it exists, so do the other files.
  for (const auto& [name, text] :
       {std::pair<const char*, std::string>{"ranks.csv", ranks_csv(record.rows)},
        {"calls.csv", calls_csv(record.calls)},
        {"traffic.txt", traffic_text(record.ranks, record.pairs)},
        {"summary.txt", to_table(record)},
        {"summary.json", to_json(record)}}) {
    if (Status wrote = write_file(folder + "/" + name, text); !wrote) return wrote;
  }
  return {};
}

}  // namespace weft
