// SPDX-License-Identifier: Apache-2.0
// Output of ranks. Every line is stored with its rank and virtual time and shown in that order: the
// text is the same for any number of workers, and lines of different ranks never mix.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include <weft/base/result.hpp>
#include <weft/base/units.hpp>
#include <weft/message/port/fabric.hpp>
#include <weft/parallel/processes/process_group.hpp>
#include <weft/program/run_record/output_log.hpp>

namespace weft {

class Console {
 public:
  Console(std::uint32_t ranks, bool label);
  ~Console();
  Console(const Console&) = delete;
  Console& operator=(const Console&) = delete;

  // Replaces stdout and stderr of the process, for C and C++; Fortran's output arrives through
  // write().
  void take_over();
  void give_back();

  // Everything that is shown also goes to a file in the record's folder.
  Status record_to(const std::string& folder);
  // Whether all of it could be written. Call after the last show().
  Status finish_record();

  // Called from a rank. `stream` is 1 or 2.
  void print(RankId rank, Time now, int stream, std::string_view text);
  // Flushes the unfinished lines of a rank that has ended.
  void end(RankId rank, Time now);
  // Shows everything printed up to and including `until`, in order. Call between runs only.
  void show(Time until);
  // Collective: moves the lines up to `until` of all processes to process 0.
  void gather(ProcessGroup& peers, Time until);
  // As show(), but from a crash handler: neither allocates nor waits for threads that may be gone.
  void show_after_crash(Time until);
  // Discards what was printed after `until`.
  void drop_after(Time until);

  static Console* current() { return current_; }
  // For replacements of write(): passes on text of whatever runs on this thread. Returns false if
  // that is not a rank.
  static bool offer_text(int stream, const char* text, std::size_t size);
  // Writes to the process's own stream, bypassing all replacements. Waits for a reader that has
  // stalled until hurry() was called; then drops what it does not take. Safe in signal handlers.
  static void write_out(int stream, std::string_view text);
  static void hurry();
  // The number of bytes that nobody has read.
  static std::uint64_t dropped();

 private:
  struct Line {
    Time at;
    std::uint32_t rank = 0;
    std::uint32_t number = 0;
    int stream = 1;
    std::string text;
  };
  struct Pending {  // Lines of a rank; created when it first prints.
    std::string text[2];
    std::uint32_t lines = 0;
  };
  void add(Pending& pending, RankId rank, Time now, int stream);
  static bool before(const Line& a, const Line& b);

  const bool label_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Pending>> pending_;  // By rank.
  std::vector<Line> lines_;
  std::unique_ptr<OutputLog> record_;  // Null: output is not recorded.
  struct Streams;
  std::unique_ptr<Streams> streams_;
  static Console* current_;
};

}  // namespace weft
