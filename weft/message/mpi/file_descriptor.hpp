// SPDX-License-Identifier: Apache-2.0
// An open file of the operating system. Knows no MPI, but for the error classes. Reads and writes
// name their offset, so ranks of one process may share it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <tuple>

namespace weft::mpi {

// The error class of an errno; MPI_SUCCESS for 0.
int class_of_errno(int number);

class FileDescriptor {
 public:
  // Null, and the errno, if it cannot be opened. `flags` are those of open(2).
  static std::shared_ptr<FileDescriptor> open(const std::string& path, int flags, int& error);
  explicit FileDescriptor(int number);
  ~FileDescriptor();
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;

  struct Moved {
    std::size_t bytes = 0;
    int error = 0;  // An errno.
  };
  // Fewer bytes than asked for, without an error: the file ends there.
  Moved read(std::int64_t offset, std::span<std::byte> to) const;
  Moved write(std::int64_t offset, std::span<const std::byte> from) const;

  // All return an errno.
  int size(std::int64_t& bytes) const;
  int resize(std::int64_t bytes) const;
  int allocate(std::int64_t bytes) const;  // Never makes the file smaller.
  int sync() const;
  // Waits until no other open file holds a lock of the range.
  int lock(std::int64_t from, std::int64_t bytes, bool writing) const;
  int unlock(std::int64_t from, std::int64_t bytes) const;

  struct Identity {
    std::uint64_t device = 0, inode = 0;
  };
  Identity identity() const { return identity_; }

 private:
  int set_lock(int type, std::int64_t from, std::int64_t bytes) const;
  int number_;
  bool limited_;  // The process may write files up to some size only.
  Identity identity_;
};

// Open files of many ranks in one process: those that open the same file share a descriptor, since
// a process may have a limited number of them. Several threads may call.
class SharedDescriptors {
 public:
  std::shared_ptr<FileDescriptor> open(const std::string& path, int flags, int& error);

 private:
  using Key = std::tuple<std::uint64_t, std::uint64_t, int>;  // Device, inode, mode of access.
  std::mutex mutex_;
  std::map<Key, std::weak_ptr<FileDescriptor>> open_;
};

}  // namespace weft::mpi
