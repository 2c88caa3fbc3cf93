// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <charconv>
#include <map>
#include <sstream>

#include <weft/base/file.hpp>
#include <weft/message/conn/request.hpp>

namespace weft::conn {

namespace {

Result<std::uint32_t> read_number(const std::string& key, const std::string& text) {
  std::uint32_t value = 0;
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, value);
  if (text.empty() || read.ec != std::errc() || read.ptr != end || value > 1'000'000)
    return Error::call("'" + key + "=" + text + "' is no number from 0 to 1000000");
  return value;
}

Status read_word(const std::string& word, Request& request) {
  const std::size_t equal = word.find('=');
  const std::string key = word.substr(0, equal);
  const std::string value = equal == std::string::npos ? "" : word.substr(equal + 1);
  if (key == "shortcuts" || key == "max" || key == "patience") {
    const auto number = read_number(key, value);
    if (!number) return Error(number.error());
    if (key == "max") request.most = *number;
    if (key == "shortcuts") request.options.shortcuts = *number;
    if (key == "patience") request.options.patience = *number;
    return {};
  }
  if (key == "replace" && (value == "lru" || value == "random")) {
    request.options.replace = value == "lru" ? Replace::lru : Replace::random;
    return {};
  }
  if (key == "groups" && !value.empty()) {
    request.groups_file = value == "auto" ? "" : value;
    return {};
  }
  return Error::call(
      "'" + word +
      "' is not shortcuts=N, max=N, patience=N, replace=lru, replace=random, groups=auto or "
      "groups=FILE");
}

}  // namespace

std::string to_text(Mode mode) {
  switch (mode) {
    case Mode::full:
      return "full";
    case Mode::on_demand:
      return "on-demand";
    case Mode::managed:
      break;
  }
  return "managed";
}

Result<Request> parse_request(const std::string& text) {
  Request request;
  std::istringstream words(text);
  std::string word;
  std::getline(words, word, ',');
  if (word != "full" && word != "on-demand" && word != "managed")
    return Error::call("'" + word + "' is not full, on-demand or managed");
  request.options.mode = word == "full"        ? Mode::full
                         : word == "on-demand" ? Mode::on_demand
                                               : Mode::managed;
  bool has_shortcuts = false;
  while (std::getline(words, word, ',')) {
    if (request.options.mode != Mode::managed)
      return Error::call("'" + word + "' goes with managed only");
    if (Status read = read_word(word, request); !read) return std::move(read).error();
    has_shortcuts = has_shortcuts || word.starts_with("shortcuts=");
  }
  if (has_shortcuts && request.most) return Error::call("give shortcuts=N or max=N, not both");
  return request;
}

Result<std::vector<std::uint32_t>> read_groups(const std::string& path, std::uint32_t ranks) {
  const auto text = read_file(path);
  if (!text) return Error(text.error());
  std::vector<std::uint32_t> groups(ranks);
  std::vector<bool> given(ranks);
  std::istringstream lines(*text);
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number) {
    line.resize(std::min(line.find('#'), line.size()));
    std::istringstream words(line);
    std::uint32_t rank = 0, group = 0;
    std::string more;
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    if (!(words >> rank >> group) || (words >> more))
      return Error::input("a line is 'RANK GROUP'").at(path, number);
    if (rank >= ranks || given[rank]) {
      return Error::input("rank " + std::to_string(rank) +
                          (rank >= ranks ? " is none of the job's" : " stands here twice"))
          .at(path, number);
    }
    groups[rank] = group;
    given[rank] = true;
  }
  const auto missing = std::find(given.begin(), given.end(), false);
  if (missing != given.end()) {
    return Error::input("no group for rank " + std::to_string(missing - given.begin())).at(path, 0);
  }
  return groups;
}

Result<std::vector<std::uint32_t>> groups_of_hosts(const std::string& text, const std::string& file,
                                                   const std::vector<std::string>& host_of_rank) {
  std::map<std::string, std::uint32_t> switches, of_host;
  std::istringstream lines(text);
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number) {
    line.resize(std::min(line.find('#'), line.size()));
    std::istringstream words(line);
    std::string host, name, more;
    if (!(words >> host)) continue;
    if (!(words >> name) || (words >> more))
      return Error::input("a line is 'HOST SWITCH'").at(file, number);
    const auto next = static_cast<std::uint32_t>(switches.size());
    if (!of_host.emplace(host, switches.emplace(name, next).first->second).second)
      return Error::input("host " + host + " stands here twice").at(file, number);
  }
  std::vector<std::uint32_t> groups;
  for (const std::string& host : host_of_rank) {
    const auto found = of_host.find(host);
    if (found == of_host.end()) return Error::input("no switch for host " + host).at(file, 0);
    groups.push_back(found->second);
  }
  return groups;
}

std::vector<std::uint32_t> groups_of_switches(const std::vector<std::uint32_t>& switch_of_rank) {
  const Groups switches(switch_of_rank);
  std::uint64_t root = 1;
  while (root * root < switches.total()) ++root;
  std::vector<std::uint32_t> groups(switches.total());
  const bool are_small = std::uint64_t{switches.total()} * 2 <= root * switches.count();
  std::uint32_t current = 0;
  std::size_t size = 0;
  for (std::uint32_t g = 0; g < switches.count(); ++g) {
    const auto members = switches.members(g);
    if (size > 0 && (!are_small || size + members.size() > root)) {
      ++current;
      size = 0;
    }
    for (const std::uint32_t rank : members) groups[rank] = current;
    size += members.size();
  }
  return groups;
}

Result<Layout> lay_out(const Request& request, const std::vector<std::uint32_t>& groups,
                       Options& options) {
  options = request.options;
  if (options.mode != Mode::managed || !request.most) return Layout(groups);
  // A quarter for shortcuts, if neighbours leave it.
  auto layout = Layout::fit(groups, *request.most - *request.most / 4);
  if (!layout) layout = Layout::fit(groups, *request.most);
  if (layout) options.shortcuts = *request.most - layout->neighbours_most();
  return layout;
}

}  // namespace weft::conn
