// SPDX-License-Identifier: Apache-2.0
// One card of this process that writes into memory of others: its endpoint, what is registered with
// it, and the writes that are under way.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <weft/base/result.hpp>
#include <weft/message/port/fabric.hpp>
#include <weft/real/wire/ofi_places.hpp>
#include <weft/real/wire/ofi_plugin.hpp>
#include <weft/real/wire/registration_cache.hpp>

namespace weft::wire {

// A write under way.
struct OfiJob {
  std::size_t lane = 0;
  std::uint64_t cookie = 0;
  std::uint64_t region = 0;  // The peer's, as the message layer names it.
  std::size_t size = 0;
  FrameHead notice = {};
  const Registration* source = nullptr;
};

// Faults and properties that tests ask for (WEFT_RDMA_TRIAL).
struct OfiTrial {
  // This write, counted from 1, gets lost or is refused by the peer; 0: none.
  std::uint64_t lose_at = 0, refuse_at = 0;
  bool flush = false;    // As cards that do not say when the processor sees the data.
  bool sources = false;  // As cards that want sources registered.
};

// The users of a card, which it tells of what happened.
class OfiUser {
 public:
  virtual ~OfiUser() = default;
  virtual void finished(const OfiJob& job, bool arrived) = 0;
  // The card has a new address and has forgotten its peers; all its registrations are closed.
  virtual void renewed(const class OfiCard& card) = 0;
};

class OfiCard final : private Registrar {
 public:
  OfiCard(const OfiPlugin& plugin, OfiPlace place, RegistrationCache::Limits limits);
  OfiCard(const OfiCard&) = delete;
  OfiCard& operator=(const OfiCard&) = delete;
  ~OfiCard() override;

  Status open();
  bool is_open() const { return port_ != nullptr; }
  const OfiPlace& place() const { return place_; }
  const std::string& address() const { return address_; }
  int descriptor() const { return facts_.descriptor; }
  bool registers_sources() const { return facts_.registers_sources; }
  bool software() const { return !is_hardware(place_.provider); }

  void add_user(OfiUser* user) { users_.push_back(user); }
  void remove_user(OfiUser* user);
  std::optional<std::uint64_t> add_peer(const std::string& address);
  RegistrationCache& memory() { return memory_; }

  // The write's context is filled in here.
  void write(OfiUser& user, const OfiJob& job, OfiWrite write);
  void poll();
  bool may_sleep() { return port_ == nullptr || plugin_.may_sleep(port_); }
  // Ends everything in flight, in both directions: the old endpoint touches no memory any more.
  void renew();
  std::uint32_t renewals() const { return renewals_; }
  // One line: what was written, and what the cache did.
  std::string use_text() const;

 private:
  struct Begun {
    OfiUser* user = nullptr;
    OfiJob job;
  };
  bool open(Registration& registration) override;
  void close(const Registration& registration) override;
  void read_facts();
  void finish(std::uint64_t number, bool arrived);
  bool spoiled_by_wish(OfiWrite& write);

  const OfiPlugin& plugin_;
  OfiPlace place_;
  OfiPort* port_ = nullptr;
  OfiPortFacts facts_ = {false, -1};
  std::string address_;
  RegistrationCache memory_;
  std::vector<OfiUser*> users_;
  std::map<std::uint64_t, Begun> begun_;  // By number, which is the plugin's context.
  std::uint64_t next_number_ = 1;
  std::uint32_t renewals_ = 0;
  std::uint64_t writes_ = 0, bytes_ = 0, given_up_ = 0;
  OfiTrial trial_;
};

}  // namespace weft::wire
