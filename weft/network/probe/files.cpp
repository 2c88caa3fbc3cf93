// SPDX-License-Identifier: Apache-2.0
#include "weft/network/probe/files.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include <weft/base/quantity.hpp>

namespace weft::probe {
namespace {

constexpr std::size_t classes_max = 250;
constexpr std::int64_t buffer_max = 16 << 20;

// Rounds to significant digits, as measurements are not known better.
std::int64_t rounded(double value, int digits) {
  double step = 1;
  double most = 1;
  for (int i = 0; i < digits; ++i) most *= 10;
  while (value / step >= most) step *= 10;
  return static_cast<std::int64_t>(std::llround(value / step) * std::llround(step));
}

struct Class {
  std::int64_t rate = 0, delay_ps = 0;
  friend auto operator<=>(const Class&, const Class&) = default;
};

Class class_of(const Finding& finding, const LinkFound& link, int digits) {
  const double rate = link.rate_bit_per_s > 0 ? link.rate_bit_per_s : finding.host_bit_per_s;
  return {rounded(rate, digits), rounded(std::max(1.0, link.latency_ns) * 1e3, digits)};
}

// Nearly equal links share a class; a graph file has at most 255.
std::map<Class, std::string> classes_of(const Finding& finding, int& digits) {
  std::map<Class, std::string> classes;
  for (digits = 2; digits > 0; --digits) {
    classes.clear();
    for (const LinkFound& link : finding.links)
      classes.emplace(class_of(finding, link, digits), "");
    if (classes.size() <= classes_max) break;
  }
  std::size_t count = 0;
  for (auto& [key, name] : classes) name = fmt::format("c{}", ++count);
  return classes;
}

std::string name_of(const Finding& finding, const LinkFound& link, const char* between) {
  return finding.switches[link.a].name + between + finding.switches[link.b].name;
}

std::string links_without_rate(const Finding& finding) {
  std::string out;
  for (const LinkFound& link : finding.links)
    if (link.rate_bit_per_s <= 0) out += (out.empty() ? "" : ", ") + name_of(finding, link, "-");
  return out;
}

std::string percent(double share) {
  return fmt::format("{:.0f} %", 100 * share);
}

std::string rate_text(double bit_per_s, Filled filled) {
  if (filled == Filled::unknown || bit_per_s <= 0) return "not measured";
  const std::string rate = to_text(Rate::bit_per_s(rounded(bit_per_s, 3)));
  return filled == Filled::full ? rate : "at least " + rate;
}

std::string time_text(double ns) {
  return to_text(Duration::ps(rounded(std::max(0.0, ns) * 1e3, 3)));
}

// A link's buffer must hold the data in flight in both directions.
std::int64_t buffer_bytes(const std::map<Class, std::string>& classes) {
  constexpr std::int64_t least = 64 << 10;
  double most = 0;
  for (const auto& [key, name] : classes) {
    const double bits = static_cast<double>(key.rate) * static_cast<double>(key.delay_ps) * 2e-12;
    most = std::max(most, bits / 8);
  }
  const auto bytes = static_cast<std::int64_t>(std::min(most, double{buffer_max}));
  return std::min(buffer_max, least + (bytes / 1024 + 1) * 1024);
}

std::string list_hosts(const Finding& finding, std::uint32_t sw) {
  std::string names;
  std::size_t count = 0;
  double least = 1;
  constexpr std::size_t named_max = 8;
  for (const HostFound& host : finding.hosts) {
    if (host.on != sw) continue;
    if (++count <= named_max) names += (names.empty() ? "" : " ") + host.name;
    least = std::min(least, host.sure);
  }
  if (count == 0) return "joins others";
  if (count > named_max) names += fmt::format(" and {} more", count - named_max);
  return fmt::format("{:>4} host{}, confidence {}: {}", count, count == 1 ? "" : "s",
                     percent(least), names);
}

}  // namespace

std::string to_graph(const Finding& finding) {
  int digits = 2;
  const auto classes = classes_of(finding, digits);
  std::string out = "weft-graph 1\n";
  for (const SwitchFound& sw : finding.switches) out += fmt::format("router {}\n", sw.name);
  for (const HostFound& host : finding.hosts)
    if (host.on != nowhere)
      out += fmt::format("node {} {}\n", host.name, finding.switches[host.on].name);
  for (const LinkFound& link : finding.links) {
    out += fmt::format("link {} class={}\n", name_of(finding, link, " "),
                       classes.at(class_of(finding, link, digits)));
  }
  return out;
}

Result<NetworkText> to_network(const Finding& finding, const std::string& graph_file) {
  const std::string unknown = links_without_rate(finding);
  if (finding.host_bit_per_s <= 0)
    return Error::run(
        "no rate was measured, of a host nor of a link, so there is no network to write: give "
        "more time (--time), longer flows (--flow-time), and not --trials never");
  int digits = 2;
  const auto classes = classes_of(finding, digits);
  NetworkText out;
  out.graph = to_graph(finding);
  out.description = "# Found by weft probe. Delays of links hold their switches.\n";
  if (!unknown.empty())
    out.description +=
        "# No rate was measured for these links, which have that of a host: " + unknown + "\n";
  out.description += fmt::format(
      "profile = \"textbook\"\n\n"
      "[network]\ntopology = \"graph:{}\"\n\n[router]\nbuffer = \"{} KiB\"\n\n[packet]\nmtu = "
      "\"1500 B\"\n",
      graph_file, buffer_bytes(classes) / 1024);
  const std::string host = time_text(finding.host_ns / 2);
  out.description += fmt::format(
      "\n[nic]\ninject_rate = \"{0}\"\neject_rate = \"{0}\"\ninject_delay = \"{1}\"\neject_delay = "
      "\"{1}\"\n",
      to_text(Rate::bit_per_s(rounded(finding.host_bit_per_s, 2))), host);
  for (const auto& [key, name] : classes) {
    out.description +=
        fmt::format("\n[link.{}]\nrate = \"{}\"\ndelay = \"{}\"\n", name,
                    to_text(Rate::bit_per_s(key.rate)), to_text(Duration::ps(key.delay_ps)));
  }
  return out;
}

std::string to_groups(const Finding& finding) {
  std::string out;
  for (const HostFound& host : finding.hosts)
    if (host.on != nowhere)
      out += fmt::format("{} {}\n", host.name, finding.switches[host.on].name);
  return out;
}

std::string to_table(const Finding& finding) {
  std::size_t populated = 0;
  std::vector<bool> has(finding.switches.size());
  for (const HostFound& host : finding.hosts)
    if (host.on != nowhere && !has[host.on]) has[host.on] = true, ++populated;
  const auto many = [](std::size_t count, const char* word, const char* more) {
    return fmt::format("{} {}{}", count, word, count == 1 ? "" : more);
  };
  std::string out =
      many(finding.hosts.size(), "host", "s") + " on " + many(populated, "switch", "es");
  if (finding.switches.size() > populated)
    out += fmt::format(", and {} that join them", finding.switches.size() - populated);
  out += "\n";
  for (std::uint32_t sw = 0; sw < finding.switches.size(); ++sw)
    out += fmt::format("  {:<6} {}\n", finding.switches[sw].name, list_hosts(finding, sw));
  if (finding.tree && !finding.links.empty()) {
    out += fmt::format("  {:<13} {:>12} {:>22}  {:<8} {}\n", "link", "latency", "rate", "shared",
                       "sure");
    for (const LinkFound& link : finding.links) {
      out += fmt::format("  {:<13} {:>12} {:>22}  {:<8} {}\n", name_of(finding, link, " - "),
                         time_text(link.latency_ns), rate_text(link.rate_bit_per_s, link.filled),
                         link.shared ? "seen" : "", percent(link.sure));
    }
  }
  out += fmt::format("host           {} of a round trip, {}\n", time_text(finding.host_ns),
                     rate_text(finding.host_bit_per_s,
                               finding.host_bit_per_s > 0 ? Filled::full : Filled::unknown));
  out += fmt::format("noise          {} of a round trip\n", time_text(finding.noise_ns));
  out += fmt::format("measured       {} round trips, {} sets of flows, {:.4g} s{}\n",
                     finding.counts.round_trips, finding.counts.trials, finding.counts.seconds,
                     finding.complete ? "" : ", then the time was up");
  for (const std::string& remark : finding.remarks) out += "note: " + remark + "\n";
  return out;
}

}  // namespace weft::probe
