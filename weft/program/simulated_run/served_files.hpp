// SPDX-License-Identifier: Apache-2.0
// The files that simulated servers read and write: those of the host. A server may be in another
// process than the rank that has opened the file, so it opens it by its name.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <tuple>

#include <weft/message/mpi/file_descriptor.hpp>
#include <weft/message/port/storage.hpp>

namespace weft {

// Several threads may call.
class ServedFiles {
 public:
  void run(FileOperation& operation);

 private:
  std::shared_ptr<mpi::FileDescriptor> find(const FileOperation& operation, int& error);

  using Key = std::tuple<std::uint64_t, std::uint64_t, bool>;  // Device, inode, for writing.
  std::mutex mutex_;
  std::map<Key, std::shared_ptr<mpi::FileDescriptor>> open_;
};

}  // namespace weft
