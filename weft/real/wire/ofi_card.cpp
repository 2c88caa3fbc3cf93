// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <utility>

#include <weft/base/text.hpp>
#include <weft/real/wire/handshake.hpp>
#include <weft/real/wire/ofi_card.hpp>

namespace weft::wire {

namespace {

OfiName name_of(const OfiPlace& place) {
  OfiName name = {};
  std::snprintf(name.provider, sizeof name.provider, "%s", place.provider.c_str());
  std::snprintf(name.domain, sizeof name.domain, "%s", place.domain.c_str());
  std::snprintf(name.fabric, sizeof name.fabric, "%s", place.fabric.c_str());
  return name;
}

// "lose=15,sources"
OfiTrial read_trial() {
  OfiTrial trial;
  const char* const text = std::getenv("WEFT_RDMA_TRIAL");
  for (const std::string_view word : split(text == nullptr ? "" : text, ',')) {
    const std::size_t equals = word.find('=');
    const std::string_view name = word.substr(0, equals);
    std::uint64_t number = 0;
    if (equals != std::string_view::npos) {
      std::from_chars(word.data() + equals + 1, word.data() + word.size(), number);
    }
    if (name == "lose") trial.lose_at = number;
    if (name == "refuse") trial.refuse_at = number;
    if (name == "flush") trial.flush = true;
    if (name == "sources") trial.sources = true;
  }
  return trial;
}

}  // namespace

OfiCard::OfiCard(const OfiPlugin& plugin, OfiPlace place, RegistrationCache::Limits limits)
    : plugin_(plugin), place_(std::move(place)), memory_(*this, limits), trial_(read_trial()) {}

OfiCard::~OfiCard() {
  memory_.spoil_all();
  if (port_ != nullptr) plugin_.close(port_);
}

Status OfiCard::open() {
  const OfiName name = name_of(place_);
  OfiTrouble trouble = {};
  // Verbs tells that the other card has the data, not that its processor sees it.
  port_ = plugin_.open(&name, place_.provider == "verbs" || trial_.flush, &trouble);
  if (port_ == nullptr) {
    return Error::run("rail ofi:" + place_.provider + ":" + place_.domain + ": " + trouble.text);
  }
  read_facts();
  return {};
}

void OfiCard::read_facts() {
  facts_ = plugin_.facts(port_);
  if (trial_.sources) facts_.registers_sources = true;
  std::array<char, 512> room = {};
  const std::size_t size = plugin_.address(port_, room.data(), room.size());
  address_.assign(room.data(), size);
}

void OfiCard::remove_user(OfiUser* user) {
  std::erase(users_, user);
  for (auto& [number, begun] : begun_) {
    if (begun.user == user) begun.user = nullptr;
  }
}

std::optional<std::uint64_t> OfiCard::add_peer(const std::string& address) {
  std::uint64_t peer = 0;
  if (port_ == nullptr || address.empty() ||
      !plugin_.add_peer(port_, address.data(), address.size(), &peer)) {
    return std::nullopt;
  }
  return peer;
}

// Any process that knows the key can write there: it is random where we may choose it.
bool OfiCard::open(Registration& registration) {
  if (port_ == nullptr) return false;
  OfiMemory memory = {};
  if (!plugin_.open_memory(port_, registration.data, registration.size, fresh_name(), &memory)) {
    return false;
  }
  registration.handle = memory.handle;
  registration.key = memory.key;
  registration.base = memory.base;
  return true;
}

void OfiCard::close(const Registration& registration) {
  plugin_.close_memory(registration.handle);
}

void OfiCard::write(OfiUser& user, const OfiJob& job, OfiWrite write) {
  const std::uint64_t number = next_number_++;
  begun_[number] = {&user, job};
  write.memory = job.source == nullptr ? nullptr : job.source->handle;
  write.context = reinterpret_cast<void*>(number);
  if (spoiled_by_wish(write)) return;
  plugin_.write(port_, &write);
}

bool OfiCard::spoiled_by_wish(OfiWrite& write) {
  ++writes_;
  if (writes_ == trial_.refuse_at) write.key = ~write.key;
  return writes_ == trial_.lose_at;
}

void OfiCard::finish(std::uint64_t number, bool arrived) {
  const auto found = begun_.find(number);
  if (found == begun_.end()) return;
  const Begun begun = found->second;
  if (arrived) bytes_ += begun.job.size;
  if (!arrived) ++given_up_;
  begun_.erase(found);
  if (begun.job.source != nullptr) memory_.release(begun.job.source);
  if (begun.user != nullptr) begun.user->finished(begun.job, arrived);
}

void OfiCard::poll() {
  if (port_ == nullptr) return;
  std::array<OfiDone, 16> done;
  const int count = plugin_.poll(port_, done.data(), static_cast<int>(done.size()));
  for (int i = 0; i < count; ++i) {
    const OfiDone& one = done[static_cast<std::size_t>(i)];
    finish(reinterpret_cast<std::uint64_t>(one.context), one.error == 0);
  }
}

std::string OfiCard::use_text() const {
  const RegistrationCache::Use& use = memory_.use();
  return "ofi:" + place_.provider + ":" + place_.domain + ": " + std::to_string(writes_) +
         " writes, " + std::to_string(bytes_) + " bytes, " + std::to_string(given_up_) +
         " given up, " + std::to_string(renewals_) +
         " renewals; registered: " + std::to_string(use.hits) + " hits, " +
         std::to_string(use.misses) + " misses, " + std::to_string(use.evictions) + " evictions, " +
         std::to_string(use.count) + " kept";
}

void OfiCard::renew() {
  if (port_ == nullptr) return;
  memory_.spoil_all();
  OfiTrouble trouble = {};
  if (plugin_.renew(port_, &trouble)) {
    read_facts();
  } else {
    plugin_.close(std::exchange(port_, nullptr));
    facts_.descriptor = -1;
    address_.clear();
  }
  ++renewals_;
  while (!begun_.empty()) finish(begun_.begin()->first, false);
  for (OfiUser* const user : users_) user->renewed(*this);
}

}  // namespace weft::wire
