// SPDX-License-Identifier: Apache-2.0
// RDMA of this process: the plugin, its cards, and which peers may write to our memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <weft/base/result.hpp>
#include <weft/real/wire/ofi_card.hpp>
#include <weft/real/wire/ofi_places.hpp>
#include <weft/real/wire/ofi_plugin.hpp>

namespace weft::wire {

class OfiLanes;

class Ofi {
 public:
  // The cards that --rails names (other words are skipped); without --rails, real cards if there
  // are any. Null: this process uses no RDMA. `folder` holds the plugin.
  static Result<std::unique_ptr<Ofi>> find(std::span<const std::string> wishes,
                                           const std::string& folder);
  Ofi(const Ofi&) = delete;
  Ofi& operator=(const Ofi&) = delete;
  ~Ofi();

  std::vector<OfiPlace> places() const;
  // Opens all cards. One that was named has to open; others are left out.
  Status open();
  std::vector<std::string> addresses() const;
  OfiCard& card(std::size_t index) { return *cards_[index]; }

  // Memory of ours, registered until it is released at the card. Null: refused.
  const Registration* hold(OfiCard& card, std::byte* data, std::size_t size);

  // Memory that a peer may write into.
  void note_shared(std::uint64_t region, OfiLanes* lanes) { shared_[region] = lanes; }
  void forget_shared(std::uint64_t region) { shared_.erase(region); }
  void unshare(std::uint64_t region);

  // true: the descriptors have changed.
  bool poll();
  std::vector<int> descriptors() const;
  // To standard error, if the user asked for it.
  void report(RankId self) const;
  // How long the process may sleep, at most `most`.
  int sleep_ms(int most);

 private:
  explicit Ofi(const OfiPlugin& plugin);
  Status choose(std::span<const std::string> wishes);
  Status grant(const std::string& wish);
  void add(const OfiName& name, bool named);

  const OfiPlugin& plugin_;
  RegistrationCache::Limits limits_;
  bool keeps_ = false;  // Registrations stay after a message where that is safe.
  std::vector<std::unique_ptr<OfiCard>> cards_;
  std::map<std::uint64_t, OfiLanes*> shared_;
  std::uint32_t renewals_ = 0;
};

}  // namespace weft::wire
