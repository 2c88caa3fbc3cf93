// SPDX-License-Identifier: Apache-2.0
// The calls and messages of one rank of a real run, written to a file of its own while it runs.
// Compact and quick to write; app/run_record_merge.cpp combines all ranks' files into an archive
// that other tools read.
// A file is a magic number followed by blocks: size, checksum, records. A record is a byte for its
// kind, the nanoseconds since the previous record, and numbers in seven bits per byte. A killed
// rank leaves whole blocks and perhaps a partial one, so everything up to then can be read.
#pragma once

#include <array>
#include <cstdint>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <weft/base/result.hpp>

namespace weft {

struct EventLogStart {
  std::uint32_t rank = 0, ranks = 1;
  std::uint32_t node = 0;  // Ranks of one node share a clock.
  std::string host;
  std::int64_t start_ns = 0;  // Start time on that clock; event times count from it.
};

enum class EventKind : std::uint8_t {
  start = 1,
  name,           // The name of a call number.
  enter,          // Start of a library call.
  leave,          // End of a library call.
  send,           // A message was sent to the peer.
  receive,        // A message from the peer arrived with its data.
  receive_begin,  // The peer announced a message (rendezvous).
  receive_end,    // The data of that message arrived.
  clock,          // How far another node's clock is ahead of rank 0's.
  end,            // End of the log.
};
inline constexpr auto event_kind_last = EventKind::end;

struct LoggedMessage {
  std::uint32_t peer = 0, context = 0;
  std::int32_t tag = 0;
  std::uint64_t bytes = 0;
};

struct LoggedEvent {
  EventKind kind = EventKind::end;
  std::int64_t at_ns = 0;     // Since the start; for `clock`: on that node's clock.
  std::uint32_t name = 0;     // Call number; see names().
  LoggedMessage message;      // For send, receive and receive_begin.
  std::uint64_t number = 0;   // Matches receive_end to receive_begin.
  std::uint32_t node = 0;     // For clock: the node,
  std::int64_t ahead_ns = 0;  // and how far its clock is ahead.
};

std::string event_log_path(const std::string& folder, std::uint32_t rank);

// After a failure (such as a full disk) nothing more is written; problem() describes it.
class EventLogWriter {
 public:
  static Result<std::unique_ptr<EventLogWriter>> create(const std::string& path,
                                                        const EventLogStart& start);
  ~EventLogWriter();
  EventLogWriter(const EventLogWriter&) = delete;
  EventLogWriter& operator=(const EventLogWriter&) = delete;

  // `call` is a string literal, identified by address.
  void enter(const char* call, std::int64_t at_ns);
  void leave(const char* call, std::int64_t at_ns);
  void message(EventKind kind, std::int64_t at_ns, const LoggedMessage& message,
               std::uint64_t number = 0);
  void receive_end(std::int64_t at_ns, std::uint64_t number);
  void clock(std::uint32_t node, std::int64_t at_ns, std::int64_t ahead_ns);

  void flush();
  // Flushes and marks the log as complete.
  void finish();
  const std::string& problem() const { return problem_; }

 private:
  static constexpr std::size_t block_size = std::size_t{64} << 10;
  static constexpr std::size_t record_max = 128;  // Without text.

  EventLogWriter(std::string path, int file) : path_(std::move(path)), file_(file) {}
  std::uint32_t number_of(const char* call, std::int64_t at_ns);
  void begin(EventKind kind, std::int64_t at_ns, std::size_t text_size = 0);
  void put(std::uint64_t value);
  void put_signed(std::int64_t value);
  void put_text(std::string_view text);
  void write(const char* data, std::size_t size);

  std::string path_;
  int file_;
  std::string block_;
  std::int64_t last_ns_ = 0, flushed_ns_ = 0;
  std::uint64_t records_ = 0;
  std::unordered_map<const char*, std::uint32_t> numbers_;
  std::string problem_;
};

class EventLogReader {
 public:
  static Result<EventLogReader> open(const std::string& path);

  const EventLogStart& start() const { return start_; }
  // The names that have occurred so far, by number.
  const std::vector<std::string>& names() const { return names_; }
  // Reads the next event that is neither a name nor the end. Returns false at the end of the file;
  // whole() says whether the rank finished its log. Returns an error if the file is damaged.
  Result<bool> next(LoggedEvent& out);
  bool whole() const { return whole_; }

 private:
  explicit EventLogReader(std::string path);
  Error damaged() const;
  bool read_block();  // Returns false if the file ends here or in the middle of a block.
  bool take(std::uint64_t& value);
  bool take_signed(std::int64_t& value);
  template <typename Number>
  bool take_small(Number& value);
  bool take_text(std::string& text);
  bool take_message(LoggedMessage& message);
  bool take_start();
  bool take_name();
  bool take_event(EventKind kind, LoggedEvent& out);

  std::string path_;
  std::unique_ptr<std::ifstream> file_;
  std::string block_;
  std::size_t at_ = 0;
  bool bad_sum_ = false, whole_ = false;
  EventLogStart start_;
  std::vector<std::string> names_;
  std::int64_t last_ns_ = 0;
  std::uint64_t records_ = 0;
};

}  // namespace weft
