// SPDX-License-Identifier: Apache-2.0
#include "event_log.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>

#include <fcntl.h>
#include <unistd.h>

namespace weft {

namespace {

constexpr std::string_view file_mark = "WEFTEVT1";
constexpr std::size_t block_head = 8;
constexpr std::size_t block_max = std::size_t{1} << 20;
constexpr std::size_t text_max = 4096, names_max = 65536;
// A killed rank loses at most this much time.
constexpr std::int64_t flush_every_ns = 1'000'000'000;

// FNV-1a, 32 bits: detects accidental damage.
std::uint32_t check_sum(std::string_view bytes) {
  std::uint32_t sum = 2166136261U;
  for (const char c : bytes) sum = (sum ^ static_cast<unsigned char>(c)) * 16777619U;
  return sum;
}

void put_fixed(char* to, std::uint32_t value) {
  for (int i = 0; i < 4; ++i) to[i] = static_cast<char>(value >> (8 * i));
}

std::uint32_t take_fixed(const char* from) {
  std::uint32_t value = 0;
  for (int i = 0; i < 4; ++i) {
    value |= std::uint32_t{static_cast<unsigned char>(from[i])} << (8 * i);
  }
  return value;
}

}  // namespace

std::string event_log_path(const std::string& folder, std::uint32_t rank) {
  return folder + "/events." + std::to_string(rank) + ".bin";
}

Result<std::unique_ptr<EventLogWriter>> EventLogWriter::create(const std::string& path,
                                                               const EventLogStart& start) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file < 0) return Error::input(path + ": " + std::strerror(errno));
  std::unique_ptr<EventLogWriter> log(new EventLogWriter(path, file));
  log->write(file_mark.data(), file_mark.size());
  const std::string host = start.host.substr(0, text_max);
  log->begin(EventKind::start, 0, host.size());
  log->put(start.rank);
  log->put(start.ranks);
  log->put(start.node);
  log->put_text(host);
  log->put_signed(start.start_ns);
  log->flush();
  if (!log->problem_.empty()) return Error::run(log->problem_);
  return log;
}

EventLogWriter::~EventLogWriter() {
  flush();
  if (file_ >= 0) ::close(file_);
}

void EventLogWriter::write(const char* data, std::size_t size) {
  while (size > 0 && problem_.empty()) {
    const ssize_t wrote = ::write(file_, data, size);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) {
      problem_ = path_ + ": " + (wrote < 0 ? std::strerror(errno) : "cannot be written");
      return;
    }
    data += wrote;
    size -= static_cast<std::size_t>(wrote);
  }
}

void EventLogWriter::flush() {
  if (block_.size() <= block_head) return;
  const std::string_view records = std::string_view(block_).substr(block_head);
  put_fixed(block_.data(), static_cast<std::uint32_t>(records.size()));
  put_fixed(block_.data() + 4, check_sum(records));
  write(block_.data(), block_.size());
  block_.resize(block_head);
  flushed_ns_ = last_ns_;
}

void EventLogWriter::begin(EventKind kind, std::int64_t at_ns, std::size_t text_size) {
  if (block_.empty()) {
    block_.reserve(block_size);
    block_.resize(block_head);
  }
  if (block_.size() + record_max + text_size > block_size ||
      last_ns_ - flushed_ns_ > flush_every_ns) {
    flush();
  }
  ++records_;
  block_ += static_cast<char>(kind);
  at_ns = std::max(at_ns, last_ns_);
  put(static_cast<std::uint64_t>(at_ns - last_ns_));
  last_ns_ = at_ns;
}

void EventLogWriter::put(std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) block_ += static_cast<char>(value | 0x80);
  block_ += static_cast<char>(value);
}

// Zigzag encoding: small values of either sign take few bytes.
void EventLogWriter::put_signed(std::int64_t value) {
  put((static_cast<std::uint64_t>(value) << 1) ^ static_cast<std::uint64_t>(value >> 63));
}

void EventLogWriter::put_text(std::string_view text) {
  put(text.size());
  block_ += text;
}

std::uint32_t EventLogWriter::number_of(const char* call, std::int64_t at_ns) {
  const auto [found, is_new] = numbers_.emplace(call, static_cast<std::uint32_t>(numbers_.size()));
  if (is_new) {
    const std::string_view text = std::string_view(call).substr(0, text_max);
    begin(EventKind::name, at_ns, text.size());
    put_text(text);
  }
  return found->second;
}

void EventLogWriter::enter(const char* call, std::int64_t at_ns) {
  const std::uint32_t number = number_of(call, at_ns);
  begin(EventKind::enter, at_ns);
  put(number);
}

void EventLogWriter::leave(const char* call, std::int64_t at_ns) {
  const std::uint32_t number = number_of(call, at_ns);
  begin(EventKind::leave, at_ns);
  put(number);
}

void EventLogWriter::message(EventKind kind, std::int64_t at_ns, const LoggedMessage& message,
                             std::uint64_t number) {
  begin(kind, at_ns);
  put(message.peer);
  put(message.context);
  put_signed(message.tag);
  put(message.bytes);
  if (kind == EventKind::receive_begin) put(number);
}

void EventLogWriter::receive_end(std::int64_t at_ns, std::uint64_t number) {
  begin(EventKind::receive_end, at_ns);
  put(number);
}

void EventLogWriter::clock(std::uint32_t node, std::int64_t at_ns, std::int64_t ahead_ns) {
  begin(EventKind::clock, last_ns_);
  put(node);
  put_signed(at_ns);
  put_signed(ahead_ns);
}

void EventLogWriter::finish() {
  const std::uint64_t before = records_;
  begin(EventKind::end, last_ns_);
  put(before);
  flush();
}

EventLogReader::EventLogReader(std::string path)
    : path_(std::move(path)), file_(std::make_unique<std::ifstream>(path_, std::ios::binary)) {}

Error EventLogReader::damaged() const {
  return Error::input("the log is damaged; record the run again").at(path_, 0);
}

Result<EventLogReader> EventLogReader::open(const std::string& path) {
  EventLogReader log(path);
  if (!*log.file_) return Error::input(path + ": " + std::strerror(errno));
  std::array<char, file_mark.size()> mark = {};
  log.file_->read(mark.data(), mark.size());
  if (log.file_->gcount() != static_cast<std::streamsize>(mark.size()) ||
      std::string_view(mark.data(), mark.size()) != file_mark) {
    return Error::input("this is not an event log").at(path, 0);
  }
  if (!log.read_block() || log.bad_sum_ || !log.take_start()) return log.damaged();
  return log;
}

bool EventLogReader::read_block() {
  std::array<char, block_head> head = {};
  if (!file_->read(head.data(), head.size())) return false;
  const std::size_t size = take_fixed(head.data());
  at_ = 0;
  block_.clear();
  bad_sum_ = size > block_max;
  if (bad_sum_) return true;
  block_.resize(size);
  if (!file_->read(block_.data(), static_cast<std::streamsize>(size))) {
    block_.clear();
    return false;
  }
  bad_sum_ = check_sum(block_) != take_fixed(head.data() + 4);
  return true;
}

bool EventLogReader::take(std::uint64_t& value) {
  value = 0;
  for (int shift = 0; shift < 64; shift += 7) {
    if (at_ >= block_.size()) return false;
    const auto byte = static_cast<unsigned char>(block_[at_++]);
    value |= std::uint64_t{byte & 0x7fU} << shift;
    if (byte < 0x80) return true;
  }
  return false;
}

bool EventLogReader::take_signed(std::int64_t& value) {
  std::uint64_t bits = 0;
  if (!take(bits)) return false;
  value = static_cast<std::int64_t>((bits >> 1) ^ (~(bits & 1) + 1));
  return true;
}

template <typename Number>
bool EventLogReader::take_small(Number& value) {
  std::uint64_t wide = 0;
  if (!take(wide) || wide > std::numeric_limits<Number>::max()) return false;
  value = static_cast<Number>(wide);
  return true;
}

bool EventLogReader::take_text(std::string& text) {
  std::uint64_t size = 0;
  if (!take(size) || size > text_max || size > block_.size() - at_) return false;
  text = block_.substr(at_, size);
  at_ += size;
  return true;
}

bool EventLogReader::take_message(LoggedMessage& message) {
  std::int64_t tag = 0;
  if (!take_small(message.peer) || message.peer >= start_.ranks || !take_small(message.context) ||
      !take_signed(tag) || !take(message.bytes)) {
    return false;
  }
  if (tag < std::numeric_limits<std::int32_t>::min() ||
      tag > std::numeric_limits<std::int32_t>::max()) {
    return false;
  }
  message.tag = static_cast<std::int32_t>(tag);
  return true;
}

bool EventLogReader::take_start() {
  std::uint64_t kind = 0, since = 0;
  ++records_;
  return take(kind) && kind == static_cast<std::uint64_t>(EventKind::start) && take(since) &&
         since == 0 && take_small(start_.rank) && take_small(start_.ranks) &&
         start_.rank < start_.ranks && take_small(start_.node) && start_.node < start_.ranks &&
         take_text(start_.host) && take_signed(start_.start_ns);
}

bool EventLogReader::take_name() {
  std::string text;
  if (!take_text(text) || text.empty() || names_.size() >= names_max) return false;
  names_.push_back(std::move(text));
  return true;
}

bool EventLogReader::take_event(EventKind kind, LoggedEvent& out) {
  switch (kind) {
    case EventKind::enter:
    case EventKind::leave:
      return take_small(out.name) && out.name < names_.size();
    case EventKind::send:
    case EventKind::receive:
      return take_message(out.message);
    case EventKind::receive_begin:
      return take_message(out.message) && take(out.number);
    case EventKind::receive_end:
      return take(out.number);
    case EventKind::clock:
      return take_small(out.node) && out.node < start_.ranks && take_signed(out.at_ns) &&
             take_signed(out.ahead_ns);
    case EventKind::end:
      whole_ = take(out.number) && out.number == records_ && at_ == block_.size();
      return whole_;
    case EventKind::start:
    case EventKind::name:
      break;
  }
  return false;
}

Result<bool> EventLogReader::next(LoggedEvent& out) {
  while (!whole_) {
    if (at_ >= block_.size()) {
      if (!read_block()) return false;
      if (bad_sum_) return damaged();
      continue;
    }
    const auto kind = static_cast<EventKind>(block_[at_++]);
    std::uint64_t since = 0;
    if (!take(since) || since > std::uint64_t{1} << 62 ||
        last_ns_ > (std::int64_t{1} << 62) - static_cast<std::int64_t>(since)) {
      return damaged();
    }
    last_ns_ += static_cast<std::int64_t>(since);
    if (kind == EventKind::name) {
      if (!take_name()) return damaged();
      ++records_;
      continue;
    }
    out = {};
    out.kind = kind;
    out.at_ns = last_ns_;
    if (!take_event(kind, out)) return damaged();
    ++records_;
    if (kind != EventKind::end) return true;
  }
  return false;
}

}  // namespace weft
