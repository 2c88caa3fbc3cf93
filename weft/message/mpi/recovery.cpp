// SPDX-License-Identifier: Apache-2.0
#include "recovery.hpp"

#include <algorithm>
#include <bit>
#include <memory>
#include <string>
#include <utility>

#include <weft/message/mpi/handlers.hpp>
#include <weft/message/mpi/process.hpp>

namespace weft::mpi {

namespace {

constexpr std::int32_t revocation = 100;  // A kind of word, beside those of Consensus.

Communicator* find_by_context(Process& process, std::uint32_t context) {
  if (process.world.context == context) return &process.world;
  Communicator* const self = process.self_only_if_made();
  if (self != nullptr && self->context == context) return self;
  Communicator* found = nullptr;
  process.communicators.for_each([&](Communicator& comm) {
    if (comm.context == context) found = &comm;
  });
  return found;
}

// Each member passes the word on once, so that it spreads although ranks are lost: to all in small
// groups, else to members at distances of powers of two, in both directions.
void spread_revocation(Process& process, const Communicator& comm) {
  constexpr int small = 32;
  const auto tell = [&](RankId member) {
    if (member == process.rank()) return;
    process.messenger.say({member, comm.context, revocation, 0, {}});
  };
  for (const mp::Members* part : {&comm.local, &comm.remote}) {
    const int size = part->size();
    if (size <= small) {
      for (int i = 0; i < size; ++i) tell((*part)[i]);
      continue;
    }
    for (int distance = 1; distance < size; distance *= 2) {
      tell((*part)[(comm.rank + distance) % size]);
      tell((*part)[((comm.rank - distance) % size + size) % size]);
    }
  }
}

}  // namespace

std::vector<RankId> lost_members(const Process& process, const Communicator& comm) {
  std::vector<RankId> found;
  for (const RankId rank : process.messenger.lost()) {
    if (comm.has(rank)) found.push_back(rank);
  }
  found.resize(std::min<std::size_t>(found.size(), comm.lost_members));
  return found;
}

void end_collectives(Process& process, const Communicator& comm) {
  using Traffic = Communicator::Traffic;
  for (const Traffic traffic : {Traffic::collectives, Traffic::local, Traffic::creation}) {
    process.messenger.revoke(comm.context_of(traffic));
  }
}

void revoke(Process& process, std::uint32_t context) {
  process.revoked.insert(context);
  Communicator* const comm = find_by_context(process, context);
  if (comm == nullptr || std::exchange(comm->revoked, true)) return;
  using Traffic = Communicator::Traffic;
  if (comm == process.self_only_if_made())
    return;  // Others make communicators with contexts of it.
  for (const Traffic traffic : {Traffic::messages, Traffic::collectives, Traffic::local,
                                Traffic::creation, Traffic::offers, Traffic::partitions}) {
    process.messenger.revoke(comm->context_of(traffic));
  }
  spread_revocation(process, *comm);
}

void hear_words(Process& process) {
  for (const mp::Word& word : process.messenger.take_words()) {
    if (word.kind == revocation) {
      revoke(process, word.context);
    } else {
      consensus_of(process).hear(word);
    }
  }
}

Consensus& consensus_of(Process& process) {
  if (!process.consensus) process.consensus = std::make_unique<Consensus>(process);
  return *process.consensus;
}

// Contexts have 29 bits. The highest tells those that were made here from agreed ones; then come a
// number and the rank that counts it. In a large job there are few numbers, and they come again:
// the rank is a member of all that it has made, so it knows which are in use.
std::uint32_t new_context(Process& process, std::uint32_t& number) {
  constexpr int bits = 28;
  // Where further ranks may start, all have to count alike.
  constexpr int for_any_rank = 20;
  const int for_rank = process.runtime.desk() != nullptr
                           ? for_any_rank
                           : static_cast<int>(std::bit_width(process.fabric.ranks - 1));
  const std::uint32_t numbers = 1U << (bits - for_rank);
  for (std::uint32_t tried = 0; tried < numbers; ++tried) {
    const std::uint32_t count = number++ & (numbers - 1);
    const std::uint32_t context = (1U << bits) | (count << for_rank) | process.rank().index;
    if (find_by_context(process, context) == nullptr) return context;
  }
  end_job(process, MPI_ERR_INTERN,
          "rank " + std::to_string(process.rank().index) + ": " + std::to_string(numbers) +
              " communicators made by MPI_Comm_shrink are in use; free some of them");
}

void excluded(Process& process) {
  end_job(process, MPI_ERR_PROC_FAILED,
          "rank " + std::to_string(process.rank().index) +
              ": counts as lost for the other ranks, as one of them could not reach it");
}

void meet_survivors(Process& process) {
  Verdict verdict;
  Consensus& consensus = consensus_of(process);
  const mp::Task met = consensus.reach(process.world, 0, Consensus::Makes::nothing, verdict);
  // A rank that has left has agreed with all others here, so no verdict need be awaited.
  process.wait_until([&] { return met.done() || process.runtime.others_leave(); });
  consensus.give_up(process.world);
}

}  // namespace weft::mpi
