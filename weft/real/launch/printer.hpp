// SPDX-License-Identifier: Apache-2.0
// What many ranks print, as one stream in which lines stay whole.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include <weft/real/launch/clock.hpp>

namespace weft::launch {

class Printer {
 public:
  // With `label` each line begins with [rank].
  Printer(int descriptor, bool label) : descriptor_(descriptor), label_(label) {}

  void add(std::uint32_t rank, std::string_view bytes);
  // It will print no more; what it left open comes out.
  void end(std::uint32_t rank);
  void end_all();

  // A word of our own: one whole line, at once.
  void say(std::string_view line);

  // Lets out what may come out by now.
  void pump();
  // When pump() has more to let out, if nothing else comes.
  Deadline next() const;
  int descriptor() const { return descriptor_; }
  bool writing() const { return !out_.empty(); }
  // When poll() finds room. False: nobody reads any more; from then on everything is dropped.
  bool write_now();
  std::size_t backlog() const { return out_.size() + waiting_; }

 private:
  struct Line {
    std::string text;
    std::int64_t touched_ms = 0;
  };
  void put(std::uint32_t rank, Line& line, std::size_t size);
  void put_labelled(std::uint32_t rank, std::string_view text);
  void let_out(std::uint32_t rank, Line& line);

  const int descriptor_;
  const bool label_;
  bool closed_ = false;
  std::map<std::uint32_t, Line> lines_;  // What has not come out yet, by rank.
  std::size_t waiting_ = 0;              // In all of them.
  std::string out_;
  // The rank that has printed a part of a line (a prompt, say) and may go on; others wait a while.
  static constexpr std::uint32_t nobody = 0xffffffffu;
  std::uint32_t open_ = nobody;
  std::int64_t opened_ms_ = 0;
};

}  // namespace weft::launch
