// SPDX-License-Identifier: Apache-2.0
// Files behind the network: servers at nodes keep them, stripe by stripe, and accesses go over the
// network. A rank without this role leaves files to the operating system.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace weft {

// An access of a rank to bytes that follow each other.
class ServedAccess {
 public:
  virtual ~ServedAccess() = default;
  // Called once, by Transport::poll of the rank.
  virtual void ended() = 0;

  bool writing = false;
  std::string path;
  std::uint64_t device = 0, inode = 0;  // Which file the path meant when it was opened.
  std::int64_t offset = 0;
  std::byte* memory = nullptr;
  std::size_t size = 0;
  // What became of it.
  std::size_t moved = 0;  // Fewer bytes than `size` without an error: the file ends there.
  int error = 0;          // An errno.
};

class Storage {
 public:
  virtual ~Storage() = default;
  // Begins an access, which must live until it has ended.
  virtual void begin(ServedAccess& access) = 0;
  virtual std::size_t stripe() const = 0;
};

// What a server does to the file itself, when its turn comes.
struct FileOperation {
  bool writing = false;
  const std::string& path;
  std::uint64_t device = 0, inode = 0;
  std::int64_t offset = 0;
  std::byte* data = nullptr;
  std::size_t size = 0;
  std::size_t moved = 0;
  int error = 0;
};

}  // namespace weft
