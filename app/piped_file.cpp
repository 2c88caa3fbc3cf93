// SPDX-License-Identifier: Apache-2.0
#include "piped_file.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <weft/base/text.hpp>
#include <weft/parallel/processes/launch.hpp>

namespace weft::app {
namespace {

[[noreturn]] void refuse(const std::string& path, const std::string& why) {
  throw CLI::ValidationError("cannot read '" + path + "': " + why);
}

// The number of an open descriptor that the path stands for.
std::optional<int> descriptor_of(std::string_view path) {
  if (path == "/dev/stdin") return STDIN_FILENO;
  for (const std::string_view folder : {"/dev/fd/", "/proc/self/fd/"}) {
    if (!path.starts_with(folder)) continue;
    if (const auto number = parse_int(path.substr(folder.size()));
        number && *number >= 0 && *number < 1 << 20)
      return static_cast<int>(*number);
  }
  return std::nullopt;
}

// Files and /dev/null can be read again.
bool is_pipe(const std::string& path) {
  struct ::stat there {};
  if (::stat(path.c_str(), &there) != 0) return false;
  if (S_ISFIFO(there.st_mode) || S_ISSOCK(there.st_mode)) return true;
  return path == "/dev/stdin" && ::isatty(STDIN_FILENO) == 1;
}

// Copies all that comes out of `from`; returns a file in memory that started programs inherit.
int copy_to_memory(int from, const std::string& path) {
  constexpr std::size_t size_max = std::size_t{1} << 30;
  const int to = ::memfd_create("weft-piped-file", 0);
  if (to < 0) refuse(path, std::strerror(errno));
  std::string part(std::size_t{1} << 16, '\0');
  for (std::size_t size = 0;;) {
    const ssize_t count = ::read(from, part.data(), part.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) refuse(path, std::strerror(errno));
    if (count == 0) return to;
    size += static_cast<std::size_t>(count);
    if (size > size_max) refuse(path, "larger than 1 GiB");
    for (ssize_t done = 0; done < count;) {
      const ssize_t written =
          ::write(to, part.data() + done, static_cast<std::size_t>(count - done));
      if (written < 0 && errno != EINTR) refuse(path, std::strerror(errno));
      if (written > 0) done += written;
    }
  }
}

}  // namespace

std::string keep_pipe(std::string path) {
  if (path == "-") path = "/dev/stdin";
  if (!is_pipe(path)) return path;
  if (launched().count > 1)
    refuse(path, "a pipe is for one process, and mpirun started several; write it to a file first");
  const auto given = descriptor_of(path);
  const int from = given ? *given : ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (from < 0) refuse(path, std::strerror(errno));
  const int kept = copy_to_memory(from, path);
  if (!given) {
    ::close(from);
    return "/dev/fd/" + std::to_string(kept);
  }
  // The path keeps its name, so that messages show what was typed.
  if (::dup2(kept, from) < 0) refuse(path, std::strerror(errno));
  ::close(kept);
  return path;
}

std::string keep_pipe_in(const std::string& name, std::string word) {
  const std::string key = name + "=";
  const std::size_t at = word.find(key);
  if (at == std::string::npos) return word;
  const std::size_t begin = at + key.size();
  const std::size_t end = std::min(word.find(',', begin), word.size());
  return word.replace(begin, end - begin, keep_pipe(word.substr(begin, end - begin)));
}

CLI::Option* reads_file(CLI::Option* option) {
  return option->transform([](std::string path) { return keep_pipe(std::move(path)); });
}

}  // namespace weft::app
