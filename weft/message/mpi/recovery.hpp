// SPDX-License-Identifier: Apache-2.0
// What a program can do about lost ranks: revoke communicators, and go on with those that are left.
// A rank has one Recovery once something of it is needed.
#pragma once

#include <cstdint>
#include <vector>

#include <weft/message/mpi/consensus.hpp>

namespace weft::mpi {

struct Communicator;
struct Process;

// The members of a communicator that are known to be lost, in the order of finding out.
std::vector<RankId> lost_members(const Process& process, const Communicator& comm);

// Collective calls with a missing member never complete, and ranks that noticed first have left
// them, so they fail for all.
void end_collectives(Process& process, const Communicator& comm);

// From now on all operations on communicators with this context fail, here and, soon, at all other
// members, until the end of time.
void revoke(Process& process, std::uint32_t context);

// Handles what other ranks said about all this.
void hear_words(Process& process);

Consensus& consensus_of(Process& process);

// A context that no other communicator has: agreed contexts are smaller, and others like this one
// come from other ranks or have other numbers.
std::uint32_t new_context(Process& process, std::uint32_t& number);

// Others go on without this rank, which lives: their connections to it have failed.
[[noreturn]] void excluded(Process& process);

// In MPI_Finalize: returns when all ranks that are not lost have come there.
void meet_survivors(Process& process);

}  // namespace weft::mpi
