// SPDX-License-Identifier: Apache-2.0
// Objects behind the handles of one rank. Memory is kept until the pool ends, so that any value
// that a program passes as a handle can be classified: freed, never created, or a live object.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <utility>
#include <vector>

namespace weft::mpi {

// Predefined handles are integers below this; objects in a pool have greater numbers in Fortran.
inline constexpr std::uintptr_t first_free_handle = 4096;

// Most ranks have few objects, and there are up to a million ranks: the first chunk of memory holds
// `first_chunk` objects, each other one as many as all before it.
template <typename T, std::uint32_t first_chunk = 1>
class Pool {
 public:
  Pool() = default;
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;
  ~Pool() {
    for (std::uint32_t i = 0; i < made_; ++i) {
      Slot& slot = at(i);
      if (slot.alive) slot.object()->~T();
    }
  }

  template <typename... Arguments>
  T* make(Arguments&&... arguments) {
    Slot* slot = free_;
    if (slot) {
      free_ = slot->next_free();
    } else {
      slot = &grow();
    }
    T* object = new (slot->storage) T{std::forward<Arguments>(arguments)...};
    slot->alive = true;
    ++alive_;
    return object;
  }

  void free(T* object) {
    Slot* slot = reinterpret_cast<Slot*>(object);
    object->~T();
    slot->alive = false;
    slot->set_next_free(free_);
    free_ = slot;
    --alive_;
  }

  // The live object at this address, or null. `handle` may be anything.
  T* find(const void* handle) const {
    const Slot* slot = locate(handle).first;
    return slot && slot->alive ? const_cast<Slot*>(slot)->object() : nullptr;
  }

  // Handles as small integers, for Fortran.
  int number(const T* object) const {
    return static_cast<int>(first_free_handle + locate(object).second);
  }
  T* numbered(int number) const {
    const std::uintptr_t index = static_cast<std::uintptr_t>(number) - first_free_handle;
    if (index >= made_) return nullptr;
    const Slot& slot = at(static_cast<std::uint32_t>(index));
    return slot.alive ? const_cast<Slot&>(slot).object() : nullptr;
  }

  std::uint32_t alive() const { return alive_; }

  // Objects stay where they are in memory.
  void swap(Pool& other) noexcept {
    chunks_.swap(other.chunks_);
    std::swap(free_, other.free_);
    std::swap(made_, other.made_);
    std::swap(alive_, other.alive_);
  }

  template <typename Visit>
  void for_each(Visit visit) {
    for (std::uint32_t i = 0; i < made_; ++i) {
      if (at(i).alive) visit(*at(i).object());
    }
  }

 private:
  struct Slot {
    alignas(std::max(alignof(T),
                     alignof(void*))) std::byte storage[std::max(sizeof(T), sizeof(void*))];
    bool alive = false;
    T* object() { return std::launder(reinterpret_cast<T*>(storage)); }
    // A slot without an object holds the next free slot.
    Slot* next_free() const {
      Slot* next = nullptr;
      std::memcpy(&next, storage, sizeof(void*));
      return next;
    }
    void set_next_free(Slot* next) { std::memcpy(storage, &next, sizeof(void*)); }
  };

  static std::uint32_t chunk_size(std::size_t chunk) {
    return chunk == 0 ? first_chunk : first_chunk << (chunk - 1);
  }
  static std::uint32_t chunk_start(std::size_t chunk) {
    return chunk == 0 ? 0 : first_chunk << (chunk - 1);
  }
  static std::size_t chunk_of(std::uint32_t index) {
    return static_cast<std::size_t>(std::bit_width(index / first_chunk));
  }

  Slot& at(std::uint32_t index) const {
    const std::size_t chunk = chunk_of(index);
    return chunks_[chunk][index - chunk_start(chunk)];
  }

  Slot& grow() {
    const std::size_t chunk = chunk_of(made_);
    if (chunk == chunks_.size()) chunks_.push_back(std::make_unique<Slot[]>(chunk_size(chunk)));
    return at(made_++);
  }

  std::pair<const Slot*, std::uint32_t> locate(const void* handle) const {
    const auto address = reinterpret_cast<std::uintptr_t>(handle);
    for (std::size_t chunk = 0; chunk < chunks_.size(); ++chunk) {
      const std::uintptr_t offset =
          address - reinterpret_cast<std::uintptr_t>(chunks_[chunk].get());
      if (offset >= chunk_size(chunk) * sizeof(Slot)) continue;
      if (offset % sizeof(Slot) != 0) return {nullptr, 0};
      const auto index = static_cast<std::uint32_t>(offset / sizeof(Slot));
      return {&chunks_[chunk][index], chunk_start(chunk) + index};
    }
    return {nullptr, 0};
  }

  std::vector<std::unique_ptr<Slot[]>> chunks_;
  Slot* free_ = nullptr;
  std::uint32_t made_ = 0, alive_ = 0;
};

// A pool that most ranks never use: until then it is a pointer.
template <typename T>
class RarePool {
 public:
  template <typename... Arguments>
  T* make(Arguments&&... arguments) {
    if (pool_ == nullptr) pool_ = std::make_unique<Pool<T>>();
    return pool_->make(std::forward<Arguments>(arguments)...);
  }
  void free(T* object) { pool_->free(object); }
  T* find(const void* handle) const { return pool_ == nullptr ? nullptr : pool_->find(handle); }
  int number(const T* object) const { return pool_->number(object); }
  T* numbered(int number) const { return pool_ == nullptr ? nullptr : pool_->numbered(number); }
  std::uint32_t alive() const { return pool_ == nullptr ? 0 : pool_->alive(); }
  void swap(RarePool& other) noexcept { pool_.swap(other.pool_); }
  template <typename Visit>
  void for_each(Visit visit) {
    if (pool_ != nullptr) pool_->for_each(visit);
  }

 private:
  std::unique_ptr<Pool<T>> pool_;
};

}  // namespace weft::mpi
