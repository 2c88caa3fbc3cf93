// SPDX-License-Identifier: Apache-2.0
// Messages between the processes of a launcher: fields in a body, bodies in frames of a stream.
// Little endian on every machine. Input is never trusted: a reader that runs out of bytes records
// the error and returns zeros, and a frame longer than the limit ends the stream.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <weft/base/result.hpp>

namespace weft::launch {

class FieldWriter {
 public:
  void byte(std::uint8_t value) { bytes_ += static_cast<char>(value); }
  void number(std::uint64_t value);
  void text(std::string_view value);
  void texts(const std::vector<std::string>& values);
  std::string take() { return std::move(bytes_); }
  std::size_t size() const { return bytes_.size(); }

 private:
  std::string bytes_;
};

class FieldReader {
 public:
  explicit FieldReader(std::string_view bytes) : rest_(bytes) {}

  std::uint8_t byte();
  std::uint64_t number();
  // A number greater than `max` counts as an error.
  std::uint32_t number_up_to(std::uint32_t max);
  std::string text();
  std::vector<std::string> texts();
  bool empty() const { return rest_.empty(); }
  bool broken() const { return broken_; }
  // All fields were present and nothing follows.
  bool whole() const { return !broken_ && rest_.empty(); }

 private:
  std::string_view take(std::uint64_t size);
  std::string_view rest_;
  bool broken_ = false;
};

struct Frame {
  std::uint8_t kind = 0;
  std::string body;
};

// The longest frame is a job description with the user's environment.
constexpr std::size_t frame_size_max = std::size_t{16} << 20;

// REQUIRES: the body is shorter than frame_size_max.
void append_frame(std::string& stream, std::uint8_t kind, std::string_view body);

// Splits a stream into frames, however its bytes arrive.
class FrameReader {
 public:
  // Skips everything before `start`: a remote shell may print a greeting first.
  explicit FrameReader(std::string start = {}) : start_(std::move(start)) {}

  void add(const char* data, std::size_t size) { bytes_.append(data, size); }
  // Returns false if no frame is complete yet. After an error the stream is unusable.
  Result<bool> next(Frame& out);
  // Whether part of a frame has arrived.
  bool in_frame() const { return used_ < bytes_.size(); }

 private:
  Result<bool> skip_to_start();
  std::string start_;
  std::string bytes_;
  std::size_t used_ = 0;
};

}  // namespace weft::launch
