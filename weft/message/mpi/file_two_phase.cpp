// SPDX-License-Identifier: Apache-2.0
// Collective accesses in two phases. The part of the file that all ranks access is divided among a
// few ranks, the aggregators. Each rank exchanges its data with them, and they alone read and
// write, in large pieces. As views go forward only, what a rank accesses in a part of the file is
// one range of its own data, so that data needs no sorting on its way.
#include <algorithm>
#include <array>
#include <utility>

#include <weft/message/mpi/file_access.hpp>

namespace weft::mpi {

namespace {

using Traffic = Communicator::Traffic;

// Parts of the file begin at multiples of this, unless a hint gives the size of stripes.
constexpr std::int64_t usual_alignment = 4096;

void push(Words& words, std::int64_t value) {
  const auto bits = static_cast<std::uint64_t>(value);
  words.push_back(static_cast<std::uint32_t>(bits));
  words.push_back(static_cast<std::uint32_t>(bits >> 32));
}
std::int64_t pull(const Words& words, std::size_t index) {
  return static_cast<std::int64_t>(words[2 * index] | std::uint64_t{words[2 * index + 1]} << 32);
}

// How a rank accesses the file, beyond from where to where.
enum Manner : std::uint32_t { in_one_piece, scattered, overlapping };

struct Range {
  std::int64_t from = 0, to = 0;
  bool meets(const Range& other) const { return from < other.to && other.from < to; }
};

// What lies within the range, of segments in ascending order. `next` is the first that may.
std::vector<FileSegment> clip(std::span<const FileSegment> segments, std::size_t& next,
                              const Range& range) {
  std::vector<FileSegment> found;
  while (next < segments.size() && segments[next].end() <= range.from) ++next;
  for (std::size_t i = next; i < segments.size() && segments[i].offset < range.to; ++i) {
    const FileSegment& one = segments[i];
    const std::int64_t from = std::max(one.offset, range.from);
    const std::int64_t to = std::min(one.end(), range.to);
    found.push_back({from, one.start + from - one.offset, to - from});
  }
  return found;
}

std::int64_t bytes_of(std::span<const FileSegment> segments) {
  std::int64_t bytes = 0;
  for (const FileSegment& segment : segments) bytes += segment.size;
  return bytes;
}

// The segments of several ranks as stretches of the file; those with gaps up to `gap` are one.
std::vector<Range> join(std::vector<Range> ranges, std::int64_t gap) {
  std::sort(ranges.begin(), ranges.end(),
            [](const Range& a, const Range& b) { return a.from < b.from; });
  std::vector<Range> joined;
  for (const Range& range : ranges) {
    if (!joined.empty() && range.from <= joined.back().to + gap) {
      joined.back().to = std::max(joined.back().to, range.to);
    } else {
      joined.push_back(range);
    }
  }
  return joined;
}

// Gaps of a read that an aggregator reads along.
constexpr std::int64_t small_gap = std::int64_t{32} << 10;

}  // namespace

class TwoPhase {
 public:
  explicit TwoPhase(FileAccess& access)
      : access_(access), process_(access.process_), file_(access.file_) {}

  mp::Task run(int code);

 private:
  // A rank that exchanges data with us, when we aggregate.
  struct Source {
    int rank;
    std::vector<FileSegment> segments;
    std::size_t next = 0;
    // Of one round.
    std::vector<FileSegment> now;
    std::unique_ptr<std::byte[]> data;
  };

  bool writing() const { return access_.arguments_.writing; }
  mp::Task tell_facts(int code);
  bool pays() const;
  void divide();
  Range domain(std::size_t aggregator) const;
  Range window(std::size_t aggregator, std::int64_t round) const;
  mp::Task exchange_lists();
  mp::Task all_rounds();
  mp::Task write_round(std::int64_t round);
  mp::Task read_round(std::int64_t round);
  Range prepare_sources(std::int64_t round);
  mp::Task write_window(const Range& range);
  mp::Task read_window(const Range& range, std::vector<mp::Request*>& sends);
  mp::Request* exchange_own(std::size_t aggregator, std::int64_t round);
  FileMove move_of(const Range& range, std::int64_t gap);

  FileAccess& access_;
  Process& process_;
  File& file_;
  std::vector<FileSegment> segments_;  // Of this rank.
  std::vector<std::size_t> next_;      // By aggregator: its first segment that may still be due.
  std::vector<Range> ranges_;          // By rank: from the first to the last byte of the access.
  bool scattered_ = false;             // Some rank accesses several pieces,
  bool interleaved_ = false;           // or they do not follow each other in the order of ranks.
  bool overlapping_ = false;           // A view shows bytes twice: it goes back in the file.
  int worst_ = MPI_SUCCESS;
  std::vector<int> aggregators_;
  Range all_;
  std::int64_t part_ = 0;  // Of the file, per aggregator.
  std::int64_t rounds_ = 0;
  int own_ = -1;  // Our place among the aggregators.
  std::vector<Source> sources_;
  std::unique_ptr<std::byte[]> buffer_;  // A window of the file.
  int code_ = MPI_SUCCESS;
};

mp::Task FileAccess::together(int code) {
  TwoPhase two_phase(*this);
  mp::Task done = two_phase.run(code);
  co_return co_await done;
}

mp::Task TwoPhase::run(int code) {
  mp::Task told = tell_facts(code);
  co_await told;
  if (worst_ == MPI_SUCCESS && !pays()) {
    mp::Task alone = access_.independent();
    code_ = co_await alone;
  } else if (worst_ == MPI_SUCCESS && all_.from < all_.to) {
    divide();
    mp::Task exchanged = exchange_lists();
    co_await exchanged;
    access_.load(0, access_.total_);
    mp::Task moved = all_rounds();
    co_await moved;
    if (!writing()) access_.store(0, access_.moved_);
    if (writing()) access_.moved_ = access_.total_;
  }
  std::array<std::uint32_t, 1> worst = {static_cast<std::uint32_t>(std::max(code_, worst_))};
  mp::Task agreed = all_max(access_.tags_->end, worst);
  co_await agreed;
  co_return static_cast<int>(worst[0]);
}

// Every rank hears from where to where each one's access goes.
mp::Task TwoPhase::tell_facts(int code) {
  if (code == MPI_SUCCESS) {
    segments_ = access_.view_->segments(access_.begin_, access_.begin_ + access_.total_);
  }
  Words mine, all;
  push(mine, segments_.empty() ? 0 : segments_.front().offset);
  push(mine, segments_.empty() ? 0 : segments_.back().end());
  Manner manner = segments_.size() > 1 ? scattered : in_one_piece;
  if (access_.view_->overlaps(access_.begin_, access_.begin_ + access_.total_))
    manner = overlapping;
  mine.push_back(manner);
  mine.push_back(static_cast<std::uint32_t>(code));
  const InternalScope& scope = access_.tags_->facts;
  const std::size_t each = mine.size();
  mp::Task collected = collect(scope.own, std::move(mine), all);
  co_await collected;
  mp::Task spread = broadcast(scope.own, 0, all);
  co_await spread;
  const auto ranks = static_cast<std::size_t>(file_.comm->size());
  if (all.size() != each * ranks) {
    worst_ = MPI_ERR_PROC_FAILED;
    co_return 0;
  }
  for (std::size_t i = 0; i < ranks; ++i) {
    const Words one(all.begin() + static_cast<std::ptrdiff_t>(i * each),
                    all.begin() + static_cast<std::ptrdiff_t>((i + 1) * each));
    const Range range{pull(one, 0), pull(one, 1)};
    ranges_.push_back(range);
    scattered_ = scattered_ || one[4] == scattered;
    overlapping_ = overlapping_ || one[4] == overlapping;
    worst_ = std::max(worst_, static_cast<int>(one[5]));
    if (range.from == range.to) continue;
    interleaved_ = interleaved_ || (all_.to > 0 && range.from < all_.to);
    all_.from = all_.to == 0 ? range.from : std::min(all_.from, range.from);
    all_.to = std::max(all_.to, range.to);
  }
  co_return 0;
}

bool TwoPhase::pays() const {
  if (overlapping_) return false;
  const FileHints::Choice choice =
      writing() ? file_.hints.collective_write : file_.hints.collective_read;
  if (choice != FileHints::Choice::automatic) return choice == FileHints::Choice::enable;
  return scattered_ || interleaved_;
}

void TwoPhase::divide() {
  aggregators_ = file_.aggregators;
  const std::int64_t align = file_.hints.stripe > 0 ? file_.hints.stripe : usual_alignment;
  const auto count = static_cast<std::int64_t>(aggregators_.size());
  const std::int64_t start = all_.from / align * align;
  const std::int64_t units = (all_.to - start + align - 1) / align;
  all_.from = start;
  part_ = (units + count - 1) / count * align;
  const std::int64_t buffer = file_.hints.collective_buffer;
  rounds_ = (std::min(part_, all_.to - start) + buffer - 1) / buffer;
  next_.assign(aggregators_.size(), 0);
  const auto found = std::find(aggregators_.begin(), aggregators_.end(), file_.comm->rank);
  if (found != aggregators_.end()) own_ = static_cast<int>(found - aggregators_.begin());
}

Range TwoPhase::domain(std::size_t aggregator) const {
  const std::int64_t from = all_.from + static_cast<std::int64_t>(aggregator) * part_;
  return {std::min(from, all_.to), std::min(from + part_, all_.to)};
}

Range TwoPhase::window(std::size_t aggregator, std::int64_t round) const {
  const Range whole = domain(aggregator);
  const std::int64_t from = whole.from + round * file_.hints.collective_buffer;
  return {std::min(from, whole.to), std::min(from + file_.hints.collective_buffer, whole.to)};
}

// Each rank tells the aggregators which segments in their domains it accesses.
mp::Task TwoPhase::exchange_lists() {
  const InternalGroup group{process_.messenger, file_.comm->local, file_.comm->rank,
                            file_.comm->context_of(Traffic::collectives), access_.tags_->lists};
  const auto me = static_cast<std::size_t>(file_.comm->rank);
  std::vector<Words> lists(aggregators_.size());
  std::vector<mp::Task> given;
  for (std::size_t i = 0; i < aggregators_.size(); ++i) {
    if (!ranges_[me].meets(domain(i))) continue;
    std::size_t next = 0;
    for (const FileSegment& segment : clip(segments_, next, domain(i))) {
      push(lists[i], segment.offset);
      push(lists[i], segment.size);
    }
    given.push_back(give(group, aggregators_[i], lists[i]));
  }
  for (std::size_t rank = 0; own_ >= 0 && rank < ranges_.size(); ++rank) {
    if (!ranges_[rank].meets(domain(static_cast<std::size_t>(own_)))) continue;
    Words words;
    mp::Task taken = take(group, static_cast<int>(rank), words);
    co_await taken;
    Source source{static_cast<int>(rank), {}, 0, {}, nullptr};
    std::int64_t start = 0;
    for (std::size_t i = 0; i + 1 < words.size() / 2; i += 2) {
      source.segments.push_back({pull(words, i), start, pull(words, i + 1)});
      start += source.segments.back().size;
    }
    sources_.push_back(std::move(source));
  }
  for (mp::Task& task : given) co_await task;
  co_return 0;
}

mp::Task TwoPhase::all_rounds() {
  for (std::int64_t round = 0; round < rounds_; ++round) {
    mp::Task done = writing() ? write_round(round) : read_round(round);
    co_await done;
  }
  co_return 0;
}

// Which data is due in this round; the range of the file that holds it.
Range TwoPhase::prepare_sources(std::int64_t round) {
  Range needed;
  if (own_ < 0) return needed;
  const Range range = window(static_cast<std::size_t>(own_), round);
  for (Source& source : sources_) {
    source.now = clip(source.segments, source.next, range);
    if (source.now.empty()) continue;
    const auto size = static_cast<std::size_t>(bytes_of(source.now));
    source.data = std::make_unique_for_overwrite<std::byte[]>(size);
    const Range of_source{source.now.front().offset, source.now.back().end()};
    needed.from = needed.to == 0 ? of_source.from : std::min(needed.from, of_source.from);
    needed.to = std::max(needed.to, of_source.to);
  }
  if (needed.from < needed.to) {
    buffer_ = std::make_unique_for_overwrite<std::byte[]>(
        static_cast<std::size_t>(needed.to - needed.from));
  }
  return needed;
}

// Sends our data of this round to an aggregator, or receives it; null if there is none.
mp::Request* TwoPhase::exchange_own(std::size_t aggregator, std::int64_t round) {
  const std::vector<FileSegment> mine =
      clip(segments_, next_[aggregator], window(aggregator, round));
  if (mine.empty()) return nullptr;
  const FileMessage message{aggregators_[aggregator], access_.tags_->data, Traffic::collectives,
                            access_.at(mine.front().start - access_.begin_),
                            static_cast<std::size_t>(bytes_of(mine))};
  return writing() ? send(process_, file_, message) : receive(process_, file_, message);
}

FileMove TwoPhase::move_of(const Range& range, std::int64_t gap) {
  std::vector<Range> ranges;
  for (const Source& source : sources_) {
    for (const FileSegment& one : source.now) ranges.push_back({one.offset, one.end()});
  }
  FileMove move;
  move.writing = writing();
  for (const Range& one : join(std::move(ranges), gap)) {
    move.pieces.push_back({one.from, buffer_.get() + (one.from - range.from),
                           static_cast<std::size_t>(one.to - one.from)});
  }
  return move;
}

mp::Task TwoPhase::write_round(std::int64_t round) {
  const Range needed = prepare_sources(round);
  std::vector<mp::Request*> receives, sends;
  for (Source& source : sources_) {
    if (source.now.empty()) continue;
    receives.push_back(
        receive(process_, file_,
                {source.rank, access_.tags_->data, Traffic::collectives, source.data.get(),
                 static_cast<std::size_t>(bytes_of(source.now))}));
  }
  for (std::size_t i = 0; i < aggregators_.size(); ++i) {
    if (mp::Request* const sent = exchange_own(i, round)) sends.push_back(sent);
  }
  for (mp::Request* request : receives) co_await mp::finished(process_.messenger, request);
  if (needed.from < needed.to) {
    mp::Task written = write_window(needed);
    co_await written;
  }
  for (mp::Request* request : sends) co_await mp::finished(process_.messenger, request);
  co_return 0;
}

// Where ranks write the same bytes the last of them wins.
mp::Task TwoPhase::write_window(const Range& range) {
  for (const Source& source : sources_) {
    const std::byte* data = source.data.get();
    for (const FileSegment& one : source.now) {
      std::copy_n(data, one.size, buffer_.get() + (one.offset - range.from));
      data += one.size;
    }
    process_.fabric.processor.copy(nullptr, nullptr,
                                   static_cast<std::size_t>(bytes_of(source.now)));
  }
  FileMove move = move_of(range, 0);
  mp::Task moving = move_pieces(process_, file_, move);
  co_await moving;
  if (move.error != 0 && code_ == MPI_SUCCESS) code_ = access_.fail(move.error);
  co_return 0;
}

mp::Task TwoPhase::read_round(std::int64_t round) {
  const Range needed = prepare_sources(round);
  std::vector<mp::Request*> receives, sends;
  for (std::size_t i = 0; i < aggregators_.size(); ++i) {
    if (mp::Request* const due = exchange_own(i, round)) receives.push_back(due);
  }
  if (needed.from < needed.to) {
    mp::Task read = read_window(needed, sends);
    co_await read;
  }
  for (mp::Request* request : receives) {
    const mp::Arrival arrival = co_await mp::finished(process_.messenger, request);
    access_.moved_ += static_cast<std::int64_t>(arrival.size);
  }
  for (mp::Request* request : sends) co_await mp::finished(process_.messenger, request);
  co_return 0;
}

// Each rank gets what there is: less than it asked for where the file ends.
mp::Task TwoPhase::read_window(const Range& range, std::vector<mp::Request*>& sends) {
  FileMove move = move_of(range, small_gap);
  mp::Task moving = move_pieces(process_, file_, move);
  co_await moving;
  if (move.error != 0 && code_ == MPI_SUCCESS) code_ = access_.fail(move.error);
  std::int64_t end = range.from;  // Of what has been read.
  auto left = static_cast<std::int64_t>(move.moved);
  for (const FilePiece& one : move.pieces) {
    if (left == 0) break;
    const std::int64_t there = std::min(left, static_cast<std::int64_t>(one.size));
    end = one.offset + there;
    left -= there;
  }
  for (Source& source : sources_) {
    if (source.now.empty()) continue;
    std::byte* to = source.data.get();
    for (const FileSegment& one : source.now) {
      const std::int64_t there = std::clamp<std::int64_t>(end - one.offset, 0, one.size);
      to = std::copy_n(buffer_.get() + (one.offset - range.from), there, to);
    }
    const auto size = static_cast<std::size_t>(to - source.data.get());
    process_.fabric.processor.copy(nullptr, nullptr, size);
    sends.push_back(
        send(process_, file_,
             {source.rank, access_.tags_->data, Traffic::collectives, source.data.get(), size}));
  }
  co_return 0;
}

}  // namespace weft::mpi
