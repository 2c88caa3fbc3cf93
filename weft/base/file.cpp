// SPDX-License-Identifier: Apache-2.0
#include "weft/base/file.hpp"

#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

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
  if (!file.valid()) return failed(reason(errno));
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
