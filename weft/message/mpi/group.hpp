// SPDX-License-Identifier: Apache-2.0
// Groups: ordered sets of ranks.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include <weft/message/mp/members.hpp>
#include <weft/message/mpi/include/mpi.h>

namespace weft::mpi {

struct Process;

struct Group {
  mp::Members members;
  MPI_Session session = MPI_SESSION_NULL;  // From which it descends.
};

// The members behind a handle; null for MPI_GROUP_NULL and invalid handles.
const mp::Members* find_group(Process& process, MPI_Group handle);
// A handle for the members; MPI_GROUP_EMPTY for none.
MPI_Group make_group(Process& process, mp::Members members, MPI_Session session = MPI_SESSION_NULL);
// The session from which a group descends.
MPI_Session session_of(Process& process, MPI_Group handle);

// MPI_IDENT, MPI_SIMILAR or MPI_UNEQUAL.
int compare(const mp::Members& a, const mp::Members& b);

// Maps ranks to their index in a group; fast for many lookups, whatever the order of the group.
class Finder {
 public:
  explicit Finder(const mp::Members& members);
  std::optional<int> find(RankId rank) const;

 private:
  struct Entry {
    RankId rank;
    int index;
  };
  std::vector<Entry> entries_;  // By rank.
};

}  // namespace weft::mpi
