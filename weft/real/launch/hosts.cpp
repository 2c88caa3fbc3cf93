// SPDX-License-Identifier: Apache-2.0
#include "weft/real/launch/hosts.hpp"

#include <algorithm>

#include <unistd.h>

#include <weft/base/file.hpp>
#include <weft/base/text.hpp>
#include <weft/real/launch/agent_protocol.hpp>

namespace weft::launch {
namespace {

// A name becomes part of a command line, so it must not look like an option or contain shell
// characters.
Status check_name(std::string_view name) {
  constexpr std::string_view odd = "._-:@[]%+";
  const auto fine = [&](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           odd.find(c) != std::string_view::npos;
  };
  if (name.empty()) return Error::input("a host without a name");
  if (name.front() == '-' || !std::all_of(name.begin(), name.end(), fine) || name.size() > 255)
    return Error::input("'" + std::string(name.substr(0, 40)) + "' is not a host name");
  return {};
}

Result<std::uint32_t> parse_slots(std::string_view text) {
  const auto number = parse_int(text);
  if (!number || *number < 1 || *number > ranks_max)
    return Error::input("slots: '" + std::string(text.substr(0, 40)) +
                        "' is not a number from 1 to " + std::to_string(ranks_max));
  return static_cast<std::uint32_t>(*number);
}

std::vector<std::string_view> words_of(std::string_view line) {
  constexpr std::string_view blanks = " \t\r\v\f";
  std::vector<std::string_view> words;
  for (std::size_t at = line.find_first_not_of(blanks); at != std::string_view::npos;
       at = line.find_first_not_of(blanks, at)) {
    const std::size_t end = std::min(line.find_first_of(blanks, at), line.size());
    words.push_back(line.substr(at, end - at));
    at = end;
  }
  return words;
}

Result<Host> parse_host_line(const std::vector<std::string_view>& words) {
  Host host{std::string(words[0]), 0};
  if (Status named = check_name(words[0]); !named) return std::move(named).error();
  for (std::size_t i = 1; i < words.size(); ++i) {
    if (!words[i].starts_with("slots=") || host.slots != 0)
      return Error::input("'" + std::string(words[i].substr(0, 40)) +
                          "' is not understood; a line is a name, optionally followed by slots=N");
    auto slots = parse_slots(words[i].substr(6));
    if (!slots) return std::move(slots).error();
    host.slots = *slots;
  }
  return host;
}

}  // namespace

Result<std::vector<Host>> parse_host_file(std::string_view text, const std::string& path) {
  std::vector<Host> hosts;
  int number = 0;
  for (const std::string_view line : split(text, '\n')) {
    ++number;
    const auto words = words_of(line.substr(0, line.find('#')));
    if (words.empty()) continue;
    auto host = parse_host_line(words);
    if (!host) return std::move(host).error().at(path, number);
    hosts.push_back(*std::move(host));
  }
  if (hosts.empty()) return Error::input("names no host").at(path, 0);
  return hosts;
}

Result<std::vector<Host>> read_hosts(const std::string& option) {
  if (option.find('/') != std::string::npos || ::access(option.c_str(), F_OK) == 0) {
    auto text = read_file(option);
    if (!text) return std::move(text).error();
    return parse_host_file(*text, option);
  }
  std::vector<Host> hosts;
  for (const std::string_view field : split(option, ',')) {
    const std::string_view entry = trim(field);
    const std::size_t colon = entry.find(':');
    Host host{std::string(entry.substr(0, colon)), 0};
    if (Status named = check_name(host.name); !named)
      return std::move(named).error().during("--hosts");
    if (colon != std::string_view::npos) {
      auto slots = parse_slots(entry.substr(colon + 1));
      if (!slots) return std::move(slots).error().during("--hosts: " + host.name);
      host.slots = *slots;
    }
    hosts.push_back(std::move(host));
  }
  return hosts;
}

bool is_this_host(std::string_view name, std::string_view own_name) {
  if (name == "localhost" || name == "127.0.0.1" || name == own_name) return true;
  const auto brief = [](std::string_view whole) { return whole.substr(0, whole.find('.')); };
  // Equal if one of the two is given without its domain.
  return brief(name) == brief(own_name) && (brief(name) == name || brief(own_name) == own_name);
}

Result<std::vector<std::uint32_t>> place_by_blocks(const std::vector<Host>& hosts,
                                                   std::uint32_t ranks) {
  const auto said = [](const Host& host) { return host.slots > 0; };
  const auto with_slots = std::count_if(hosts.begin(), hosts.end(), said);
  if (hosts.empty() || (with_slots != 0 && with_slots != static_cast<long>(hosts.size())))
    return Error::input("slots: say for every host how many it has, or for none");
  std::vector<std::uint32_t> host_of;
  host_of.reserve(ranks);
  const auto count = static_cast<std::uint32_t>(hosts.size());
  if (with_slots == 0) {
    for (std::uint32_t h = 0; h < count; ++h)
      host_of.insert(host_of.end(), ranks / count + (h < ranks % count ? 1 : 0), h);
    return host_of;
  }
  while (host_of.size() < ranks) {
    for (std::uint32_t h = 0; h < count && host_of.size() < ranks; ++h)
      host_of.insert(host_of.end(), std::min<std::size_t>(hosts[h].slots, ranks - host_of.size()),
                     h);
  }
  return host_of;
}

std::vector<HostRanks> gather_ranks(const std::vector<Host>& hosts,
                                    const std::vector<std::uint32_t>& host_of,
                                    std::string_view own_name) {
  std::vector<HostRanks> all;
  for (std::uint32_t rank = 0; rank < host_of.size(); ++rank) {
    const std::string& name = hosts[host_of[rank]].name;
    auto found = std::find_if(all.begin(), all.end(),
                              [&](const HostRanks& one) { return one.name == name; });
    if (found == all.end()) {
      all.push_back({name, is_this_host(name, own_name), {}});
      found = std::prev(all.end());
    }
    found->ranks.push_back(rank);
  }
  return all;
}

std::vector<HostRanks> spare_hosts(const std::vector<Host>& hosts,
                                   const std::vector<HostRanks>& used, std::string_view own_name) {
  std::vector<HostRanks> spare;
  for (const Host& host : hosts) {
    const auto is_it = [&](const HostRanks& one) { return one.name == host.name; };
    if (std::any_of(used.begin(), used.end(), is_it)) continue;
    if (std::any_of(spare.begin(), spare.end(), is_it)) continue;
    spare.push_back({host.name, is_this_host(host.name, own_name), {}});
  }
  return spare;
}

}  // namespace weft::launch
