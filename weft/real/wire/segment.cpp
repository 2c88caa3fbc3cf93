// SPDX-License-Identifier: Apache-2.0
#include <cerrno>
#include <cstring>
#include <new>
#include <string>
#include <utility>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <weft/real/wire/segment.hpp>

namespace weft::wire {

namespace {

constexpr std::size_t page = 4096;

std::size_t rings_at() {
  return (sizeof(SegmentHead) + page - 1) / page * page;
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

// How many inlets it has for others does not matter: a guest has one of its own.
Status Segment::map_as_guest(std::uint32_t rank) {
  size_ = rings_at();
  struct stat facts = {};
  if (::fstat(memory_, &facts) != 0 || static_cast<std::size_t>(facts.st_size) < size_)
    return failed("shared memory of a neighbour");
  void* const at = ::mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_SHARED, memory_, 0);
  if (at == MAP_FAILED) return failed("mapping shared memory");
  head_ = static_cast<SegmentHead*>(at);
  if (head_->magic != SegmentHead::sign)
    return Error::run("shared memory of a neighbour looks strange: is it another weft?");
  auto inlet = GuestInlet::map(memory_, head_->rings, rank);
  if (!inlet) return std::move(inlet).error();
  guest_ = *std::move(inlet);
  return {};
}

Result<std::unique_ptr<GuestInlet>> GuestInlet::map(int memory, std::uint32_t rings,
                                                    std::uint32_t rank) {
  std::unique_ptr<GuestInlet> made(new GuestInlet);
  made->begin_ = rings_at() + (std::size_t{rings} + rank) * sizeof(Inlet);
  const std::size_t end = made->begin_ + sizeof(Inlet);
  // Beyond this limit a file does not fail to grow: its process is ended.
  rlimit files = {};
  if (::getrlimit(RLIMIT_FSIZE, &files) == 0 && files.rlim_cur < end)
    return Error::run("shared memory for rank " + std::to_string(rank) +
                      ": the limit of the size of files (ulimit -f) is " +
                      std::to_string(files.rlim_cur));
  // Both sides may do this at the same time, for several guests: it never makes the file smaller.
  if (::fallocate(memory, 0, static_cast<off_t>(end - 1), 1) != 0) return failed("shared memory");
  const std::size_t from = made->begin_ / page * page;
  made->size_ = end - from;
  void* const at = ::mmap(nullptr, made->size_, PROT_READ | PROT_WRITE, MAP_SHARED, memory,
                          static_cast<off_t>(from));
  if (at == MAP_FAILED) return failed("mapping shared memory");
  made->at_ = at;
  made->inlet_ = reinterpret_cast<Inlet*>(static_cast<std::byte*>(at) + (made->begin_ - from));
  return made;
}

GuestInlet::~GuestInlet() {
  if (at_ != nullptr) ::munmap(at_, size_);
}

void GuestInlet::empty(int memory) const {
  static_cast<void>(::fallocate(memory, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                                static_cast<off_t>(begin_), sizeof(Inlet)));
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
  const Status mapped =
      theirs.guest ? made->map_as_guest(*theirs.guest) : made->map(theirs.rings, false);
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
