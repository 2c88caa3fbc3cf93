// SPDX-License-Identifier: Apache-2.0
// The ranks of a trace: a file names locations (threads) and ranks within communicators; traffic
// is between ranks of MPI_COMM_WORLD. Definitions come first, then the events, location by
// location. Inside this module only.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <weft/base/result.hpp>
#include <weft/workload/traces/tally.hpp>

namespace weft::detail {

struct TraceLocation {
  std::uint64_t id = 0, events = 0;
  std::uint32_t process = 0;
};

struct TraceGroup {
  enum class Kind {
    world,    // Members are the locations of the ranks.
    members,  // Members are ranks of the world.
    self,     // Holds only the rank that uses it.
  };
  Kind kind = Kind::members;
  bool uses_world_ranks = false;  // In events, too.
};

class TraceRanks {
 public:
  // Instead of a root: in a communicator between two groups, some are told no more than this.
  static constexpr std::uint32_t root_is_self = 0xfffffffeu, root_is_on_this_side = 0xfffffffdu;

  void define_location(const TraceLocation& location) { locations_.push_back(location); }
  Status define_group(std::uint32_t id, const TraceGroup& group,
                      std::span<const std::uint64_t> members);
  void define_comm(std::uint32_t id, std::uint32_t group) { comms_[id] = {group, {}}; }
  void define_comm_between(std::uint32_t id, std::uint32_t a, std::uint32_t b) {
    comms_[id] = {a, b};
  }
  Status finish_definitions();

  std::span<const TraceLocation> locations() const { return locations_; }
  void enter(const TraceLocation& location);
  Status send(std::uint32_t comm, std::uint32_t receiver, std::uint64_t bytes);
  // The member is found here.
  Status collect(std::uint32_t comm, CollectivePart part);

  Result<TrafficMatrix> finish() && {
    return std::move(tally_).finish(static_cast<std::uint32_t>(world_.size()));
  }

 private:
  using Rank = std::optional<std::uint32_t>;
  struct Group : TraceGroup {
    std::vector<std::uint32_t> ranks;
  };
  struct Comm {
    std::uint32_t group = 0;
    std::optional<std::uint32_t> other;  // Members of one group talk to those of the other.
  };

  const Group* find_group(std::uint32_t id) const;
  // The group to which ranks in events of the present location belong.
  const Group* find_peers(const Comm& comm) const;
  Rank find_rank(const Group& group, std::uint32_t rank) const;
  Rank find_member(std::uint32_t comm, const Group& group);
  Status collect_between(const Comm& comm, const CollectivePart& part);

  std::vector<TraceLocation> locations_;
  std::vector<std::uint64_t> world_;  // The location of each rank.
  std::unordered_map<std::uint64_t, std::uint32_t> rank_of_location_;
  std::unordered_map<std::uint32_t, std::uint32_t> rank_of_process_;
  std::map<std::uint32_t, Group> groups_;
  std::map<std::uint32_t, Comm> comms_;
  Rank here_;  // The rank whose events are being read.
  std::map<std::uint32_t, std::uint32_t> member_here_;
  TrafficTally tally_;
};

}  // namespace weft::detail
