// SPDX-License-Identifier: Apache-2.0
// What ranks print. Every line is kept with its rank and moment, and shown in that order: the same
// text for any number of workers, and lines of different ranks never mix.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

#include <weft/base/units.hpp>
#include <weft/message/port/fabric.hpp>
#include <weft/parallel/processes/peers.hpp>

namespace weft {

class Console {
 public:
  Console(std::uint32_t ranks, bool label);
  ~Console();
  Console(const Console&) = delete;
  Console& operator=(const Console&) = delete;

  // Takes over stdout and stderr of the process, C and C++; Fortran's through write().
  void take_over();
  void give_back();

  // From a rank. stream: 1 or 2.
  void print(RankId rank, Time now, int stream, std::string_view text);
  // Unfinished lines of a rank that has ended.
  void end(RankId rank, Time now);
  // Shows everything printed up to and including `until`, in order. Between runs.
  void show(Time until);
  // All processes make this call: what they have up to `until` is process 0's from now on.
  void bring_together(Peers& peers, Time until);
  // The same from a handler of a crash: as much as can still be shown.
  void show_after_crash(Time until);
  // Forgets what was printed after `until`.
  void drop_after(Time until);

  static Console* current() { return current_; }
  // For who stands in for write(): text of whoever runs on this thread. False: not a rank's.
  static bool offer_text(int stream, const char* text, std::size_t size);
  // To the process's own stream, past everyone who stands in.
  static ssize_t raw_write(int stream, const char* text, std::size_t size);

 private:
  struct Line {
    Time at;
    std::uint32_t rank = 0;
    std::uint32_t number = 0;
    int stream = 1;
    std::string text;
  };
  struct Pending {  // Of a rank; made when it first prints.
    std::string text[2];
    std::uint32_t lines = 0;
  };
  void add(Pending& pending, RankId rank, Time now, int stream);

  const bool label_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Pending>> pending_;  // By rank.
  std::vector<Line> lines_;
  struct Streams;
  std::unique_ptr<Streams> streams_;
  static Console* current_;
};

}  // namespace weft
