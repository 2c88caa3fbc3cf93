// SPDX-License-Identifier: Apache-2.0
#include <cerrno>
#include <cstring>
#include <new>
#include <string>
#include <utility>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <weft/real/wire/segment.hpp>

namespace weft::wire {

namespace {

std::size_t rings_at() {
  return (sizeof(SegmentHead) + 4095) / 4096 * 4096;
}

Error failed(const std::string& what) {
  return Error::run(what + ": " + std::strerror(errno));
}

}  // namespace

Status Segment::map(std::uint32_t rings, bool fresh) {
  size_ = rings_at() + std::size_t{rings} * sizeof(Inlet);
  if (!fresh) {
    struct stat facts = {};
    if (::fstat(memory_, &facts) != 0) return failed("shared memory of a neighbour");
    if (static_cast<std::size_t>(facts.st_size) < size_)
      return Error::run("shared memory of a neighbour is too small: is it another weft?");
  }
  void* const at = ::mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_SHARED, memory_, 0);
  if (at == MAP_FAILED) return failed("mapping shared memory");
  // The kernel gives zeros, which is what fresh rings and tables are.
  head_ = static_cast<SegmentHead*>(at);
  inlets_ = reinterpret_cast<Inlet*>(static_cast<std::byte*>(at) + rings_at());
  if (fresh) {
    head_->rings = rings;
    head_->magic = SegmentHead::sign;
  } else if (head_->magic != SegmentHead::sign || head_->rings != rings) {
    return Error::run("shared memory of a neighbour looks strange: is it another weft?");
  }
  return {};
}

Result<std::unique_ptr<Segment>> Segment::make(std::uint32_t rings) {
  std::unique_ptr<Segment> made(new Segment);
  made->memory_ = ::memfd_create("weft", MFD_CLOEXEC);
  if (made->memory_ < 0) return failed("shared memory");
  const std::size_t size = rings_at() + std::size_t{rings} * sizeof(Inlet);
  if (::ftruncate(made->memory_, static_cast<off_t>(size)) != 0) return failed("shared memory");
  int ends[2] = {-1, -1};
  if (::pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) return failed("a pipe");
  made->bell_ = ends[0];
  made->bell_end_ = ends[1];
  if (Status mapped = made->map(rings, true); !mapped) return std::move(mapped).error();
  return made;
}

Result<std::unique_ptr<Segment>> Segment::open(const Theirs& theirs) {
  std::unique_ptr<Segment> made(new Segment);
  const std::string process = std::to_string(theirs.process);
  const std::string files = "/proc/" + process + "/fd/";
  made->memory_ = ::open((files + std::to_string(theirs.memory)).c_str(), O_RDWR | O_CLOEXEC);
  if (made->memory_ < 0) return failed("shared memory of process " + process);
  const Status mapped = made->map(theirs.rings, false);
  ::close(std::exchange(made->memory_, -1));
  if (!mapped) return mapped.error();
  made->bell_path_ = files + std::to_string(theirs.bell);
  const int bell = made->open_bell();
  struct stat facts = {};
  if (bell < 0 || ::fstat(bell, &facts) != 0) return failed("the bell of process " + process);
  made->bell_inode_ = facts.st_ino;
  if (theirs.keep_bell) {
    made->bell_end_ = bell;
  } else {
    ::close(bell);
  }
  return made;
}

// For reading too: so it has a reader even if its owner is gone, and ringing raises no signal.
int Segment::open_bell() const {
  return ::open(bell_path_.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK);
}

Segment::~Segment() {
  if (head_ != nullptr) ::munmap(head_, size_);
  for (const int descriptor : {memory_, bell_, bell_end_}) {
    if (descriptor >= 0) ::close(descriptor);
  }
}

void Segment::ring_bell() const {
  if (head_->sleeps.exchange(0) == 0) return;
  const char sound = 1;
  const int bell = bell_end_ >= 0 ? bell_end_ : open_bell();
  struct stat facts = {};
  const bool right =
      bell_end_ >= 0 || (bell >= 0 && ::fstat(bell, &facts) == 0 && facts.st_ino == bell_inode_);
  // A full pipe wakes as well as one more byte; a closed one has no process to wake.
  if (right) static_cast<void>(!::write(bell, &sound, 1));
  if (bell != bell_end_ && bell >= 0) ::close(bell);
}

}  // namespace weft::wire
