// SPDX-License-Identifier: Apache-2.0
#include "file_access.hpp"

#include <algorithm>
#include <array>
#include <coroutine>
#include <deque>
#include <utility>

#include <weft/message/mpi/contexts.hpp>

namespace weft::mpi {

namespace {

// Memory or file with gaps is worked on in parts of this size.
constexpr std::int64_t chunk_bytes = std::int64_t{8} << 20;
// A gap that costs less to read than another call of the file system.
constexpr std::int64_t small_gap = std::int64_t{32} << 10;

// Segments [from, to) that one read covers, gaps included. Where that does not pay: those up to the
// next for which it does.
struct Batch {
  std::size_t to;
  bool sieved;
};
Batch next_batch(std::span<const FileSegment> segments, std::size_t from, const FileHints& hints) {
  const bool any_gap = hints.sieve_reads == FileHints::Choice::enable;
  const auto joins = [&](std::size_t first, std::size_t next) {
    if (next >= segments.size() || hints.sieve_reads == FileHints::Choice::disable) return false;
    const std::int64_t gap = segments[next].offset - segments[next - 1].end();
    return gap >= 0 && (any_gap || gap <= small_gap) &&
           segments[next].end() - segments[first].offset <= hints.read_buffer;
  };
  std::size_t to = from + 1;
  if (joins(from, to)) {
    while (joins(from, to)) ++to;
    return {to, true};
  }
  while (to < segments.size() && !joins(to, to + 1)) ++to;
  return {to, false};
}

}  // namespace

namespace {

// An access that servers of files do, for a task that waits for it.
class ServedPiece final : public ServedAccess {
 public:
  explicit ServedPiece(mp::Messenger& messenger) : messenger_(messenger) {}
  void ended() override {
    done_ = true;
    if (waiter_) messenger_.resume_later(std::exchange(waiter_, {}));
  }
  bool await_ready() const { return done_; }
  void await_suspend(std::coroutine_handle<> waiter) { waiter_ = waiter; }
  void await_resume() const {}

 private:
  mp::Messenger& messenger_;
  bool done_ = false;
  std::coroutine_handle<> waiter_;
};

// All pieces are under way at once.
mp::Task move_by_servers(Process& process, File& file, FileMove& move, Storage& storage) {
  std::deque<ServedPiece> served;  // They stay where they are.
  const FileDescriptor::Identity what = file.descriptor->identity();
  for (const FilePiece& piece : move.pieces) {
    ServedPiece& one = served.emplace_back(process.messenger);
    one.writing = move.writing;
    one.path = file.path;
    one.device = what.device;
    one.inode = what.inode;
    one.offset = piece.offset;
    one.memory = piece.memory;
    one.size = piece.size;
    storage.begin(one);
  }
  bool whole = true;
  for (ServedPiece& one : served) {
    co_await one;
    if (one.error != 0 && move.error == 0) move.error = one.error;
    if (whole) move.moved += one.moved;
    whole = whole && one.moved == one.size;
  }
  co_return 0;
}

}  // namespace

mp::Task move_pieces(Process& process, File& file, FileMove& move) {
  if (Storage* const storage = process.runtime.storage(process.rank()); storage != nullptr) {
    mp::Task moving = move_by_servers(process, file, move, *storage);
    co_return co_await moving;
  }
  for (const FilePiece& piece : move.pieces) {
    const std::span<std::byte> memory(piece.memory, piece.size);
    const FileDescriptor::Moved moved = move.writing ? file.descriptor->write(piece.offset, memory)
                                                     : file.descriptor->read(piece.offset, memory);
    move.moved += moved.bytes;
    move.error = moved.error;
    if (moved.error != 0 || moved.bytes < piece.size) break;
  }
  // In a simulation without servers for files, they are in the memory of the node.
  process.fabric.processor.copy(nullptr, nullptr, move.moved);
  co_return 0;
}

FileAccess::FileAccess(Process& process, File& file, const AccessArguments& arguments)
    : process_(process),
      file_(file),
      arguments_(arguments),
      type_(find_type(arguments.type)),
      view_(file.view),
      total_(arguments.count * type_->size()) {
  type_->retain();
  in_place_ = type_->contiguous(arguments.count) && !view_->external();
}

FileAccess::~FileAccess() {
  Datatype::release(type_);
}

std::string FileAccess::trouble() const {
  return number_ == 0 ? "" : file_trouble(file_.path, number_);
}

int FileAccess::fail(int number) {
  number_ = number;
  return class_of_errno(number);
}

mp::Task FileAccess::start() {
  ++file_.accesses;
  const std::int64_t each = view_->etype().size();
  if (arguments_.pointer == AccessArguments::Pointer::offset) {
    begin_ = arguments_.offset * each;
  } else if (arguments_.pointer == AccessArguments::Pointer::individual) {
    begin_ = file_.position * each;
    file_.position += total_ / each;
  }
  if (arguments_.collective) {
    Communicator& comm = *file_.comm;
    tags_.emplace(Tags{scope_of(process_, comm), scope_of(process_, comm), scope_of(process_, comm),
                       comm.next_collective_tag(), comm.next_collective_tag()});
  }
  return steps(*this);
}

mp::Task FileAccess::steps(FileAccess& self) {
  mp::Task found = self.find_place();
  int code = co_await found;
  if (code == MPI_SUCCESS && !self.view_->fits(self.begin_, self.total_)) {
    code = MPI_ERR_VALUE_TOO_LARGE;
  }
  // What is atomic is so one rank after the other.
  const bool alone = !self.arguments_.collective || self.file_.comm->size() == 1;
  if (alone || self.file_.atomic) {
    if (code == MPI_SUCCESS) {
      mp::Task done = self.independent();
      code = co_await done;
    }
    if (!alone) {
      std::array<std::uint32_t, 1> worst = {static_cast<std::uint32_t>(code)};
      mp::Task agreed = all_max(self.tags_->end, worst);
      co_await agreed;
      code = static_cast<int>(worst[0]);
    }
  } else {
    mp::Task done = self.together(code);
    code = co_await done;
  }
  if (code == MPI_SUCCESS && !alone && has_lost_member(self.process_, self.file_)) {
    code = MPI_ERR_PROC_FAILED;
  }
  --self.file_.accesses;
  co_return code;
}

mp::Task FileAccess::find_place() {
  using Pointer = AccessArguments::Pointer;
  if (arguments_.pointer == Pointer::ordered) {
    mp::Task turn = take_turn();
    co_return co_await turn;
  }
  if (arguments_.pointer != Pointer::shared) co_return MPI_SUCCESS;
  const std::int64_t each = view_->etype().size();
  std::int64_t before = 0;
  mp::Task advanced = advance_shared(process_, file_, total_ / each, before);
  const int code = co_await advanced;
  begin_ = before * each;
  co_return code;
}

// Rank 0, which keeps the shared pointer, hears how much each rank moves and tells all where the
// first begins.
mp::Task FileAccess::take_turn() {
  const InternalScope& scope = tags_->order;
  const std::int64_t each = view_->etype().size();
  const auto mine = static_cast<std::uint64_t>(total_ / each);
  Words all;
  mp::Task collected = collect(
      scope.own, {static_cast<std::uint32_t>(mine), static_cast<std::uint32_t>(mine >> 32)}, all);
  co_await collected;
  const auto ranks = static_cast<std::size_t>(file_.comm->size());
  if (scope.own.rank == 0) {
    std::int64_t& position = file_.keeper.position;
    for (std::size_t i = 0; i < ranks && all.size() == 2 * ranks; ++i) {
      const std::uint64_t etypes = all[2 * i] | std::uint64_t{all[2 * i + 1]} << 32;
      all[2 * i] = static_cast<std::uint32_t>(position);
      all[2 * i + 1] = static_cast<std::uint32_t>(static_cast<std::uint64_t>(position) >> 32);
      position += static_cast<std::int64_t>(etypes);
    }
  }
  mp::Task told = broadcast(scope.own, 0, all);
  co_await told;
  if (all.size() != 2 * ranks) co_return MPI_ERR_PROC_FAILED;
  const std::size_t own = 2 * static_cast<std::size_t>(scope.own.rank);
  begin_ = static_cast<std::int64_t>(all[own] | std::uint64_t{all[own + 1]} << 32) * each;
  co_return MPI_SUCCESS;
}

std::byte* FileAccess::at(std::int64_t byte) const {
  if (!in_place_) return packed_.get() + (byte - packed_from_);
  return static_cast<std::byte*>(const_cast<void*>(arguments_.buffer)) + type_->true_lower_bound() +
         byte;
}

// Makes the bytes ready in one piece: those of the program, or room for them.
void FileAccess::load(std::int64_t from, std::int64_t to) {
  if (in_place_) return;
  const auto size = static_cast<std::size_t>(to - from);
  packed_ = std::make_unique<std::byte[]>(size);
  packed_from_ = from;
  if (!arguments_.writing) return;
  const std::span<std::byte> packed(packed_.get(), size);
  type_->pack(arguments_.buffer, arguments_.count, from, packed);
  process_.fabric.processor.copy(nullptr, nullptr, size);
  if (!view_->external()) return;
  auto outside = std::make_unique<std::byte[]>(size);
  to_external(*type_, packed, {outside.get(), size});
  packed_ = std::move(outside);
}

void FileAccess::store(std::int64_t from, std::int64_t bytes) {
  if (in_place_ || arguments_.writing || bytes == 0) return;
  if (view_->external()) {  // All of it at once.
    const auto size = static_cast<std::size_t>(total_);
    auto native = std::make_unique<std::byte[]>(size);
    from_external(*type_, {packed_.get(), size}, {native.get(), size});
    packed_ = std::move(native);
  }
  const auto size = static_cast<std::size_t>(bytes);
  type_->unpack(const_cast<void*>(arguments_.buffer), arguments_.count, from,
                {packed_.get() + (from - packed_from_), size});
  process_.fabric.processor.copy(nullptr, nullptr, size);
}

mp::Task FileAccess::lock(bool locking) {
  if (!process_.real_time) {
    mp::Task asked = locking ? lock_at_keeper(process_, file_) : unlock_at_keeper(process_, file_);
    co_return co_await asked;
  }
  const std::int64_t from = view_->place(begin_);
  const std::int64_t bytes = view_->place(begin_ + total_ - 1) + 1 - from;
  co_return fail(locking ? file_.descriptor->lock(from, bytes, arguments_.writing)
                         : file_.descriptor->unlock(from, bytes));
}

mp::Task FileAccess::independent() {
  if (total_ == 0) co_return MPI_SUCCESS;
  const bool locks = file_.atomic;
  if (locks) {
    mp::Task locked = lock(true);
    if (const int code = co_await locked; code != MPI_SUCCESS) co_return code;
  }
  const bool whole = view_->external() || (in_place_ && view_->gapless());
  const std::int64_t step = whole ? total_ : chunk_bytes;
  int code = MPI_SUCCESS;
  for (std::int64_t from = 0; from < total_ && moved_ == from && code == MPI_SUCCESS;
       from += step) {
    mp::Task done = move_chunk(from, std::min(from + step, total_));
    code = co_await done;
  }
  if (locks) {
    const int number = number_;
    mp::Task unlocked = lock(false);
    const int after = co_await unlocked;
    if (code == MPI_SUCCESS) code = after;
    if (number != 0) number_ = number;
  }
  co_return code;
}

mp::Task FileAccess::move_chunk(std::int64_t from, std::int64_t to) {
  const std::vector<FileSegment> segments = view_->segments(begin_ + from, begin_ + to);
  load(from, to);
  if (arguments_.writing) {
    FileMove move{true, {}, 0, 0};
    for (const FileSegment& segment : segments) move.pieces.push_back(piece(segment));
    mp::Task moving = move_pieces(process_, file_, move);
    co_await moving;
    moved_ += static_cast<std::int64_t>(move.moved);
    co_return fail(move.error);
  }
  int code = MPI_SUCCESS;
  for (std::size_t i = 0; i < segments.size() && code == MPI_SUCCESS;) {
    if (begin_ + moved_ < segments[i].start) break;  // The file has ended.
    const Batch batch = next_batch(segments, i, file_.hints);
    mp::Task reading = read_batch(std::span(segments).subspan(i, batch.to - i), batch.sieved);
    code = co_await reading;
    i = batch.to;
  }
  store(from, moved_ - from);
  co_return code;
}

mp::Task FileAccess::read_batch(std::span<const FileSegment> segments, bool sieved) {
  FileMove move;
  if (!sieved) {
    for (const FileSegment& segment : segments) move.pieces.push_back(piece(segment));
    mp::Task moving = move_pieces(process_, file_, move);
    co_await moving;
    moved_ += static_cast<std::int64_t>(move.moved);
    co_return fail(move.error);
  }
  const std::int64_t first = segments.front().offset;
  const auto size = static_cast<std::size_t>(segments.back().end() - first);
  const auto sieve = std::make_unique_for_overwrite<std::byte[]>(size);
  move.pieces.push_back({first, sieve.get(), size});
  mp::Task moving = move_pieces(process_, file_, move);
  co_await moving;
  const std::int64_t end = first + static_cast<std::int64_t>(move.moved);
  for (const FileSegment& segment : segments) {
    const std::int64_t there = std::clamp<std::int64_t>(end - segment.offset, 0, segment.size);
    std::copy_n(sieve.get() + (segment.offset - first), there, at(segment.start - begin_));
    moved_ += there;
    if (there < segment.size) break;
  }
  co_return fail(move.error);
}

}  // namespace weft::mpi
