// SPDX-License-Identifier: Apache-2.0
// What the readers of all traffic formats share: a text taken apart in place, numbers with reasons
// when they are none, and the flows as they come. Inside this module only.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <weft/base/result.hpp>
#include <weft/workload/patterns/traffic_file.hpp>

namespace weft::detail {

// Numbered from 1, without line ends.
class TextLines {
 public:
  explicit TextLines(std::string_view text) : rest_(text) {}
  bool next();
  std::string_view line() const { return line_; }
  int number() const { return number_; }

 private:
  std::string_view rest_;
  std::string_view line_;
  int number_ = 0;
};

// Takes the next word off the front; empty when there is none.
std::string_view take_word(std::string_view& rest);

// As it may stand in a message: short, and in one line.
std::string shown(std::string_view word);

bool equals_ignoring_case(std::string_view a, std::string_view b);

// A whole number, or why it is none: "'x' is not a rank".
Result<std::uint64_t> parse_count(std::string_view word, std::string_view noun);

// "2048", "2.5e6" (rounded) or "64KiB".
Result<std::uint64_t> parse_weight(std::string_view word);

class TrafficFlows {
 public:
  // Room for as many flows as the text has lines.
  TrafficFlows(const TrafficReading& how, std::string_view text);

  // The file itself says how many there are.
  Status declare(std::uint64_t ranks);
  bool is_declared() const { return declared_ != 0; }
  Status add(std::uint64_t from, std::uint64_t to, std::uint64_t bytes, std::uint64_t messages);
  // Without a count of messages: one, or none where nothing is sent.
  Status add(std::uint64_t from, std::uint64_t to, std::uint64_t bytes) {
    return add(from, to, bytes, bytes == 0 ? 0 : 1);
  }
  Result<TrafficMatrix> finish() &&;

 private:
  Error beyond(std::uint64_t rank) const;

  std::uint32_t asked_;
  std::uint32_t declared_ = 0;
  std::uint64_t limit_;  // The least of what may bound a rank.
  std::uint64_t used_ = 0;
  std::uint64_t bytes_ = 0, messages_ = 0;
  std::vector<Flow> flows_;
};

// The first line that is neither empty nor a comment with '#', as most formats have them.
std::string_view first_words(std::string_view text);

}  // namespace weft::detail
