// SPDX-License-Identifier: Apache-2.0
// Memory of the simulation core: large zeroed tables.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <new>
#include <utility>
#include <vector>

#include <sys/mman.h>

#include <weft/simulate/router/index.hpp>

namespace weft::detail {

// Zeroed memory that costs nothing until touched, in huge pages: with small pages the tables of a
// large network would miss in the TLB all the time.
template <typename T, typename I = std::size_t>
class LazyArray {
 public:
  LazyArray() = default;
  explicit LazyArray(std::size_t count) : size_(count) {
    if (count == 0) return;
    void* const memory = mmap(nullptr, bytes(), PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    madvise(memory, bytes(), MADV_HUGEPAGE);
    data_ = static_cast<T*>(memory);
  }
  LazyArray(LazyArray&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  LazyArray& operator=(LazyArray&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }
  ~LazyArray() {
    if (data_ != nullptr) munmap(data_, bytes());
  }

  T& operator[](I i) { return data_[position(i)]; }
  const T& operator[](I i) const { return data_[position(i)]; }
  T* begin() { return data_; }
  T* end() { return data_ + size_; }
  const T* begin() const { return data_; }
  const T* end() const { return data_ + size_; }
  std::size_t size() const { return size_; }
  std::size_t bytes() const { return size_ * sizeof(T); }

 private:
  T* data_ = nullptr;
  std::size_t size_ = 0;
};

// A std::vector that is indexed by an index type of its own.
template <typename T, typename I>
class Table {
 public:
  void assign(std::size_t count, const T& value) { items_.assign(count, value); }
  void resize(std::size_t count) { items_.resize(count); }
  T& operator[](I i) { return items_[position(i)]; }
  const T& operator[](I i) const { return items_[position(i)]; }
  auto begin() { return items_.begin(); }
  auto end() { return items_.end(); }
  auto begin() const { return items_.begin(); }
  auto end() const { return items_.end(); }
  std::size_t size() const { return items_.size(); }
  std::size_t bytes() const { return items_.size() * sizeof(T); }

 private:
  std::vector<T> items_;
};

}  // namespace weft::detail
