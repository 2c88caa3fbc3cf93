// SPDX-License-Identifier: Apache-2.0
#include "group.hpp"

#include <algorithm>
#include <utility>

#include <weft/message/mpi/process.hpp>

namespace weft::mpi {

const mp::Members* find_group(Process& process, MPI_Group handle) {
  static const mp::Members nobody;
  if (handle == MPI_GROUP_EMPTY) return &nobody;
  const Group* group = process.groups.find(handle);
  return group ? &group->members : nullptr;
}

MPI_Group make_group(Process& process, mp::Members members, MPI_Session session) {
  if (members.size() == 0) return MPI_GROUP_EMPTY;
  return reinterpret_cast<MPI_Group>(process.groups.make(std::move(members), session));
}

MPI_Session session_of(Process& process, MPI_Group handle) {
  const Group* const group = process.groups.find(handle);
  return group ? group->session : MPI_SESSION_NULL;
}

Finder::Finder(const mp::Members& members) {
  for (int i = 0; i < members.size(); ++i) entries_.push_back({members[i], i});
  std::sort(entries_.begin(), entries_.end(),
            [](const Entry& a, const Entry& b) { return a.rank < b.rank; });
}

std::optional<int> Finder::find(RankId rank) const {
  const auto found = std::lower_bound(entries_.begin(), entries_.end(), rank,
                                      [](const Entry& entry, RankId r) { return entry.rank < r; });
  if (found == entries_.end() || found->rank != rank) return std::nullopt;
  return found->index;
}

int compare(const mp::Members& a, const mp::Members& b) {
  if (a.size() != b.size()) return MPI_UNEQUAL;
  bool same_order = true;
  for (int i = 0; i < a.size() && same_order; ++i) same_order = a[i] == b[i];
  if (same_order) return MPI_IDENT;
  const Finder finder(b);
  for (int i = 0; i < a.size(); ++i) {
    if (!finder.find(a[i])) return MPI_UNEQUAL;
  }
  return MPI_SIMILAR;
}

}  // namespace weft::mpi
