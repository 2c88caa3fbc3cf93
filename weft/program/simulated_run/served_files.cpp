// SPDX-License-Identifier: Apache-2.0
#include "served_files.hpp"

#include <cerrno>

#include <fcntl.h>

namespace weft {

namespace {

// Files that programs have long closed are let go of.
constexpr std::size_t open_max = 64;

}  // namespace

std::shared_ptr<mpi::FileDescriptor> ServedFiles::find(const FileOperation& operation, int& error) {
  const Key key(operation.device, operation.inode, operation.writing);
  const std::lock_guard<std::mutex> guard(mutex_);
  if (const auto known = open_.find(key); known != open_.end()) return known->second;
  auto opened =
      mpi::FileDescriptor::open(operation.path, operation.writing ? O_WRONLY : O_RDONLY, error);
  if (!opened) return nullptr;
  const mpi::FileDescriptor::Identity what = opened->identity();
  if (what.device != operation.device || what.inode != operation.inode) {
    error = ESTALE;  // Another file has its name now.
    return nullptr;
  }
  if (open_.size() >= open_max) open_.clear();
  open_[key] = opened;
  return opened;
}

void ServedFiles::run(FileOperation& operation) {
  const auto file = find(operation, operation.error);
  if (!file) return;
  const std::span<std::byte> data(operation.data, operation.size);
  const mpi::FileDescriptor::Moved moved =
      operation.writing ? file->write(operation.offset, data) : file->read(operation.offset, data);
  operation.moved = moved.bytes;
  operation.error = moved.error;
}

}  // namespace weft
