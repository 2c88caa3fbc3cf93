// SPDX-License-Identifier: Apache-2.0
#include "free_memory.hpp"

#include <algorithm>
#include <fstream>
#include <limits>
#include <sstream>
#include <string_view>

namespace weft::wire {

namespace {

constexpr std::uint64_t unknown = std::numeric_limits<std::uint64_t>::max();

// The first number of a file; `unknown` if there is none, as in "max".
std::uint64_t number_in(const std::string& path) {
  std::ifstream file(path);
  std::uint64_t value = 0;
  return file >> value ? value : unknown;
}

// The sum of the numbers behind these names, in lines "NAME VALUE"; `unknown` without any.
std::uint64_t sum_of(const std::string& path, std::initializer_list<std::string_view> names) {
  std::ifstream file(path);
  std::uint64_t sum = 0, value = 0;
  bool found = false;
  for (std::string line, name; std::getline(file, line);) {
    std::istringstream words(line);
    if (!(words >> name >> value)) continue;
    if (std::find(names.begin(), names.end(), name) == names.end()) continue;
    sum += value;
    found = true;
  }
  return found ? sum : unknown;
}

struct LimitFiles {
  const char *limit, *used, *active_files, *inactive_files;
};
// Of both versions of cgroups.
constexpr LimitFiles first_version = {"memory.limit_in_bytes", "memory.usage_in_bytes",
                                      "total_active_file", "total_inactive_file"};
constexpr LimitFiles second_version = {"memory.max", "memory.current", "active_file",
                                       "inactive_file"};

std::uint64_t left_in(const std::string& folder, const LimitFiles& names) {
  const std::uint64_t limit = number_in(folder + names.limit);
  const std::uint64_t used = number_in(folder + names.used);
  if (limit == unknown || used == unknown) return unknown;
  const std::uint64_t files =
      sum_of(folder + "memory.stat", {names.active_files, names.inactive_files});
  const std::uint64_t needed = used - std::min(used, files == unknown ? 0 : files);
  return limit - std::min(limit, needed);
}

// A limit of any group above counts, too.
std::uint64_t left_in_groups(const std::string& mount, std::string group, const LimitFiles& names) {
  std::uint64_t least = unknown;
  for (;;) {
    least = std::min(least, left_in(mount + group + (group == "/" ? "" : "/"), names));
    if (group.size() <= 1) return least;
    group.resize(std::max<std::size_t>(group.rfind('/'), 1));
  }
}

std::uint64_t left_under_limits(const std::string& root) {
  std::ifstream groups(root + "/proc/self/cgroup");
  std::uint64_t least = unknown;
  // Lines "0::/GROUP" of version 2, "NUMBER:CONTROLLERS:/GROUP" of version 1.
  for (std::string line; std::getline(groups, line);) {
    const std::size_t first = line.find(':');
    const std::size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos || second + 1 >= line.size() || line[second + 1] != '/') {
      continue;
    }
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const std::string group = line.substr(second + 1);
    const std::string mount = root + "/sys/fs/cgroup";
    if (controllers.empty()) {
      least = std::min({least, left_in_groups(mount, group, second_version),
                        left_in_groups(mount + "/unified", group, second_version)});
    } else if (("," + controllers + ",").find(",memory,") != std::string::npos) {
      least = std::min(least, left_in_groups(mount + "/memory", group, first_version));
    }
  }
  return least;
}

}  // namespace

std::uint64_t free_memory(const std::string& root) {
  // Shared memory can be swapped out.
  const std::uint64_t kibibytes = sum_of(root + "/proc/meminfo", {"MemAvailable:", "SwapFree:"});
  const std::uint64_t host = kibibytes == unknown ? unknown : kibibytes * 1024;
  return std::min(host, left_under_limits(root));
}

}  // namespace weft::wire
