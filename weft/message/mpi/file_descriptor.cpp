// SPDX-License-Identifier: Apache-2.0
#include "file_descriptor.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <ctime>
#include <utility>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <weft/message/mpi/include/mpi.h>

namespace weft::mpi {

namespace {

// The most that the system moves in one call.
constexpr std::size_t moved_max = 0x7fff'f000;
constexpr mode_t usual_permissions = 0666;

bool writes_are_limited() {
  rlimit limit = {};
  return ::getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
}

// A write beyond the limit raises a signal that ends the process, unless it is kept from the
// thread: then the write fails with EFBIG.
class SignalKeptAway {
 public:
  explicit SignalKeptAway(bool needed) : needed_(needed) {
    if (!needed_) return;
    ::sigemptyset(&signals_);
    ::sigaddset(&signals_, SIGXFSZ);
    ::pthread_sigmask(SIG_BLOCK, &signals_, &before_);
  }
  ~SignalKeptAway() {
    if (!needed_) return;
    const timespec at_once = {};
    if (::sigismember(&before_, SIGXFSZ) == 0) ::sigtimedwait(&signals_, nullptr, &at_once);
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  SignalKeptAway(const SignalKeptAway&) = delete;
  SignalKeptAway& operator=(const SignalKeptAway&) = delete;

 private:
  bool needed_;
  sigset_t signals_ = {}, before_ = {};
};

// Repeats a call that returns bytes until all are moved, none is left, or an error.
template <typename Call>
FileDescriptor::Moved repeat(std::size_t size, Call call) {
  FileDescriptor::Moved moved;
  while (moved.bytes < size) {
    const ssize_t now = call(moved.bytes, std::min(size - moved.bytes, moved_max));
    if (now < 0 && errno == EINTR) continue;
    if (now < 0) moved.error = errno;
    if (now <= 0) break;
    moved.bytes += static_cast<std::size_t>(now);
  }
  return moved;
}

// As an errno.
int outcome(int result) {
  return result == 0 ? 0 : errno;
}

}  // namespace

int class_of_errno(int number) {
  switch (number) {
    case 0:
      return MPI_SUCCESS;
    case ENOENT:
      return MPI_ERR_NO_SUCH_FILE;
    case EACCES:
    case EPERM:
      return MPI_ERR_ACCESS;
    case EROFS:
      return MPI_ERR_READ_ONLY;
    case EEXIST:
      return MPI_ERR_FILE_EXISTS;
    case ENOSPC:
    case EFBIG:
      return MPI_ERR_NO_SPACE;
    case EDQUOT:
      return MPI_ERR_QUOTA;
    case ENOTDIR:
    case EISDIR:
    case ENAMETOOLONG:
    case ELOOP:
      return MPI_ERR_BAD_FILE;
    case ETXTBSY:
      return MPI_ERR_FILE_IN_USE;
    case ENOMEM:
      return MPI_ERR_NO_MEM;
    default:
      return MPI_ERR_IO;
  }
}

std::shared_ptr<FileDescriptor> FileDescriptor::open(const std::string& path, int flags,
                                                     int& error) {
  int number = -1;
  do {
    number = ::open(path.c_str(), flags | O_CLOEXEC, usual_permissions);
  } while (number < 0 && errno == EINTR);
  error = number < 0 ? errno : 0;
  return number < 0 ? nullptr : std::make_shared<FileDescriptor>(number);
}

FileDescriptor::FileDescriptor(int number) : number_(number), limited_(writes_are_limited()) {
  struct stat facts = {};
  if (::fstat(number_, &facts) == 0) identity_ = {facts.st_dev, facts.st_ino};
}

FileDescriptor::~FileDescriptor() {
  ::close(number_);
}

FileDescriptor::Moved FileDescriptor::read(std::int64_t offset, std::span<std::byte> to) const {
  return repeat(to.size(), [&](std::size_t done, std::size_t size) {
    return ::pread(number_, to.data() + done, size, offset + static_cast<std::int64_t>(done));
  });
}

FileDescriptor::Moved FileDescriptor::write(std::int64_t offset,
                                            std::span<const std::byte> from) const {
  const SignalKeptAway kept(limited_);
  Moved moved = repeat(from.size(), [&](std::size_t done, std::size_t size) {
    return ::pwrite(number_, from.data() + done, size, offset + static_cast<std::int64_t>(done));
  });
  if (moved.bytes < from.size() && moved.error == 0) moved.error = ENOSPC;
  return moved;
}

int FileDescriptor::size(std::int64_t& bytes) const {
  struct stat facts = {};
  const int error = outcome(::fstat(number_, &facts));
  bytes = error == 0 ? facts.st_size : 0;
  return error;
}

int FileDescriptor::resize(std::int64_t bytes) const {
  const SignalKeptAway kept(limited_);
  return outcome(::ftruncate(number_, bytes));
}

int FileDescriptor::allocate(std::int64_t bytes) const {
  const SignalKeptAway kept(limited_);
  return bytes == 0 ? 0 : ::posix_fallocate(number_, 0, bytes);
}

// A pipe or a device has nothing to be written through to.
int FileDescriptor::sync() const {
  const int error = outcome(::fsync(number_));
  return error == EINVAL ? 0 : error;
}

int FileDescriptor::set_lock(int type, std::int64_t from, std::int64_t bytes) const {
  struct flock range = {};
  range.l_type = static_cast<short>(type);
  range.l_whence = SEEK_SET;
  range.l_start = from;
  range.l_len = bytes;
  // Locks of this open file: those of the process would end when it closes any other of the file.
  int result = -1;
  do {
    result = ::fcntl(number_, F_OFD_SETLKW, &range);
  } while (result < 0 && errno == EINTR);
  return outcome(result);
}

int FileDescriptor::lock(std::int64_t from, std::int64_t bytes, bool writing) const {
  return set_lock(writing ? F_WRLCK : F_RDLCK, from, bytes);
}

int FileDescriptor::unlock(std::int64_t from, std::int64_t bytes) const {
  return set_lock(F_UNLCK, from, bytes);
}

std::shared_ptr<FileDescriptor> SharedDescriptors::open(const std::string& path, int flags,
                                                        int& error) {
  const std::lock_guard<std::mutex> guard(mutex_);
  std::shared_ptr<FileDescriptor> opened = FileDescriptor::open(path, flags, error);
  if (!opened) return nullptr;
  const FileDescriptor::Identity what = opened->identity();
  std::weak_ptr<FileDescriptor>& known = open_[{what.device, what.inode, flags & O_ACCMODE}];
  if (std::shared_ptr<FileDescriptor> before = known.lock()) return before;
  known = opened;
  std::erase_if(open_, [](const auto& entry) { return entry.second.expired(); });
  return opened;
}

}  // namespace weft::mpi
