// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include <weft/base/check.hpp>
#include <weft/real/wire/registration_cache.hpp>

namespace weft::wire {

namespace {

// Whole pages are registered: cards do not know smaller ones, and neighbours in a page find it.
constexpr std::uintptr_t page = 4096;

std::byte* page_begin(std::byte* data) {
  return data - reinterpret_cast<std::uintptr_t>(data) % page;
}

std::byte* page_end(std::byte* end) {
  const std::uintptr_t beyond = reinterpret_cast<std::uintptr_t>(end) % page;
  return beyond == 0 ? end : end + (page - beyond);
}

}  // namespace

RegistrationCache::RegistrationCache(Registrar& registrar, Limits limits)
    : registrar_(registrar), limits_(limits) {}

RegistrationCache::~RegistrationCache() {
  spoil_all();
}

void RegistrationCache::shut(Entry& entry) {
  if (!std::exchange(entry.open, false)) return;
  registrar_.close(entry);
  use_.bytes -= entry.size;
  --use_.count;
}

RegistrationCache::Index::iterator RegistrationCache::first_touching(const std::byte* begin) {
  auto at = index_.upper_bound(begin);
  if (at == index_.begin()) return at;
  const auto before = std::prev(at);
  return before->second->data + before->second->size > begin ? before : at;
}

// Out of the index: an unused one is closed, the rest when it is released.
RegistrationCache::Index::iterator RegistrationCache::hide(Index::iterator at) {
  std::unique_ptr<Entry> entry = std::move(at->second);
  const auto next = index_.erase(at);
  entry->found = false;
  if (entry->users == 0) {
    idle_.erase(entry->idle);
    shut(*entry);
  } else {
    const Entry* const name = entry.get();
    hidden_[name] = std::move(entry);
  }
  return next;
}

bool RegistrationCache::evict() {
  if (idle_.empty()) return false;
  hide(index_.find(idle_.front()->data));
  ++use_.evictions;
  return true;
}

void RegistrationCache::trim(std::size_t wanted) {
  while ((use_.bytes + wanted > limits_.bytes || use_.count >= limits_.count) && evict()) {
  }
}

RegistrationCache::Entry* RegistrationCache::find(const std::byte* data, std::size_t size) {
  const auto at = first_touching(data);
  if (at == index_.end()) return nullptr;
  Entry& entry = *at->second;
  const bool covers = entry.data <= data && data + size <= entry.data + entry.size;
  // If we are not told when memory is given back, only what is in use is known to be there: all
  // users of such an entry use all of it.
  const bool same = entry.data == data && entry.size == size;
  return covers && (same || !entry.passing) ? &entry : nullptr;
}

// The system may refuse because too much is registered already.
RegistrationCache::Entry* RegistrationCache::make(std::byte* data, std::size_t size) {
  auto entry = std::make_unique<Entry>();
  entry->data = data;
  entry->size = size;
  trim(size);
  while (!registrar_.open(*entry)) {
    if (!evict()) return nullptr;
  }
  use_.bytes += size;
  ++use_.count;
  Entry* const made = entry.get();
  hidden_[made] = std::move(entry);
  return made;
}

void RegistrationCache::enter(Entry* entry) {
  entry->found = true;
  auto owner = hidden_.extract(entry);
  index_[entry->data] = std::move(owner.mapped());
}

RegistrationCache::Entry* RegistrationCache::make_passing(std::byte* data, std::size_t size) {
  Entry* const made = make(data, size);
  if (made == nullptr) return nullptr;
  made->users = 1;
  made->passing = true;
  const auto at = first_touching(data);
  const bool free = at == index_.end() || at->second->data >= data + size;
  if (free) enter(made);
  return made;
}

const Registration* RegistrationCache::get(std::byte* data, std::size_t size, bool keep) {
  if (Entry* const found = find(data, size)) {
    ++use_.hits;
    if (found->users++ == 0) idle_.erase(found->idle);
    return found;
  }
  ++use_.misses;
  if (!keep || size > limits_.bytes) return make_passing(data, size);
  // One entry for this range and all that overlap it, unless that becomes too large.
  std::byte* begin = page_begin(data);
  std::byte* end = page_end(data + size);
  std::byte* whole_begin = begin;
  std::byte* whole_end = end;
  for (auto at = first_touching(begin); at != index_.end() && at->second->data < end;
       at = hide(at)) {
    whole_begin = std::min(whole_begin, at->second->data);
    whole_end = std::max(whole_end, at->second->data + at->second->size);
  }
  if (static_cast<std::size_t>(whole_end - whole_begin) <= limits_.bytes / 2) {
    begin = whole_begin;
    end = whole_end;
  }
  Entry* const made = make(begin, static_cast<std::size_t>(end - begin));
  if (made == nullptr) return nullptr;
  made->users = 1;
  enter(made);
  return made;
}

void RegistrationCache::release(const Registration* registration) {
  const auto at = hidden_.find(registration);
  Entry* entry = nullptr;
  if (at != hidden_.end()) {
    entry = at->second.get();
  } else {
    const auto found = index_.find(registration->data);
    WEFT_CHECK(found != index_.end() && found->second.get() == registration);
    entry = found->second.get();
  }
  WEFT_CHECK(entry->users > 0);
  if (--entry->users > 0) return;
  if (!entry->found) {
    shut(*entry);
    hidden_.erase(at);
    return;
  }
  entry->idle = idle_.insert(idle_.end(), entry);
  if (entry->passing) hide(index_.find(entry->data));
  if (use_.bytes > limits_.bytes || use_.count > limits_.count) trim(0);
}

void RegistrationCache::spoil(const Registration* registration) {
  if (const auto at = hidden_.find(registration); at != hidden_.end()) {
    shut(*at->second);
    return;
  }
  const auto found = index_.find(registration->data);
  WEFT_CHECK(found != index_.end() && found->second.get() == registration);
  shut(*found->second);
  hide(found);
}

void RegistrationCache::spoil_all() {
  for (auto at = index_.begin(); at != index_.end();) {
    shut(*at->second);
    at = hide(at);
  }
  for (auto& [name, entry] : hidden_) shut(*entry);
}

void RegistrationCache::forget(const std::byte* begin, const std::byte* end) {
  auto at = first_touching(begin);
  while (at != index_.end() && at->second->data < end) at = hide(at);
}

void RegistrationCache::forget_all() {
  for (auto at = index_.begin(); at != index_.end();) at = hide(at);
}

}  // namespace weft::wire
