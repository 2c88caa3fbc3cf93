// SPDX-License-Identifier: Apache-2.0
// Finds the texts of weft help and gives each a name.
#include <algorithm>
#include <filesystem>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "help.hpp"

#include <weft/base/file.hpp>
#include <weft/base/text.hpp>

namespace weft::app {
namespace {

namespace fs = std::filesystem;

std::string title_of(const std::string& path) {
  const auto text = read_file(path);
  if (!text) return {};
  for (const std::string_view line : split(*text, '\n'))
    if (line.starts_with("# ")) return std::string(trim(line.substr(2)));
  return {};
}

}  // namespace

std::vector<Topic> find_topics(const std::string& folder,
                               const std::vector<std::string>& commands) {
  std::vector<Topic> topics;
  std::map<std::string, int> count;
  std::error_code failed;
  for (const std::string& command : commands) ++count[command];
  for (fs::recursive_directory_iterator at(folder, failed), end; !failed && at != end;
       at.increment(failed)) {
    const fs::path path = at->path();
    if (path.extension() != ".md" || path.stem() == "README" || path.stem() == "CHANGELOG")
      continue;
    const std::string group = path.parent_path().lexically_relative(folder).string();
    topics.push_back({path.stem(), "", group == "." ? "" : group, path});
    ++count[path.stem()];
  }
  for (Topic& topic : topics) {
    topic.title = title_of(topic.path);
    if (count[topic.name] > 1 && !topic.group.empty()) topic.name = topic.group + "/" + topic.name;
  }
  std::sort(topics.begin(), topics.end(), [](const Topic& a, const Topic& b) {
    return std::tie(a.group, a.name) < std::tie(b.group, b.name);
  });
  return topics;
}

}  // namespace weft::app
