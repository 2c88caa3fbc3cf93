// SPDX-License-Identifier: Apache-2.0
// Kinds of rails. A kind is one file, which defines its row (`const RailKindRow NAME_rails`), and
// one line of rail_kinds.inc. The row says how the kind is called, which words of --rails are meant
// for it, and how a process finds out what it has of that kind.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <weft/base/result.hpp>
#include <weft/real/launch/settings.hpp>
#include <weft/real/locality/interfaces.hpp>
#include <weft/real/wire/handshake.hpp>
#include <weft/real/wire/link.hpp>

namespace weft::wire {

// What a kind may want to know of its process.
struct KindSetting {
  RankId self;
  JobSecret secret = {};
  launch::Settings settings;
  std::vector<std::string> wishes;  // Words of --rails that are meant for this kind.
  std::string library_folder;       // Where plugins of weft are.
};

// The process, as its rail kinds see it.
class KindHost {
 public:
  virtual ~KindHost() = default;
  virtual Time now() const = 0;
  // RailKind::stir is called with the token when the descriptor is readable.
  virtual void watch(const class RailKind& kind, std::uint32_t token, int descriptor) = 0;
  // false: the process is leaving, and takes no new connections.
  virtual bool accept_calls() const = 0;
  // A peer has connected: its link is in use from now on.
  virtual void connect(RankId peer) = 0;
  virtual const Regions& regions() const = 0;
  virtual void tell(Completion&& completion) = 0;
  virtual void lose(RankId peer, const std::string& reason) = 0;
  // A peer that did not start together with this process has ended, and its direct rail with it.
  virtual void part(RankId /*peer*/) {}
};

// The processes of one host that start together.
struct Neighbourhood {
  std::vector<std::uint32_t> ranks;  // This one among them.
};

// Two processes that find out which rails join them. The texts are those of the same kind.
struct Meeting {
  RankId peer;
  bool same_host = false;
  bool together = true;             // false: one of them came later, and may end earlier.
  std::string own_name, peer_name;  // Names of the hosts, for messages.
  std::string peer_place, peer_address;
};

// What one process has of one kind of rail: interfaces and listeners, cards, segments.
class RailKind {
 public:
  RailKind() = default;
  RailKind(const RailKind&) = delete;
  RailKind& operator=(const RailKind&) = delete;
  virtual ~RailKind() = default;

  // --- At the start, in this order ---
  // What all processes tell each other first: where this one is.
  virtual std::string place() const = 0;
  virtual Status open(const Neighbourhood& neighbourhood) = 0;
  // Descriptors that a direct kind would like for all of its peers, and what it gets.
  virtual std::uint32_t descriptors_wanted() const { return 0; }
  virtual void grant_descriptors(std::uint32_t /*count*/) {}
  // Descriptors that other kinds need for each peer, and how many they must leave unused.
  virtual std::uint32_t descriptors_per_peer() const { return 0; }
  // Descriptors that processes which call may take before they have proved who they are.
  virtual std::uint32_t descriptors_for_callers() const { return 0; }
  virtual void keep_free(std::uint32_t /*descriptors*/) {}
  // Then: how it is reached there.
  virtual std::string address() const = 0;
  // Adds the rails that lead to a peer. If there are none, `trouble` says why.
  virtual Status add_rails(const Meeting& /*meeting*/, Link& /*link*/, std::string& /*trouble*/) {
    return {};
  }
  // For the decision which NUMA node is near to which rail.
  virtual std::span<const locality::Interface> interfaces() const { return {}; }

  // --- Later ---
  virtual void stir(std::uint32_t /*token*/) {}
  virtual void look() {}  // Whenever descriptors are looked at.
  virtual void tend(Time /*now*/) {}
  virtual bool needs_tending() const { return false; }
  virtual int sleep_ms(int most) { return most; }  // How long nothing would be missed.
  virtual void close_memory(std::uint64_t /*region*/) {}
  virtual void close() {}  // The process leaves.

  // --- Direct kinds: a peer needs no other rail, and frames neither numbers nor a link ---
  virtual bool direct() const { return false; }
  // Null: this peer is not reached so.
  virtual Result<Rail*> direct_rail(const Meeting& /*meeting*/) { return nullptr; }
  // The next completion of any of its rails; false: none for now.
  virtual bool poll(Completion& /*out*/) { return false; }
  virtual bool has_readable() { return false; }
  // Looks many times whether there is something to poll.
  virtual bool spin() { return false; }
  // From now on peers must wake us. true: something has come before that.
  virtual bool fall_asleep() { return false; }
  virtual void wake_up() {}
  virtual void process_ended(RankId /*peer*/) {}
  virtual void say_goodbye() {}
  virtual bool owes() const { return false; }  // A peer would miss something if we ended now.
  // Where peers look for memory that they may write into. Null: this kind has no such place.
  virtual RegionTable* region_table() { return nullptr; }

  std::uint32_t row() const { return row_; }
  void set_row(std::uint32_t row) { row_ = row; }

 private:
  std::uint32_t row_ = 0;
};

struct RailKindRow {
  std::string_view name = {};
  // A word of --rails that asks for it, for tests. Empty: no word does.
  std::string_view example = {};
  // How such a word looks, for the help of --rails.
  std::string_view words = {};
  // Whether a word of --rails is meant for this kind. Null: it takes what no other kind does, the
  // names of interfaces and their addresses.
  bool (*claims)(std::string_view word) = nullptr;
  // Null without an error: the process has nothing of this kind.
  Result<std::unique_ptr<RailKind>> (*find)(const KindSetting& setting, KindHost& host) = nullptr;
  bool carries_frames = true;  // false: it only writes into memory, beside rails of other kinds.
  bool everywhere = true;      // false: it needs a library or a card that a host may lack.
};

std::span<const RailKindRow> rail_kinds();
// One more, after the others; before any process joins a job.
void add_rail_kind(const RailKindRow& row);

// The kind that claims this word of --rails. Null: it names an interface.
const RailKindRow* claimant_of(std::string_view word);
// Those of the words that are meant for this kind.
std::vector<std::string> words_for(const RailKindRow& row, std::span<const std::string> words);
// Only other kinds were asked for, and they need no interface beside them.
bool is_left_out(const RailKindRow& row, std::span<const std::string> words);

}  // namespace weft::wire
