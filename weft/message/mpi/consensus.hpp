// SPDX-License-Identifier: Apache-2.0
// Agreement of the members of a communicator that come to it while others are lost, also in the
// middle. Every member that comes to the end learns the same verdict.
//
// The first member that is not lost leads. The others send it their opinions; it waits for one of
// each member that is not lost, and tells all the verdict. If it is lost, each member sends its
// opinion to the next leader, or the verdict if it has that already, and hears no earlier leader
// any more: so a new leader decides only if no member that lives can know of a verdict.
#pragma once

#include <coroutine>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include <weft/message/mp/messenger.hpp>
#include <weft/message/mp/task.hpp>
#include <weft/message/mpi/internal_group.hpp>

namespace weft::mpi {

struct Communicator;
struct Process;

// What each member learns.
struct Verdict {
  std::uint32_t value = ~0U;    // The members' values, joined by a bitwise and.
  std::uint32_t context = 0;    // For the new communicator, if one is made: no other has it.
  bool unacknowledged = false;  // Some member has not acknowledged some failed one.
  std::vector<RankId> failed;   // Members that count as failed, in ascending order.
};

class Consensus {
 public:
  explicit Consensus(Process& process) : process_(process) {}
  Consensus(const Consensus&) = delete;
  Consensus& operator=(const Consensus&) = delete;

  // Takes part in the next agreement of the communicator, when the one before has ended. All
  // members say the same of what it makes.
  enum class Makes : std::uint8_t { nothing, communicator };
  mp::Task reach(Communicator& comm, std::uint32_t value, Makes makes, Verdict& verdict);
  // Nobody waits for it any more.
  void give_up(const Communicator& comm);

  enum Kind : std::int32_t { opinion = 1, verdict, report };
  void hear(const mp::Word& word);
  void lose(RankId rank);

 private:
  struct Opinion {
    std::uint32_t value = 0;
    std::vector<RankId> lost, acknowledged;
  };
  using Key = std::pair<std::uint32_t, std::uint64_t>;  // Context, number of the call.
  struct Round {
    Key key;
    bool called = false;  // The caller takes part, if only after the round before.
    bool entered = false, decided = false;
    bool done = false;  // The caller has its verdict.
    Makes makes = Makes::nothing;
    std::vector<RankId> members;  // In ascending order; known once entered.
    Opinion own;
    RankId leader;
    std::map<std::uint32_t, Opinion> heard;  // By rank.
    Verdict verdict;
    std::vector<std::coroutine_handle<>> waiters;
  };
  struct Decided;

  Round& round_of(const Key& key);
  void enter(Round& round, const Communicator& comm, std::uint32_t value);
  void consider(Round& round);
  void decide(Round& round);
  void settle(Round& round, Verdict&& result);
  void tell_all(const Round& round);
  void send(const Round& round, RankId to, Kind kind);
  RankId leader_of(const Round& round) const;
  static Words write(const Opinion& given);
  static Opinion read_opinion(const Words& words);
  static Words write(const Verdict& given);
  static Verdict read_verdict(const Words& words);

  Process& process_;
  std::map<Key, Round> rounds_;
  std::uint32_t contexts_ = 0;  // Made by this rank.
};

}  // namespace weft::mpi
