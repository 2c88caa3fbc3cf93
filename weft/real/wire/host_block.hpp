// SPDX-License-Identifier: Apache-2.0
// Memory that some processes of a host share. It has no name: one process makes it, the others open
// it through that one's open files, which only their own user may. So it vanishes with the last
// process that has it mapped, however that one ends.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include <weft/base/result.hpp>
#include <weft/real/wire/socket.hpp>

namespace weft::wire {

class HostBlock {
 public:
  // Where another process finds it.
  struct Address {
    int process = 0;
    int file = -1;            // A descriptor there,
    std::uint64_t inode = 0;  // and what it must lead to.
  };

  static Result<std::unique_ptr<HostBlock>> make(std::size_t size);
  static Result<std::unique_ptr<HostBlock>> open(const Address& address, std::size_t size);
  ~HostBlock();
  HostBlock(const HostBlock&) = delete;
  HostBlock& operator=(const HostBlock&) = delete;

  Address address() const;
  // Maps all of it, and takes the memory for a part of it from the system: where this fails now, a
  // later access would end the process.
  Result<std::byte*> map(std::size_t offset, std::size_t size);
  // What is mapped stays.
  void close_file() { file_.close(); }

 private:
  HostBlock(Descriptor file, std::size_t size) : file_(std::move(file)), size_(size) {}

  Descriptor file_;
  const std::size_t size_;
  void* mapped_ = nullptr;
};

}  // namespace weft::wire
