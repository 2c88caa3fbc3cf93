// SPDX-License-Identifier: Apache-2.0
// Max-min fair shares of links among flows, kept up to date as flows come and go. Each link has a
// level: the most that a flow may take of it so that all fit. A flow's speed is the least level on
// its way. When something changes, only the links that feel it are worked out again, the lowest
// level first. Integers only, so every machine finds the same.
#pragma once

#include <cstddef>
#include <cstdint>
#include <queue>
#include <span>
#include <vector>

#include <boost/container/small_vector.hpp>

namespace weft {

// Bytes per picosecond in units of 2^-36, about 15 bytes a second.
using Speed = std::int64_t;
inline constexpr int speed_bits = 36;
inline constexpr Speed no_speed_limit = INT64_MAX;

// A link on a flow's way.
struct LinkUse {
  std::uint32_t link = 0;
  std::uint32_t weight = 0;  // The part of the flow that goes here, of `whole`.
  bool turns = false;        // It comes from elsewhere than those that go straight on.

  static constexpr std::uint32_t whole = 64;
};

class FairShares {
 public:
  // `capacity`: by link. `loss`: what is left of a link's capacity, of 1024, where several flows
  // meet on it and one of them turns.
  FairShares(std::vector<Speed> capacity, int loss_of_1024);

  // No link may be named twice. `limit`: the flow takes no more than this. Numbers of flows that
  // are gone are given again.
  std::uint32_t add(std::span<const LinkUse> uses, Speed limit);
  void remove(std::uint32_t flow);
  // After changes, and before speeds are asked for: the flows whose speed is another one now, those
  // that were added among them, in no particular order.
  std::span<const std::uint32_t> settle();

  Speed speed(std::uint32_t flow) const { return flows_[flow].speed; }
  // Of its flows, where LinkUse::whole is one that goes this way as a whole.
  std::int64_t weight(std::uint32_t link) const { return links_[link].weight; }
  // Flows fill the link.
  bool is_full(std::uint32_t link) const { return links_[link].level != no_speed_limit; }
  // The link that holds the flow back is one on which it meets others, and one of them turns.
  bool is_held_by_turning(std::uint32_t flow) const;
  template <typename Do>
  void each_flow_on(std::uint32_t link, Do&& action) const {
    for (const Entry& entry : links_[link].entries) action(entry.flow, entry.weight);
  }
  template <typename Do>
  void each_link_of(std::uint32_t flow, Do&& action) const {
    for (const Place& place : flows_[flow].places) action(place.link, place.weight);
  }
  // What the questions about a link need, into the caches.
  void load(std::uint32_t link) const { __builtin_prefetch(&links_[link]); }
  std::size_t bytes() const;                          // Of memory, but for lists.
  std::uint64_t updates() const { return updates_; }  // Of links, so far: a measure of the work.

 private:
  // Of a link: a flow, and the link's place on its way. The weight is here, too, as lists of
  // entries are read much more often than they change.
  struct Entry {
    std::uint32_t flow;
    std::uint16_t place, weight;
  };
  // Most links have one flow or none.
  using Entries = boost::container::small_vector<Entry, 1>;
  // Moving one allocates nothing, but small_vector does not promise that.
  struct Link {  // NOLINT(bugprone-exception-escape)
    Speed capacity = 0;
    Speed level = no_speed_limit;
    std::int64_t weight = 0;  // Of all entries.
    std::uint32_t turning = 0;
    bool waits = false;        // To be worked out again.
    std::uint16_t rounds = 0;  // Of this settle().
    Entries entries;
  };
  // Of a flow: a link on its way, with the link's level, so that a flow finds its least one without
  // looking at all its links.
  struct Place {
    Speed level;
    std::uint32_t link;
    std::uint16_t weight;
    bool turns;
  };
  static constexpr std::uint16_t no_place = 0xffff;
  struct Flow {
    std::vector<Place> places;
    Speed limit = no_speed_limit;
    // The levels on its way, and the limit. Of equally low ones the limit is the least, then the
    // first place.
    Speed least = no_speed_limit, second = no_speed_limit;
    Speed speed = 0;
    std::uint16_t least_place = no_place;  // That is the limit.
    bool noted = false;                    // In changed_.
    bool gone = true;
    bool begins_alone = false;  // In begun_alone_.
  };
  struct Waiting {
    Speed bound;
    std::uint32_t link;
    bool operator>(const Waiting& other) const {
      return bound != other.bound ? bound > other.bound : link > other.link;
    }
  };
  // What a flow could take of a link.
  struct Wish {
    Speed elsewhere;  // The least level of its other links.
    std::int64_t weight;
  };

  std::int64_t room(const Link& link) const;
  void begin_and_end_alone();
  void go_alone(Flow& flow);
  bool is_alone(const Flow& flow) const;
  void touch(std::uint32_t link);
  static void drop(Link& link, std::uint32_t flow);
  Speed find_level(const Link& link);
  void work_out(std::uint32_t link);
  static void find_least(Flow& flow);
  static void note_level(Flow& flow, std::uint16_t place, Speed level);
  void set_speed(std::uint32_t flow, std::uint32_t but);

  const int loss_;
  std::vector<Link> links_;
  // By link, while flows do not fill it: its room less their speeds times weights. Not in Link, as
  // a flow whose speed changes looks at nothing else of most links on its way.
  std::vector<std::int64_t> spare_;
  std::vector<Flow> flows_;
  std::vector<std::uint32_t> unused_, changed_, seen_;
  // Since settle(): flows that met no other when they were added, and full links that the only flow
  // has left.
  std::vector<std::uint32_t> begun_alone_, left_alone_;
  std::vector<Wish> wishes_;              // Of find_level().
  std::vector<std::uint32_t> rounds_of_;  // Links that were worked out since settle() began.
  std::priority_queue<Waiting, std::vector<Waiting>, std::greater<>> queue_;
  std::uint64_t updates_ = 0;
};

}  // namespace weft
