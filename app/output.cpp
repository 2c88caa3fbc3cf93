// SPDX-License-Identifier: Apache-2.0
#include "output.hpp"

#include <cerrno>
#include <cstring>
#include <filesystem>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

namespace weft::app {

Status print(std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(STDOUT_FILENO, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0)
      return Error::run(std::string("cannot write to standard output: ") + std::strerror(errno));
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return {};
}

void keep_closed_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(stream, F_GETFD) != -1) continue;
    // The least number that is free, so this one. For the direction that nobody wants.
    static_cast<void>(::open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY));
  }
}

Status check_output(const char* option, const std::string& path, std::set<std::string>& seen) {
  if (path.empty()) return {};
  namespace fs = std::filesystem;
  std::error_code ignored;
  const auto refuse = [&](const std::string& why) {
    return Error::call(fmt::format("{} {}: {}", option, path, why));
  };
  const fs::path folder = fs::path(path).has_parent_path() ? fs::path(path).parent_path() : ".";
  if (!fs::is_directory(folder, ignored))
    return refuse("there is no folder '" + folder.string() + "'; make it first");
  if (fs::is_directory(path, ignored)) return refuse("is a folder; give a file name");
  if (::access(fs::exists(path, ignored) ? path.c_str() : folder.c_str(), W_OK) != 0)
    return refuse("cannot be written");
  if (!path.starts_with("/dev/") && !seen.insert(fs::weakly_canonical(path, ignored)).second)
    return refuse("is named twice; give each output its own file");
  return {};
}

}  // namespace weft::app
