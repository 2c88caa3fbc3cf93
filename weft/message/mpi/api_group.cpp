// SPDX-License-Identifier: Apache-2.0
// Groups.
#include <span>
#include <vector>

#include <weft/message/mpi/call.hpp>
#include <weft/message/mpi/group.hpp>

using weft::RankId;
using weft::mp::Members;
using weft::mpi::Call;
using weft::mpi::Finder;

namespace {

// The new group descends from the same session as the one that it is made of.
int give(Call& call, MPI_Group like, const std::vector<RankId>& ranks, MPI_Group* newgroup) {
  if (!newgroup) return call.result(MPI_ERR_ARG);
  weft::mpi::Process& process = call.process();
  *newgroup = make_group(process, Members::of(ranks), session_of(process, like));
  return MPI_SUCCESS;
}

// Expands triplets (first, last, stride) to positions in a group.
int expand(const Members& members, int n, int ranges[][3], std::vector<int>& out) {
  for (int i = 0; i < n; ++i) {
    const auto [first, last, stride] = std::tie(ranges[i][0], ranges[i][1], ranges[i][2]);
    if (stride == 0) return MPI_ERR_ARG;
    if (first < 0 || first >= members.size()) return MPI_ERR_RANK;
    for (std::int64_t k = first; stride > 0 ? k <= last : k >= last; k += stride) {
      if (k < 0 || k >= members.size()) return MPI_ERR_RANK;
      out.push_back(static_cast<int>(k));
    }
  }
  return MPI_SUCCESS;
}

// Checks that all are positions in the group, none twice, and marks them.
int mark(const Members& members, std::span<const int> positions, std::vector<bool>& marked) {
  marked.resize(static_cast<std::size_t>(members.size()));
  for (const int position : positions) {
    if (position < 0 || position >= members.size()) return MPI_ERR_RANK;
    if (marked[static_cast<std::size_t>(position)]) return MPI_ERR_RANK;
    marked[static_cast<std::size_t>(position)] = true;
  }
  return MPI_SUCCESS;
}

int include(Call& call, MPI_Group group, std::span<const int> positions, MPI_Group* newgroup) {
  const Members& members = *find_group(call.process(), group);
  std::vector<bool> marked;
  if (const int error = mark(members, positions, marked)) return call.result(error);
  std::vector<RankId> ranks;
  for (const int position : positions) ranks.push_back(members[position]);
  return give(call, group, ranks, newgroup);
}

int exclude(Call& call, MPI_Group group, std::span<const int> positions, MPI_Group* newgroup) {
  const Members& members = *find_group(call.process(), group);
  std::vector<bool> marked;
  if (const int error = mark(members, positions, marked)) return call.result(error);
  std::vector<RankId> ranks;
  for (int i = 0; i < members.size(); ++i) {
    if (!marked[static_cast<std::size_t>(i)]) ranks.push_back(members[i]);
  }
  return give(call, group, ranks, newgroup);
}

// Appends to `out` the members of `from` that are in `other`, or that are not.
void select(const Members& from, const Members& other, bool inside, std::vector<RankId>& out) {
  const Finder finder(other);
  for (int i = 0; i < from.size(); ++i) {
    if (finder.find(from[i]).has_value() == inside) out.push_back(from[i]);
  }
}

struct Two {
  const Members* a;
  const Members* b;
  explicit operator bool() const { return a && b; }
};
Two find_two(Call& call, MPI_Group a, MPI_Group b) {
  return {find_group(call.process(), a), find_group(call.process(), b)};
}

}  // namespace

WEFT_MPI(Group_size)(MPI_Group group, int* size) {
  Call call("MPI_Group_size", Call::local);
  const Members* members = find_group(call.process(), group);
  if (!members) return call.result(MPI_ERR_GROUP);
  if (!size) return call.result(MPI_ERR_ARG);
  *size = members->size();
  return MPI_SUCCESS;
}

WEFT_MPI(Group_rank)(MPI_Group group, int* rank) {
  Call call("MPI_Group_rank", Call::local);
  const Members* members = find_group(call.process(), group);
  if (!members) return call.result(MPI_ERR_GROUP);
  if (!rank) return call.result(MPI_ERR_ARG);
  *rank = members->find(call.process().rank()).value_or(MPI_UNDEFINED);
  return MPI_SUCCESS;
}

WEFT_MPI(Group_translate_ranks)
(MPI_Group group1, int n, const int ranks1[], MPI_Group group2, int ranks2[]) {
  Call call("MPI_Group_translate_ranks", Call::local);
  const Two groups = find_two(call, group1, group2);
  if (!groups) return call.result(MPI_ERR_GROUP);
  if (n < 0 || (n > 0 && (!ranks1 || !ranks2))) return call.result(MPI_ERR_ARG);
  constexpr int many = 32;  // From here on sorting pays off.
  std::optional<Finder> finder;
  if (n >= many) finder.emplace(*groups.b);
  for (int i = 0; i < n; ++i) {
    if (ranks1[i] == MPI_PROC_NULL) {
      ranks2[i] = MPI_PROC_NULL;
      continue;
    }
    if (ranks1[i] < 0 || ranks1[i] >= groups.a->size()) return call.result(MPI_ERR_RANK);
    const RankId rank = (*groups.a)[ranks1[i]];
    ranks2[i] = (finder ? finder->find(rank) : groups.b->find(rank)).value_or(MPI_UNDEFINED);
  }
  return MPI_SUCCESS;
}

WEFT_MPI(Group_compare)(MPI_Group group1, MPI_Group group2, int* result) {
  Call call("MPI_Group_compare", Call::local);
  const Two groups = find_two(call, group1, group2);
  if (!groups) return call.result(MPI_ERR_GROUP);
  if (!result) return call.result(MPI_ERR_ARG);
  *result = weft::mpi::compare(*groups.a, *groups.b);
  return MPI_SUCCESS;
}

WEFT_MPI(Group_union)(MPI_Group group1, MPI_Group group2, MPI_Group* newgroup) {
  Call call("MPI_Group_union", Call::local);
  const Two groups = find_two(call, group1, group2);
  if (!groups) return call.result(MPI_ERR_GROUP);
  std::vector<RankId> ranks;
  for (int i = 0; i < groups.a->size(); ++i) ranks.push_back((*groups.a)[i]);
  select(*groups.b, *groups.a, false, ranks);
  return give(call, group1, ranks, newgroup);
}

WEFT_MPI(Group_intersection)(MPI_Group group1, MPI_Group group2, MPI_Group* newgroup) {
  Call call("MPI_Group_intersection", Call::local);
  const Two groups = find_two(call, group1, group2);
  if (!groups) return call.result(MPI_ERR_GROUP);
  std::vector<RankId> ranks;
  select(*groups.a, *groups.b, true, ranks);
  return give(call, group1, ranks, newgroup);
}

WEFT_MPI(Group_difference)(MPI_Group group1, MPI_Group group2, MPI_Group* newgroup) {
  Call call("MPI_Group_difference", Call::local);
  const Two groups = find_two(call, group1, group2);
  if (!groups) return call.result(MPI_ERR_GROUP);
  std::vector<RankId> ranks;
  select(*groups.a, *groups.b, false, ranks);
  return give(call, group1, ranks, newgroup);
}

WEFT_MPI(Group_incl)(MPI_Group group, int n, const int ranks[], MPI_Group* newgroup) {
  Call call("MPI_Group_incl", Call::local);
  const Members* members = find_group(call.process(), group);
  if (!members) return call.result(MPI_ERR_GROUP);
  if (n < 0 || (n > 0 && !ranks)) return call.result(MPI_ERR_ARG);
  return include(call, group, {ranks, static_cast<std::size_t>(n)}, newgroup);
}

WEFT_MPI(Group_excl)(MPI_Group group, int n, const int ranks[], MPI_Group* newgroup) {
  Call call("MPI_Group_excl", Call::local);
  const Members* members = find_group(call.process(), group);
  if (!members) return call.result(MPI_ERR_GROUP);
  if (n < 0 || (n > 0 && !ranks)) return call.result(MPI_ERR_ARG);
  return exclude(call, group, {ranks, static_cast<std::size_t>(n)}, newgroup);
}

WEFT_MPI(Group_range_incl)(MPI_Group group, int n, int ranges[][3], MPI_Group* newgroup) {
  Call call("MPI_Group_range_incl", Call::local);
  const Members* members = find_group(call.process(), group);
  if (!members) return call.result(MPI_ERR_GROUP);
  if (n < 0 || (n > 0 && !ranges) || !newgroup) return call.result(MPI_ERR_ARG);
  std::vector<int> positions;
  if (const int error = expand(*members, n, ranges, positions)) return call.result(error);
  return include(call, group, positions, newgroup);
}

WEFT_MPI(Group_range_excl)(MPI_Group group, int n, int ranges[][3], MPI_Group* newgroup) {
  Call call("MPI_Group_range_excl", Call::local);
  const Members* members = find_group(call.process(), group);
  if (!members) return call.result(MPI_ERR_GROUP);
  if (n < 0 || (n > 0 && !ranges) || !newgroup) return call.result(MPI_ERR_ARG);
  std::vector<int> positions;
  if (const int error = expand(*members, n, ranges, positions)) return call.result(error);
  return exclude(call, group, positions, newgroup);
}

WEFT_MPI(Group_free)(MPI_Group* group) {
  Call call("MPI_Group_free", Call::local);
  if (!group) return call.result(MPI_ERR_ARG);
  weft::mpi::Group* object = call.process().groups.find(*group);
  // Operations may return MPI_GROUP_EMPTY, which is then freed like any other result.
  if (!object && *group != MPI_GROUP_EMPTY) return call.result(MPI_ERR_GROUP);
  if (object) call.process().groups.free(object);
  *group = MPI_GROUP_NULL;
  return MPI_SUCCESS;
}
