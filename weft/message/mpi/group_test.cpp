// SPDX-License-Identifier: Apache-2.0
#include "group.hpp"

#include <vector>

#include <gtest/gtest.h>

#include <weft/message/mpi/test_job.hpp>

namespace weft::mpi {
namespace {

using Ints = std::vector<int>;

// World ranks of the members.
Ints ranks_of(MPI_Group group) {
  int size = 0;
  MPI_Group_size(group, &size);
  Ints own(static_cast<std::size_t>(size)), world(own.size());
  for (int i = 0; i < size; ++i) own[static_cast<std::size_t>(i)] = i;
  MPI_Group all;
  MPI_Comm_group(MPI_COMM_WORLD, &all);
  MPI_Group_translate_ranks(group, size, own.data(), all, world.data());
  MPI_Group_free(&all);
  return world;
}

MPI_Group including(const Ints& ranks) {
  MPI_Group all, result;
  MPI_Comm_group(MPI_COMM_WORLD, &all);
  MPI_Group_incl(all, static_cast<int>(ranks.size()), ranks.data(), &result);
  MPI_Group_free(&all);
  return result;
}

TEST(Group, SetOperationsKeepTheOrder) {
  run_jobs(8, [](int) {
    MPI_Group a = including({5, 1, 3, 0}), b = including({3, 2, 5, 7});
    MPI_Group result;
    MPI_Group_union(a, b, &result);
    EXPECT_EQ(ranks_of(result), (Ints{5, 1, 3, 0, 2, 7}));
    MPI_Group_free(&result);
    MPI_Group_intersection(a, b, &result);
    EXPECT_EQ(ranks_of(result), (Ints{5, 3}));
    MPI_Group_free(&result);
    MPI_Group_difference(a, b, &result);
    EXPECT_EQ(ranks_of(result), (Ints{1, 0}));
    MPI_Group_free(&result);
    MPI_Group_difference(a, a, &result);
    EXPECT_EQ(result, MPI_GROUP_EMPTY);
    MPI_Group_free(&result);
    EXPECT_EQ(result, MPI_GROUP_NULL);
    MPI_Group_free(&a);
    MPI_Group_free(&b);
  });
}

TEST(Group, RangesAndExclusion) {
  run_jobs(10, [](int) {
    MPI_Group all, result;
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    int ranges[3][3] = {{9, 5, -2}, {0, 1, 1}, {4, 4, 3}};
    EXPECT_EQ(MPI_Group_range_incl(all, 3, ranges, &result), MPI_SUCCESS);
    EXPECT_EQ(ranks_of(result), (Ints{9, 7, 5, 0, 1, 4}));
    MPI_Group_free(&result);
    EXPECT_EQ(MPI_Group_range_excl(all, 3, ranges, &result), MPI_SUCCESS);
    EXPECT_EQ(ranks_of(result), (Ints{2, 3, 6, 8}));
    MPI_Group_free(&result);
    const Ints out = {0, 9};
    MPI_Group_excl(all, 2, out.data(), &result);
    EXPECT_EQ(ranks_of(result), (Ints{1, 2, 3, 4, 5, 6, 7, 8}));
    MPI_Group_free(&result);
    MPI_Group_free(&all);
  });
}

TEST(Group, CompareAndTranslate) {
  run_jobs(50, [](int rank) {
    Ints odd, even, even_back;
    for (int i = 0; i < 50; ++i) (i % 2 == 0 ? even : odd).push_back(i);
    even_back.assign(even.rbegin(), even.rend());
    MPI_Group a = including(even), b = including(even_back), c = including(odd);
    int result = 0;
    MPI_Group_compare(a, a, &result);
    EXPECT_EQ(result, MPI_IDENT);
    MPI_Group_compare(a, b, &result);
    EXPECT_EQ(result, MPI_SIMILAR);
    MPI_Group_compare(a, c, &result);
    EXPECT_EQ(result, MPI_UNEQUAL);
    int mine = 0;
    MPI_Group_rank(a, &mine);
    EXPECT_EQ(mine, rank % 2 == 0 ? rank / 2 : MPI_UNDEFINED);
    Ints positions(35), found(35);
    for (int i = 0; i < 35; ++i) positions[static_cast<std::size_t>(i)] = i % 25;
    MPI_Group_translate_ranks(a, 35, positions.data(), b, found.data());
    EXPECT_EQ(found[3], 21);
    MPI_Group_translate_ranks(a, 3, positions.data(), c, found.data());
    EXPECT_EQ(found[2], MPI_UNDEFINED);
    positions[0] = MPI_PROC_NULL;
    MPI_Group_translate_ranks(a, 1, positions.data(), c, found.data());
    EXPECT_EQ(found[0], MPI_PROC_NULL);
    MPI_Group_free(&a);
    MPI_Group_free(&b);
    MPI_Group_free(&c);
  });
}

TEST(Group, BadArguments) {
  run_jobs(4, [](int) {
    return_errors();
    MPI_Group all, result;
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    const Ints outside = {4}, twice = {1, 1};
    EXPECT_EQ(MPI_Group_incl(all, 1, outside.data(), &result), MPI_ERR_RANK);
    EXPECT_EQ(MPI_Group_incl(all, 2, twice.data(), &result), MPI_ERR_RANK);
    EXPECT_EQ(MPI_Group_excl(all, 2, twice.data(), &result), MPI_ERR_RANK);
    EXPECT_EQ(MPI_Group_incl(all, 1, nullptr, &result), MPI_ERR_ARG);
    EXPECT_EQ(MPI_Group_union(all, all, nullptr), MPI_ERR_ARG);
    EXPECT_EQ(MPI_Group_translate_ranks(all, 1, outside.data(), all, nullptr), MPI_ERR_ARG);
    EXPECT_EQ(MPI_Group_compare(all, all, nullptr), MPI_ERR_ARG);
    int no_stride[1][3] = {{0, 2, 0}};
    EXPECT_EQ(MPI_Group_range_incl(all, 1, no_stride, &result), MPI_ERR_ARG);
    int beyond[1][3] = {{99, 98, 1}};
    EXPECT_EQ(MPI_Group_range_incl(all, 1, beyond, nullptr), MPI_ERR_ARG);
    EXPECT_EQ(MPI_Group_range_excl(all, 1, beyond, nullptr), MPI_ERR_ARG);
    int size = 0;
    EXPECT_EQ(MPI_Group_size(MPI_GROUP_NULL, &size), MPI_ERR_GROUP);
    MPI_Group gone = all;
    MPI_Group_free(&all);
    EXPECT_EQ(MPI_Group_size(gone, &size), MPI_ERR_GROUP);
    EXPECT_EQ(MPI_Group_free(&gone), MPI_ERR_GROUP);
    EXPECT_EQ(MPI_Group_size(MPI_GROUP_EMPTY, &size), MPI_SUCCESS);
    EXPECT_EQ(size, 0);
  });
}

}  // namespace
}  // namespace weft::mpi
