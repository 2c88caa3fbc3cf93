// SPDX-License-Identifier: Apache-2.0
// Merges the output of many ranks into one stream without breaking lines.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include <weft/base/nonblocking_output.hpp>
#include <weft/real/launch/clock.hpp>

namespace weft::launch {

class Printer {
 public:
  // Hears of text as it is printed: rank, stream, text in any pieces.
  using Listener = std::function<void(std::uint32_t, int, std::string_view)>;
  // With `label` each line begins with [rank].
  Printer(int descriptor, bool label, Listener listener = {})
      : output_(descriptor), label_(label), listener_(std::move(listener)) {}

  void add(std::uint32_t rank, std::string_view bytes);
  // The rank will print no more; flushes its partial line.
  void end(std::uint32_t rank);
  void end_all();

  // Prints a message of our own: one whole line, at once.
  void say(std::string_view line);

  // Moves lines that are due to the output.
  void pump();
  // When pump() must be called again if nothing else arrives.
  Deadline next() const;
  int descriptor() const { return output_.descriptor(); }
  bool writing() const { return !out_.empty(); }
  // Call when poll() reports room. Returns false if the reader is gone; from then on everything is
  // dropped.
  bool write_now();
  std::size_t backlog() const { return out_.size() + waiting_; }

  // From now on text of ranks is dropped while this much waits for the reader.
  void keep_at_most(std::size_t backlog) { kept_max_ = backlog; }
  // Drops all that waits for the reader.
  void give_up();
  // Bytes of ranks that were dropped; the listener has heard them.
  std::size_t dropped() const { return dropped_; }

 private:
  struct Line {
    std::string text;
    std::int64_t touched_ms = 0;
  };
  void put(std::uint32_t rank, Line& line, std::size_t size);
  void put_labelled(std::uint32_t rank, std::string_view text);
  void let_out(std::uint32_t rank, Line& line);

  NonblockingOutput output_;
  const bool label_;
  const Listener listener_;
  bool closed_ = false;
  std::map<std::uint32_t, Line> lines_;  // Pending text, by rank.
  std::size_t waiting_ = 0;              // Total size of pending text.
  std::string out_;
  std::size_t kept_max_ = std::numeric_limits<std::size_t>::max();
  std::size_t dropped_ = 0;
  // The rank that has printed a partial line (a prompt, say) and may continue it; others wait a
  // while.
  static constexpr std::uint32_t nobody = 0xffffffffu;
  std::uint32_t open_ = nobody;
  std::int64_t opened_ms_ = 0;
};

}  // namespace weft::launch
