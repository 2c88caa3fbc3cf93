// SPDX-License-Identifier: Apache-2.0
#include "weft/base/file.hpp"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <span>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <weft/base/text.hpp>

namespace weft {
namespace {

constexpr std::size_t read_max = std::size_t{1} << 30;

std::string reason(int code) {
  return std::strerror(code);  // NOLINT(concurrency-mt-unsafe): glibc's is safe for known codes
}

// A file descriptor that is closed when it goes out of scope.
class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  int number() const { return number_; }
  bool valid() const { return number_ >= 0; }
  // Some file systems report a full disk only on close.
  bool close() { return ::close(std::exchange(number_, -1)) == 0; }

 private:
  int number_;
};

bool is_near(std::string_view word, std::string_view known) {
  return suggest(word, std::span(&known, 1)).starts_with("; did you mean");
}

// "; did you mean 'torus.toml'?" if a file of the same folder has nearly the name of the missing
// one: the same ending and a similar name before it, or the other way round.
std::string similar_file(const std::string& path) {
  namespace fs = std::filesystem;
  const fs::path asked(path);
  const fs::path folder = asked.has_parent_path() ? asked.parent_path() : fs::path(".");
  std::vector<std::string> names;
  std::error_code failed;
  for (fs::directory_iterator at(folder, failed), end; !failed && at != end; at.increment(failed)) {
    const fs::path name = at->path().filename();
    const bool same_end = name.extension() == asked.extension();
    const bool same_name = name.stem() == asked.stem();
    if ((same_end && is_near(asked.stem().string(), name.stem().string())) ||
        (same_name && is_near(asked.extension().string(), name.extension().string())))
      names.push_back(asked.has_parent_path() ? (folder / name).string() : name.string());
  }
  std::sort(names.begin(), names.end());
  if (names.empty()) return {};
  const std::vector<std::string_view> known(names.begin(), names.end());
  const std::string nearest = suggest(path, known);
  return nearest.starts_with("; did you mean")
             ? nearest
             : fmt::format("; did you mean '{}'?", fmt::join(known, "' or '"));
}

Error cannot(const char* verb, const std::string& path, const std::string& why) {
  return Error::run(fmt::format("cannot {} '{}': {}", verb, path, why));
}

bool write_all(int descriptor, std::string_view contents) {
  while (!contents.empty()) {
    const ssize_t count = ::write(descriptor, contents.data(), contents.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return false;
    if (count == 0) {
      errno = ENOSPC;
      return false;
    }
    contents.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

Status write_direct(const std::string& path, std::string_view contents) {
  // Append, because /dev/stdout may be a regular file that others have written to.
  Descriptor file(::open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC));
  if (!file.valid()) return cannot("write", path, reason(errno));
  if (!write_all(file.number(), contents) || !file.close())
    return cannot("write", path, reason(errno));
  return {};
}

Status write_beside(const std::string& path, mode_t mode, bool replaces,
                    std::string_view contents) {
  const std::string temporary = fmt::format("{}.{}.tmp", path, ::getpid());
  ::unlink(temporary.c_str());  // Left by a killed process with the same pid.
  Descriptor file(
      ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, replaces ? mode : 0666));
  if (!file.valid()) return cannot("write", path, reason(errno));
  bool good = !replaces || ::fchmod(file.number(), mode) == 0;
  good = good && write_all(file.number(), contents) && file.close() &&
         std::rename(temporary.c_str(), path.c_str()) == 0;
  if (good) return {};
  const int code = errno;
  ::unlink(temporary.c_str());
  return cannot("write", path, reason(code));
}

}  // namespace

Status write_file(const std::string& path, std::string_view contents) {
  struct ::stat there {};
  const bool exists = ::stat(path.c_str(), &there) == 0;
  if (exists && S_ISDIR(there.st_mode)) return cannot("write", path, reason(EISDIR));
  if (path.starts_with("/dev/") || (exists && !S_ISREG(there.st_mode)))
    return write_direct(path, contents);
  if (!exists) return write_beside(path, 0, false, contents);
  // If the path is a symbolic link, replace its target, not the link.
  char* resolved = ::realpath(path.c_str(), nullptr);
  if (resolved == nullptr) return cannot("write", path, reason(errno));
  const std::string target = resolved;
  std::free(resolved);
  return write_beside(target, there.st_mode & 07777, true, contents);
}

Result<std::string> read_file(const std::string& path) {
  const auto failed = [&path](const std::string& why) {
    return Error::input(fmt::format("cannot read '{}': {}", path, why));
  };
  Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.valid()) {
    const int number = errno;
    return failed(reason(number) + (number == ENOENT ? similar_file(path) : ""));
  }
  struct ::stat there {};
  if (::fstat(file.number(), &there) != 0) return failed(reason(errno));
  if (S_ISDIR(there.st_mode)) return failed(reason(EISDIR));
  const std::string too_large = "larger than 1 GiB";
  if (there.st_size > static_cast<off_t>(read_max)) return failed(too_large);
  std::string contents;
  std::string chunk(std::size_t{64} << 10, '\0');
  for (;;) {
    const ssize_t count = ::read(file.number(), chunk.data(), chunk.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return failed(reason(errno));
    if (count == 0) return contents;
    if (contents.size() + static_cast<std::size_t>(count) > read_max) return failed(too_large);
    contents.append(chunk.data(), static_cast<std::size_t>(count));
  }
}

}  // namespace weft
