// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include <dlfcn.h>
#include <sys/resource.h>

#include <weft/base/quantity.hpp>
#include <weft/base/signals_kept.hpp>
#include <weft/real/wire/ofi.hpp>
#include <weft/real/wire/ofi_lanes.hpp>
#include <weft/real/wire/registration_watch.hpp>

namespace weft::wire {

namespace {

constexpr const char* plugin_file = "weft-wire-ofi.so";
constexpr int most_names = 64;

Result<const OfiPlugin*> load_plugin(const std::string& folder) {
  const std::string file = (std::filesystem::path(folder) / plugin_file).string();
  std::error_code unreadable;
  if (!std::filesystem::exists(file, unreadable)) {
    return Error::run("this weft was built without RDMA ('" + file +
                      "' is missing): install libfabric-dev (Debian's name), then configure and "
                      "build weft again, or leave out rails that begin with ofi:");
  }
  void* const opened = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (opened == nullptr) {
    const char* const reason = ::dlerror();
    return Error::run(std::string("cannot load RDMA: ") + (reason != nullptr ? reason : file) +
                      "; install libfabric1 (Debian's name)");
  }
  const void* const table = ::dlsym(opened, ofi_plugin_symbol);
  if (table == nullptr) {
    return Error::run("'" + file + "' belongs to another version of weft; install weft again");
  }
  return static_cast<const OfiPlugin*>(table);
}

// What may stay registered.
Result<RegistrationCache::Limits> read_limits() {
  RegistrationCache::Limits limits;
  if (const char* const text = std::getenv("WEFT_REGISTERED_BYTES")) {
    const auto bytes = parse_bytes(text);
    if (!bytes) return Error(bytes.error()).during("WEFT_REGISTERED_BYTES");
    limits.bytes = static_cast<std::size_t>(bytes->count);
  }
  if (const char* const text = std::getenv("WEFT_REGISTERED_COUNT")) {
    const char* const end = text + std::strlen(text);
    if (std::from_chars(text, end, limits.count).ptr != end || text == end) {
      return Error::call("WEFT_REGISTERED_COUNT: '" + std::string(text) +
                         "' is no number; 0 keeps nothing registered");
    }
  }
  return limits;
}

// Real cards need their pages locked, and the system has a limit for these.
std::size_t lockable() {
  rlimit locked = {};
  if (::getrlimit(RLIMIT_MEMLOCK, &locked) != 0 || locked.rlim_cur == RLIM_INFINITY) {
    return SIZE_MAX;
  }
  return locked.rlim_cur / 4 * 3;
}

std::string list_text(std::span<const OfiName> names) {
  std::string text;
  for (const OfiName& name : names) {
    text += text.empty() ? "" : ", ";
    text += std::string("ofi:") + name.provider + ":" + name.domain;
  }
  return text.empty() ? "none" : text;
}

}  // namespace

Ofi::Ofi(const OfiPlugin& plugin) : plugin_(plugin) {}

Ofi::~Ofi() {
  if (keeps_) RegistrationWatch::disarm();
}

Result<std::unique_ptr<Ofi>> Ofi::find(std::span<const std::string> wishes,
                                       const std::string& folder) {
  const bool named = std::any_of(wishes.begin(), wishes.end(), &is_ofi_rail_name);
  if (!named && (!wishes.empty() || !hardware_likely())) return std::unique_ptr<Ofi>();
  const SignalsKept kept;
  const auto plugin = load_plugin(folder);
  if (!plugin) {
    if (!named) return std::unique_ptr<Ofi>();
    return Error(plugin.error());
  }
  std::unique_ptr<Ofi> ofi(new Ofi(**plugin));
  auto limits = read_limits();
  if (!limits) return std::move(limits).error();
  ofi->limits_ = *limits;
  if (Status chosen = ofi->choose(wishes); !chosen) return Error(chosen.error());
  if (ofi->cards_.empty()) return std::unique_ptr<Ofi>();
  return ofi;
}

void Ofi::add(const OfiName& name, bool named) {
  OfiPlace place{name.provider, name.domain, name.fabric, {}, named};
  place.speed = Rate::bit_per_s(static_cast<std::int64_t>(name.bit_per_s));
  const auto same = [&](const auto& card) {
    return card->place().provider == place.provider && card->place().domain == place.domain;
  };
  const bool there = std::any_of(cards_.begin(), cards_.end(), same);
  if (there || cards_.size() >= OfiLanes::most) return;
  RegistrationCache::Limits limits = limits_;
  if (is_hardware(place.provider)) limits.bytes = std::min(limits.bytes, lockable());
  cards_.push_back(std::make_unique<OfiCard>(plugin_, std::move(place), limits));
}

Status Ofi::grant(const std::string& wish) {
  auto parsed = parse_ofi_rail_name(wish);
  if (!parsed) return std::move(parsed).error();
  std::array<OfiName, most_names> names;
  const char* const domain = parsed->domain.empty() ? nullptr : parsed->domain.c_str();
  int count = plugin_.list(parsed->provider.c_str(), domain, names.data(), most_names);
  if (count <= 0) {
    count = std::min(plugin_.list(nullptr, nullptr, names.data(), most_names), most_names);
    return Error::call("--rails: no card '" + wish +
                       "' that takes remote writes; libfabric knows here: " +
                       list_text(std::span(names).first(static_cast<std::size_t>(count))));
  }
  for (int i = 0; i < std::min(count, most_names); ++i) {
    add(names[static_cast<std::size_t>(i)], true);
  }
  return {};
}

Status Ofi::choose(std::span<const std::string> wishes) {
  for (const std::string& wish : wishes) {
    if (!is_ofi_rail_name(wish)) continue;
    if (Status granted = grant(wish); !granted) return granted;
  }
  if (!wishes.empty()) return {};
  std::array<OfiName, most_names> names;
  const int count = std::min(plugin_.list(nullptr, nullptr, names.data(), most_names), most_names);
  // Several providers may drive the same card; libfabric lists the better one first.
  std::string chosen;
  for (int i = 0; i < count; ++i) {
    const OfiName& name = names[static_cast<std::size_t>(i)];
    if (!is_hardware(name.provider) || (!chosen.empty() && chosen != name.provider)) continue;
    chosen = name.provider;
    add(name, false);
  }
  return {};
}

std::vector<OfiPlace> Ofi::places() const {
  std::vector<OfiPlace> places;
  for (const auto& card : cards_) places.push_back(card->place());
  return places;
}

Status Ofi::open() {
  const SignalsKept kept;
  keeps_ = limits_.count > 0 && RegistrationWatch::arm();
  for (const auto& card : cards_) {
    Status opened = card->open();
    if (!opened && card->place().named) return opened;
  }
  return {};
}

std::vector<std::string> Ofi::addresses() const {
  std::vector<std::string> addresses;
  for (const auto& card : cards_) addresses.push_back(card->address());
  return addresses;
}

// First what the program has given back since: its addresses may mean other memory now.
const Registration* Ofi::hold(OfiCard& card, std::byte* data, std::size_t size) {
  MemoryRange gone;
  while (keeps_ && RegistrationWatch::next_gone(gone)) {
    for (const auto& one : cards_) one->memory().forget(gone.begin, gone.end);
  }
  return card.memory().get(data, size, keeps_ && RegistrationWatch::knows(data, data + size));
}

void Ofi::unshare(std::uint64_t region) {
  const auto found = shared_.find(region);
  if (found == shared_.end()) return;
  OfiLanes* const lanes = found->second;
  shared_.erase(found);
  lanes->unshare(region);
}

bool Ofi::poll() {
  std::uint32_t renewals = 0;
  for (const auto& card : cards_) {
    card->poll();
    renewals += card->renewals();
  }
  return std::exchange(renewals_, renewals) != renewals;
}

std::vector<int> Ofi::descriptors() const {
  std::vector<int> all;
  for (const auto& card : cards_) {
    if (card->is_open() && card->descriptor() >= 0) all.push_back(card->descriptor());
  }
  return all;
}

void Ofi::report(RankId self) const {
  if (std::getenv("WEFT_RDMA_REPORT") == nullptr) return;
  for (const auto& card : cards_) {
    std::fprintf(stderr, "weft: rank %u: rail %s\n", self.index, card->use_text().c_str());
  }
}

int Ofi::sleep_ms(int most) {
  for (const auto& card : cards_) {
    if (!card->is_open()) continue;
    if (!card->may_sleep()) return 0;
    if (card->descriptor() < 0) most = std::min(most, 1);
  }
  return most;
}

}  // namespace weft::wire
