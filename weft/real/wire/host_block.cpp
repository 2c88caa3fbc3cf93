// SPDX-License-Identifier: Apache-2.0
#include "host_block.hpp"

#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <weft/real/wire/free_memory.hpp>

namespace weft::wire {

namespace {

std::string sized(std::size_t size) {
  return "shared memory of " + std::to_string(size) + " bytes";
}

Error failed(const std::string& what) {
  return Error::run(what + ": " + std::strerror(errno));
}

}  // namespace

Result<std::unique_ptr<HostBlock>> HostBlock::make(std::size_t size) {
  // The system would promise more than it has, and end processes when it is used.
  if (const std::uint64_t left = free_memory(); size > left) {
    return Error::run(sized(size) + ": only " + std::to_string(left) +
                      " are free on this host or in its memory limit");
  }
  // Beyond this limit a file does not fail to grow: its process is ended.
  rlimit files = {};
  if (::getrlimit(RLIMIT_FSIZE, &files) == 0 && files.rlim_cur < size) {
    return Error::run(sized(size) + ": the limit of the size of files (ulimit -f) is " +
                      std::to_string(files.rlim_cur));
  }
  Descriptor file(::memfd_create("weft-window", MFD_CLOEXEC));
  if (!file || ::ftruncate(file.get(), static_cast<off_t>(size)) != 0) return failed(sized(size));
  return std::unique_ptr<HostBlock>(new HostBlock(std::move(file), size));
}

Result<std::unique_ptr<HostBlock>> HostBlock::open(const Address& address, std::size_t size) {
  const std::string process = std::to_string(address.process);
  const std::string path = "/proc/" + process + "/fd/" + std::to_string(address.file);
  Descriptor file(::open(path.c_str(), O_RDWR | O_CLOEXEC));
  if (!file) return failed("shared memory of process " + process);
  struct stat facts = {};
  if (::fstat(file.get(), &facts) != 0) return failed("shared memory of process " + process);
  if (facts.st_ino != address.inode || static_cast<std::size_t>(facts.st_size) != size)
    return Error::run("shared memory of process " + process + " is another one");
  return std::unique_ptr<HostBlock>(new HostBlock(std::move(file), size));
}

HostBlock::~HostBlock() {
  if (mapped_ != nullptr) ::munmap(mapped_, size_);
}

HostBlock::Address HostBlock::address() const {
  struct stat facts = {};
  ::fstat(file_.get(), &facts);
  return {::getpid(), file_.get(), facts.st_ino};
}

Result<std::byte*> HostBlock::map(std::size_t offset, std::size_t size) {
  int outcome = 0;
  do {
    outcome = size == 0 ? 0
                        : ::fallocate(file_.get(), 0, static_cast<off_t>(offset),
                                      static_cast<off_t>(size));
  } while (outcome != 0 && errno == EINTR);
  if (outcome != 0) return failed(sized(size));
  void* const at = ::mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_SHARED, file_.get(), 0);
  if (at == MAP_FAILED) return failed("mapping " + sized(size_));
  mapped_ = at;
  return static_cast<std::byte*>(at);
}

}  // namespace weft::wire
