// SPDX-License-Identifier: Apache-2.0
// Large arrays of a page: compressed with zlib, written as base64, decompressed by the browser when
// a view needs them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <weft/output/report/view.hpp>

namespace weft::report {

std::string to_base64(std::string_view bytes);
std::string deflate(std::string_view bytes);

class Blocks {
 public:
  // Stores the list and returns its reference for the page's index.
  template <typename T>
  Json add(std::span<const T> list, std::vector<std::size_t> shape) {
    static_assert(std::is_same_v<T, std::uint8_t> || std::is_same_v<T, std::uint32_t> ||
                  std::is_same_v<T, float>);
    constexpr const char* type = std::is_same_v<T, float> ? "f32" : sizeof(T) == 1 ? "u8" : "u32";
    return add({reinterpret_cast<const char*>(list.data()), list.size_bytes()}, type,
               std::move(shape));
  }
  template <typename T>
  Json add(const std::vector<T>& list) {
    return add(std::span<const T>(list), {list.size()});
  }

  const std::vector<std::string>& texts() const { return texts_; }  // As base64.
  std::size_t bytes() const { return bytes_; }                      // Total size of all texts.

 private:
  Json add(std::string_view bytes, const char* type, std::vector<std::size_t> shape);
  std::vector<std::string> texts_;
  std::size_t bytes_ = 0;
};

}  // namespace weft::report
