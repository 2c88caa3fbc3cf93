// SPDX-License-Identifier: Apache-2.0
#include "weft/real/launch/frame.hpp"

#include <utility>

#include <weft/base/check.hpp>

namespace weft::launch {
namespace {

constexpr std::size_t head_size = 5;  // Length of kind and body, then kind.
constexpr std::size_t greeting_size_max = 64 << 10;

void put(std::string& out, std::uint64_t value, std::size_t size) {
  for (std::size_t i = 0; i < size; ++i) out += static_cast<char>(value >> (8 * i) & 0xff);
}

std::uint64_t get(std::string_view bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i)
    value |= std::uint64_t{static_cast<unsigned char>(bytes[i])} << (8 * i);
  return value;
}

}  // namespace

void FieldWriter::number(std::uint64_t value) {
  put(bytes_, value, 8);
}

void FieldWriter::text(std::string_view value) {
  number(value.size());
  bytes_ += value;
}

void FieldWriter::texts(const std::vector<std::string>& values) {
  number(values.size());
  for (const std::string& value : values) text(value);
}

std::string_view FieldReader::take(std::uint64_t size) {
  if (size > rest_.size()) {
    broken_ = true;
    rest_ = {};
    return {};
  }
  const std::string_view taken = rest_.substr(0, size);
  rest_.remove_prefix(size);
  return taken;
}

std::uint8_t FieldReader::byte() {
  return static_cast<std::uint8_t>(get(take(1)));
}

std::uint64_t FieldReader::number() {
  return get(take(8));
}

std::uint32_t FieldReader::number_up_to(std::uint32_t max) {
  const std::uint64_t value = number();
  if (value <= max) return static_cast<std::uint32_t>(value);
  broken_ = true;
  return 0;
}

std::string FieldReader::text() {
  return std::string(take(number()));
}

std::vector<std::string> FieldReader::texts() {
  const std::uint64_t count = number();
  std::vector<std::string> values;
  // Each item has a length of 8 bytes, so a wrong count cannot make us reserve much.
  if (count > rest_.size() / 8) broken_ = true;
  for (std::uint64_t i = 0; i < count && !broken_; ++i) values.push_back(text());
  return values;
}

void append_frame(std::string& stream, std::uint8_t kind, std::string_view body) {
  WEFT_CHECK(body.size() < frame_size_max);
  put(stream, body.size() + 1, 4);
  put(stream, kind, 1);
  stream += body;
}

Result<bool> FrameReader::skip_to_start() {
  const std::size_t at = bytes_.find(start_);
  if (at != std::string::npos) {
    used_ = at + start_.size();
    start_.clear();
    return true;
  }
  if (bytes_.size() > greeting_size_max) return Error(Broken::peer, "the stream does not begin");
  return false;
}

Result<bool> FrameReader::next(Frame& out) {
  if (!start_.empty()) {
    auto found = skip_to_start();
    if (!found || !*found) return found;
  }
  const std::string_view rest = std::string_view(bytes_).substr(used_);
  if (rest.size() < 4) return false;
  const std::uint64_t size = get(rest.substr(0, 4));
  if (size == 0 || size > frame_size_max)
    return Error(Broken::peer, "a frame of " + std::to_string(size) + " bytes cannot be");
  if (rest.size() < size + 4) return false;
  out.kind = static_cast<std::uint8_t>(rest[4]);
  out.body.assign(rest.substr(head_size, size - 1));
  used_ += size + 4;
  // Compacts only now and then: many small frames may arrive at once.
  if (used_ == bytes_.size() || used_ > (1u << 16)) {
    bytes_.erase(0, used_);
    used_ = 0;
  }
  return true;
}

}  // namespace weft::launch
