// SPDX-License-Identifier: Apache-2.0
// Which outputs may a packet take next? A policy has no state after construction: what belongs to a
// packet travels in Flight::state, what belongs to a router is seen through PortView. So one object
// serves every router and worker, and a test can fake the view.
#pragma once  // Public, for policies: stays within 0.1; an added question has a default.

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <weft/base/check.hpp>
#include <weft/base/id.hpp>
#include <weft/base/result.hpp>
#include <weft/base/units.hpp>
#include <weft/network/route/lines.hpp>
#include <weft/network/topo/topology.hpp>

namespace weft {

// What a policy knows of a packet whose head stands at a router.
struct Flight {
  RouterId destination;     // The router of destination_node.
  std::uint8_t hops = 0;    // Links crossed so far (saturates at 255); 0 at the source router: the
                            // place for choices made once.
  std::uint64_t state = 0;  // At hops = 0: 64 random bits of the packet's own. Later: the state of
                            // the choice that was taken.
  NodeId source_node{};     // Nodes of one leaf switch go up a fat tree by different ways, so the
  NodeId destination_node{};  // routers alone do not say enough.
};

// What a router knows of its own network outputs at this instant.
class PortView {
 public:
  virtual ~PortView() = default;
  virtual bool up(int port) const = 0;
  // Room in the buffer at the far end of (port, vc), by the credits that have come back.
  virtual Bytes free(int port, int vc) const = 0;
  // Bytes that are ahead of a newcomer for this port: waiting here for it, being sent, or held at
  // its far end in any VC.
  virtual Bytes queued(int port) const = 0;
  // Bytes that an even flow at the full rate of this port has under way until their credits are
  // back: so much is `queued` although nothing waits.
  virtual Bytes flowing(int /*port*/) const { return {}; }
  // What is known of a line of the policy's own (lines()); its nearest element is seen, not heard
  // of, and so is never stale.
  virtual LineNews line(int /*port*/, int /*line*/) const { return {}; }
  // queued() of as many ports as there is space, from `first` on: one question instead of many. A
  // port that is down has `down`.
  static constexpr std::int64_t down = INT64_MAX;
  virtual void queues(int first, std::span<std::int64_t> bytes) const {
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      const int port = first + static_cast<int>(i);
      bytes[i] = up(port) ? queued(port).count : down;
    }
  }
};

struct Choice {
  std::uint16_t port = 0;  // Network port, or Choice::eject.
  bool escape = false;     // The choice that keeps an adaptive policy free of deadlock.
  VcMask vcs = 0;
  std::uint64_t state = 0;  // Flight::state once this choice is taken.

  static constexpr std::uint16_t eject =
      0xffff;  // This router is the end: hand the packet to its node.
};

// Best first. The packet takes the first that can move; while none can, it waits for all of them.
class Choices {
 public:
  static constexpr int capacity = 16;

  void clear() { count_ = 0; }
  void add(const Choice& choice) {
    WEFT_CHECK(count_ < capacity);
    items_[static_cast<std::size_t>(count_++)] = choice;
  }
  void add_eject() { add({.port = Choice::eject, .vcs = ~VcMask{0}}); }
  int count() const { return count_; }
  bool empty() const { return count_ == 0; }
  const Choice& operator[](int i) const { return items_[static_cast<std::size_t>(i)]; }
  std::span<const Choice> all() const { return {items_.data(), static_cast<std::size_t>(count_)}; }

 private:
  int count_ = 0;
  std::array<Choice, capacity> items_;
};

// What holds for every packet under this policy on its topology; the conformance test checks it.
struct PolicyFacts {
  int choices_max = 1;      // Never more than this many choices at once.
  int hops_max = 0;         // No packet crosses more links.
  bool asks_source = true;  // Reads Flight::source_node, which is filled in only then.
  bool looks = false;       // Reads the PortView, so a route depends on when it is asked for.
  bool in_order = true;   // Packets of one source and destination node keep their order: one path,
                          // and one VC on each of its links (in two VCs they could overtake).
  bool one_path = false;  // They take one path, in whatever VCs. Goes without saying if in_order.
  bool again = false;  // A head that waits is asked for again, until it has a VC. Its choices then
                       // are the same, in another order.
  bool returns = false;  // A packet on an escape VC may leave it. Sound where a packet is in one
                         // buffer only, as here: it then waits for the escape of that place.
  bool alike = false;    // One path, and packets of one source and destination node get the same
                         // choice at a router, its VCs and state included, whatever their bits: one
                         // question is enough for packets that follow each other.
};

namespace detail {
class DimensionOrder;
class QueueRows;
}  // namespace detail

class Policy {
 public:
  virtual ~Policy() = default;
  // Appends the choices of a packet whose head stands at `here`; none means: no way (a cable on the
  // only path is down). Must give the same answer for the same arguments.
  virtual void next(RouterId here, const Flight& flight, const PortView& view,
                    Choices& out) const = 0;
  virtual PolicyFacts facts() const = 0;
  // What routers shall tell each other for this policy; null: nothing. Lives as long as the policy.
  virtual const Lines* lines() const { return nullptr; }
  // Set if every packet takes its dimensions in order on a cube: a simulator then computes the hops
  // itself (route/dimension_order.hpp), several times faster than by asking next().
  virtual const detail::DimensionOrder* dimension_order() const { return nullptr; }
  // Set if packets may take any port of a row, by their queues (route/queue_rows.hpp): a simulator
  // then puts them in order itself, only as far as it needs to.
  virtual const detail::QueueRows* queue_rows() const { return nullptr; }
};

// Where both directions round a ring are equally long.
enum class TieRule {
  up,    // Always up.
  coin,  // By random bits of the packet.
};

// Words after a policy's name, "crossline:escape,cut": one of each group, the first if none is
// given.
struct PolicyWords {
  std::string_view words;  // "nets|escape"
  std::string_view help;
};
using ChosenWords = std::vector<std::string_view>;  // One of each group, in their order.

struct PolicyEntry {
  std::string_view name;
  std::string_view help;
  // Does the policy have an answer for this family, and if so how many VCs are needed? 0: it does
  // not fit.
  int (*vcs_needed)(const Topology&);
  // REQUIRES: vcs_needed(topology) > 0 and vcs is at least that. The topology outlives the policy.
  // Fails only where tables would not fit in memory.
  Result<std::unique_ptr<Policy>> (*make)(const Topology&, int vcs);
  // For a policy that takes words; the two above then have none.
  std::span<const PolicyWords> groups = {};
  int (*vcs_needed_with)(const Topology&, const ChosenWords&) = nullptr;
  Result<std::unique_ptr<Policy>> (*make_with)(const Topology&, int vcs,
                                               const ChosenWords&) = nullptr;
  // Does every packet, while all cables are up, cross the axes of a lattice one after the other
  // from the first, each in the shorter direction? Null: no. No words: none were given.
  TieRule (*dimension_order)(const ChosenWords&) = nullptr;
  // The default on networks that it fits, unless an earlier row is.
  bool usual = false;
  std::string_view one_path_words = "";  // With these, a pair of nodes always has one path.
  // Fits every network.
  bool any_graph = false;
  // Does every packet arrive where cables are down in the description of the network? Null: only
  // those whose path is whole. Policies for any graph always reach all; here they answer whether
  // they do so by the paths of the network's family.
  bool (*reaches_all)(const Topology&) = nullptr;
  // VCs if their number is not given. Null: as many as are needed.
  int (*vcs_usual)(const Topology&) = nullptr;
};

std::span<const PolicyEntry> builtin_policies();

// By name and words; the error names the nearest name, the families that fit, or the number of VCs
// needed.
Result<std::unique_ptr<Policy>> make_policy(std::string_view name, const Topology& topology,
                                            int vcs);

// What is used on a network when no routing is named; and the same with one path for every pair.
// Where cables are down it is one that goes round them; where the number of VCs is given, a policy
// for such networks or for any graph gives way to one that needs fewer.
std::string default_routing(const Topology& topology, int vcs = max_vcs);
std::string default_one_path_routing(const Topology& topology);
// Those that reach every connected node of this network, cables down or not: "shortest, up-down".
std::string routings_that_reach_all(const Topology& topology);
// 0 for an unknown routing or one that does not fit.
int vcs_needed(std::string_view routing, const Topology& topology);
// VCs of a machine that does not give their number; at least those needed.
int vcs_usual(std::string_view routing, const Topology& topology);
// Is it minimal dimension order on this network, and if so with which rule for ties? Nothing for
// other routings, and for one that does not fit.
std::optional<TieRule> dimension_order(std::string_view routing, const Topology& topology);

}  // namespace weft
