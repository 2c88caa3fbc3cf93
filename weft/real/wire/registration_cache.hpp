// SPDX-License-Identifier: Apache-2.0
// Memory that a card can reach, kept registered between messages, because registering costs more
// than sending some kilobytes. Entries that can be found never overlap; what is in use is never
// evicted; what the program has given back to the system is found no more.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <memory>

namespace weft::wire {

struct Registration {
  std::byte* data = nullptr;
  std::size_t size = 0;
  void* handle = nullptr;
  std::uint64_t key = 0;
  std::uint64_t base = 0;  // What peers call its first byte.
  bool open = true;        // false: closed before its time; peers cannot use it any more.
};

// Makes registrations: a card, or a test.
class Registrar {
 public:
  virtual ~Registrar() = default;
  // Fills in handle, key and base. false: the system refuses.
  virtual bool open(Registration& registration) = 0;
  virtual void close(const Registration& registration) = 0;
};

class RegistrationCache {
 public:
  struct Limits {
    std::size_t bytes = std::size_t{1} << 30;
    std::size_t count = 1024;
  };
  struct Use {
    std::uint64_t hits = 0, misses = 0, evictions = 0;
    std::size_t bytes = 0, count = 0;  // Registered now, in use or not.
  };
  RegistrationCache(Registrar& registrar, Limits limits);
  RegistrationCache(const RegistrationCache&) = delete;
  RegistrationCache& operator=(const RegistrationCache&) = delete;
  ~RegistrationCache();

  // Covers the range, and stays registered until it is released. `keep`: we would hear of it if the
  // program gave this memory back, so that it may be found again later; otherwise it is shared
  // only between concurrent users of the same range. Null: refused.
  const Registration* get(std::byte* data, std::size_t size, bool keep);
  void release(const Registration* registration);
  // Closes it at once, even if it is in use.
  void spoil(const Registration* registration);
  void spoil_all();
  // The program has given the range back: what touches it is found no more, and closed as soon as
  // it is unused.
  void forget(const std::byte* begin, const std::byte* end);
  void forget_all();

  const Use& use() const { return use_; }

 private:
  struct Entry : Registration {
    std::uint32_t users = 0;
    bool found = false;                // Stands in the index.
    bool passing = false;              // Only for as long as somebody uses it.
    std::list<Entry*>::iterator idle;  // Its place among the unused ones.
  };
  using Index = std::map<const std::byte*, std::unique_ptr<Entry>>;

  Entry* find(const std::byte* data, std::size_t size);
  Entry* make(std::byte* data, std::size_t size);
  Entry* make_passing(std::byte* data, std::size_t size);
  void enter(Entry* entry);
  void shut(Entry& entry);
  Index::iterator hide(Index::iterator at);
  bool evict();
  void trim(std::size_t wanted);
  Index::iterator first_touching(const std::byte* begin);

  Registrar& registrar_;
  Limits limits_;
  Use use_;
  Index index_;                                                   // By the first byte.
  std::map<const Registration*, std::unique_ptr<Entry>> hidden_;  // In use, and not to be found.
  std::list<Entry*> idle_;  // In the index and unused; the longest idle first.
};

}  // namespace weft::wire
