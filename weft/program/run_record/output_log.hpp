// SPDX-License-Identifier: Apache-2.0
// What a program printed, as a file of its record: a line "time_ps rank stream text" for each line,
// in the order in which they were printed. Time is that of the line's end. The file grows while the
// program runs.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <weft/base/result.hpp>

namespace weft {

inline constexpr const char* output_log_name = "program-output.txt";

class OutputLog {
 public:
  static Result<std::unique_ptr<OutputLog>> create(const std::string& folder);
  ~OutputLog();
  OutputLog(const OutputLog&) = delete;
  OutputLog& operator=(const OutputLog&) = delete;

  // Takes text in any pieces. A line is written when it is whole, or too long to wait for its end.
  void add(std::int64_t at_ps, std::uint32_t rank, int stream, std::string_view text);
  void flush();
  // As add() and flush(), of a whole line and without allocation, for crash handlers.
  void add_after_crash(std::int64_t at_ps, std::uint32_t rank, int stream, std::string_view text);
  // Writes lines without an end, and says whether all was written. A full disk ends no run.
  Status finish();

 private:
  struct Part {
    std::int64_t at_ps = 0;
    std::string text;
  };
  using Source = std::pair<std::uint32_t, int>;  // Rank and stream.

  OutputLog(int descriptor, std::string path) : descriptor_(descriptor), path_(std::move(path)) {}
  void write_line(const Source& source, std::int64_t at_ps, std::string_view text);

  const int descriptor_;
  const std::string path_;
  std::string buffer_;
  std::map<Source, Part> parts_;  // Lines without an end so far.
  int failure_ = 0;               // errno of the first failure; from then on nothing is written.
};

}  // namespace weft
