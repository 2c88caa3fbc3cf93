// SPDX-License-Identifier: Apache-2.0
#include "consensus.hpp"

#include <algorithm>
#include <iterator>

#include <weft/message/mpi/process.hpp>
#include <weft/message/mpi/recovery.hpp>

namespace weft::mpi {

namespace {

// The last agreement of each context is kept for members that have not heard its verdict. More than
// so many belong to communicators that are gone.
constexpr std::size_t rounds_max = 4096;

std::vector<RankId> members_of(const Communicator& comm) {
  std::vector<RankId> all;
  for (int i = 0; i < comm.local.size(); ++i) all.push_back(comm.local[i]);
  for (int i = 0; comm.inter && i < comm.remote.size(); ++i) all.push_back(comm.remote[i]);
  std::sort(all.begin(), all.end());
  return all;
}

void append(Words& words, const std::vector<RankId>& ranks) {
  words.push_back(static_cast<std::uint32_t>(ranks.size()));
  for (const RankId rank : ranks) words.push_back(rank.index);
}

// Reads what append() wrote; words of a peer may hold anything.
std::vector<RankId> take_ranks(const Words& words, std::size_t& at) {
  std::vector<RankId> ranks;
  if (at >= words.size()) return ranks;
  const std::size_t told = words[at++];
  const std::size_t count = std::min(told, words.size() - at);
  for (std::size_t i = 0; i < count; ++i) ranks.emplace_back(words[at++]);
  return ranks;
}

std::uint32_t word_at(const Words& words, std::size_t index) {
  return index < words.size() ? words[index] : 0;
}

}  // namespace

Words Consensus::write(const Opinion& given) {
  Words words = {given.value};
  append(words, given.lost);
  append(words, given.acknowledged);
  return words;
}

Consensus::Opinion Consensus::read_opinion(const Words& words) {
  Opinion read;
  read.value = word_at(words, 0);
  std::size_t at = 1;
  read.lost = take_ranks(words, at);
  read.acknowledged = take_ranks(words, at);
  return read;
}

Words Consensus::write(const Verdict& given) {
  Words words = {given.value, given.context, given.unacknowledged ? 1U : 0U};
  append(words, given.failed);
  return words;
}

Verdict Consensus::read_verdict(const Words& words) {
  Verdict read{word_at(words, 0), word_at(words, 1), word_at(words, 2) != 0, {}};
  std::size_t at = 3;
  read.failed = take_ranks(words, at);
  return read;
}

// Waits for the verdict of a round.
struct Consensus::Decided {
  Round& round;
  bool await_ready() const { return round.decided; }
  void await_suspend(std::coroutine_handle<> waiter) { round.waiters.push_back(waiter); }
  void await_resume() const {}
};

mp::Task Consensus::reach(Communicator& comm, std::uint32_t value, Makes makes, Verdict& result) {
  const Key key{comm.context, comm.consensus_calls++};
  Round& round = round_of(key);
  round.called = true;
  round.makes = makes;
  if (key.second > 0) {
    const auto before = rounds_.find({key.first, key.second - 1});
    if (before != rounds_.end() && before->second.called) co_await Decided{before->second};
  }
  enter(round, comm, value);
  consider(round);
  co_await Decided{round};
  result = round.verdict;
  round.done = true;
  // All members have come here, so all have heard the verdict before.
  if (key.second > 0) rounds_.erase({key.first, key.second - 1});
  if (rounds_.size() > rounds_max && rounds_.begin()->second.done) {
    rounds_.erase(rounds_.begin());
  }
  co_return 0;
}

void Consensus::give_up(const Communicator& comm) {
  const auto last = rounds_.find({comm.context, comm.consensus_calls - 1});
  if (last != rounds_.end()) last->second.waiters.clear();
}

Consensus::Round& Consensus::round_of(const Key& key) {
  Round& round = rounds_[key];
  round.key = key;
  return round;
}

void Consensus::enter(Round& round, const Communicator& comm, std::uint32_t value) {
  round.members = members_of(comm);
  const std::vector<RankId> lost = lost_members(process_, comm);
  round.own.value = value;
  round.own.lost = lost;
  round.own.acknowledged.assign(lost.begin(), lost.begin() + comm.acknowledged);
  round.leader = process_.rank();
  round.entered = true;
  if (leader_of(round) == round.leader) return;
  round.leader = leader_of(round);
  send(round, round.leader, opinion);
}

RankId Consensus::leader_of(const Round& round) const {
  for (const RankId member : round.members) {
    if (!process_.messenger.is_lost(member)) return member;
  }
  return process_.rank();
}

// Something has changed: the leader may be another one, or have heard enough.
void Consensus::consider(Round& round) {
  if (!round.entered || round.decided) return;
  const RankId leader = leader_of(round);
  if (leader != round.leader) {
    round.leader = leader;
    if (leader != process_.rank()) send(round, leader, opinion);
  }
  if (leader != process_.rank()) return;
  const bool all = std::all_of(round.members.begin(), round.members.end(), [&](RankId member) {
    return member == leader || round.heard.contains(member.index) ||
           process_.messenger.is_lost(member);
  });
  if (all) decide(round);
}

void Consensus::decide(Round& round) {
  round.heard[process_.rank().index] = round.own;
  Verdict result;
  const auto is_member = [&](RankId rank) {
    return std::binary_search(round.members.begin(), round.members.end(), rank);
  };
  for (const RankId member : round.members) {
    if (process_.messenger.is_lost(member)) result.failed.push_back(member);
  }
  for (const auto& [rank, one] : round.heard) {
    if (!is_member(RankId(rank))) continue;
    result.value &= one.value;
    std::copy_if(one.lost.begin(), one.lost.end(), std::back_inserter(result.failed), is_member);
  }
  std::sort(result.failed.begin(), result.failed.end());
  const auto end = std::unique(result.failed.begin(), result.failed.end());
  result.failed.erase(end, result.failed.end());
  for (const auto& [rank, one] : round.heard) {
    const auto knows = [&acknowledged = one.acknowledged](RankId failed) {
      return std::find(acknowledged.begin(), acknowledged.end(), failed) != acknowledged.end();
    };
    // What a member that is lost itself has acknowledged does not count.
    if (std::binary_search(result.failed.begin(), result.failed.end(), RankId(rank))) continue;
    result.unacknowledged =
        result.unacknowledged || !std::all_of(result.failed.begin(), result.failed.end(), knows);
  }
  if (round.makes == Makes::communicator) result.context = new_context(process_, contexts_);
  settle(round, std::move(result));
  tell_all(round);
}

void Consensus::settle(Round& round, Verdict&& result) {
  round.verdict = std::move(result);
  round.decided = true;
  round.heard.clear();
  for (const auto waiter : round.waiters) process_.messenger.resume_later(waiter);
  round.waiters.clear();
  const std::vector<RankId>& failed = round.verdict.failed;
  if (std::binary_search(failed.begin(), failed.end(), process_.rank())) excluded(process_);
}

void Consensus::tell_all(const Round& round) {
  for (const RankId member : round.members) {
    if (member != process_.rank()) send(round, member, verdict);
  }
}

void Consensus::send(const Round& round, RankId to, Kind kind) {
  process_.messenger.say({to, round.key.first, kind, round.key.second,
                          kind == opinion ? write(round.own) : write(round.verdict)});
}

void Consensus::hear(const mp::Word& word) {
  const Key key{word.context, word.number};
  // A verdict of a round that has ended here may come again.
  if (word.kind != opinion && !rounds_.contains(key)) return;
  Round& round = round_of(key);
  switch (word.kind) {
    case opinion:
      if (round.decided) {
        send(round, word.peer, verdict);
      } else {
        round.heard[word.peer.index] = read_opinion(word.content);
        consider(round);
      }
      break;
    case verdict:
      // One of an earlier leader comes too late: another may have been made since.
      if (round.entered && !round.decided && word.peer == round.leader) {
        settle(round, read_verdict(word.content));
      }
      break;
    case report:
      if (round.entered && !round.decided) {
        round.leader = process_.rank();
        settle(round, read_verdict(word.content));
        tell_all(round);
      }
      break;
    default:
      break;
  }
}

// A verdict must not be lost with the leader that made it.
void Consensus::lose(RankId rank) {
  std::vector<Key> keys;
  for (const auto& [key, round] : rounds_) {
    if (round.entered) keys.push_back(key);
  }
  for (const Key& key : keys) {
    Round& round = rounds_[key];
    if (!round.decided) {
      consider(round);
    } else if (round.leader == rank) {
      round.leader = leader_of(round);
      if (round.leader == process_.rank()) {
        tell_all(round);
      } else {
        send(round, round.leader, report);
      }
    }
  }
}

}  // namespace weft::mpi
