// SPDX-License-Identifier: Apache-2.0
// Converts values to bytes and back, between processes of one program on machines of one kind.
#pragma once  // Public only for histogram.hpp: no promise beyond what that one needs.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <weft/base/check.hpp>

namespace weft {

class Packer {
 public:
  template <typename T>
  void put(const T& value) {
    static_assert(std::is_trivially_copyable_v<T> && !std::is_pointer_v<T>);
    put_bytes(&value, sizeof value);
  }
  void put_bytes(const void* data, std::size_t size);
  template <typename T>
  void put_list(std::span<const T> list) {
    static_assert(std::is_trivially_copyable_v<T>);
    put(std::uint64_t{list.size()});
    if (!list.empty()) put_bytes(list.data(), list.size_bytes());
  }
  template <typename T>
  void put_list(const std::vector<T>& list) {
    put_list(std::span<const T>(list));
  }
  void put_text(std::string_view text) { put_list(std::span<const char>(text)); }

  bool empty() const { return bytes_.empty(); }
  std::size_t size() const { return bytes_.size(); }
  // Returns the bytes put so far and leaves the packer empty.
  std::vector<std::byte> take() {
    std::vector<std::byte> taken;
    taken.swap(bytes_);
    return taken;
  }

 private:
  std::vector<std::byte> bytes_;
};

// REQUIRES: values are taken in the order of put(); ends the process if the bytes run out.
class Unpacker {
 public:
  explicit Unpacker(std::span<const std::byte> bytes) : rest_(bytes) {}

  bool empty() const { return rest_.empty(); }
  template <typename T>
  T take() {
    static_assert(std::is_trivially_copyable_v<T>);
    T value;
    std::memcpy(&value, take_bytes(sizeof value).data(), sizeof value);
    return value;
  }
  std::span<const std::byte> take_bytes(std::size_t size) {
    WEFT_CHECK(size <= rest_.size());
    const std::span<const std::byte> taken = rest_.first(size);
    rest_ = rest_.subspan(size);
    return taken;
  }
  template <typename T>
  std::vector<T> take_list() {
    const auto count = take<std::uint64_t>();
    WEFT_CHECK(count <= rest_.size() / sizeof(T));
    std::vector<T> list(count);
    if (count > 0)
      std::memcpy(list.data(), take_bytes(count * sizeof(T)).data(), count * sizeof(T));
    return list;
  }
  std::string take_text() {
    const auto size = take<std::uint64_t>();
    const std::span<const std::byte> text = take_bytes(size);
    return {reinterpret_cast<const char*>(text.data()), text.size()};
  }

 private:
  std::span<const std::byte> rest_;
};

}  // namespace weft
