// SPDX-License-Identifier: Apache-2.0
#include "info.hpp"

#include <string>

#include <gtest/gtest.h>

#include <weft/message/mpi/test_job.hpp>

namespace weft::mpi {
namespace {

TEST(Info, KeysInOrder) {
  run_jobs(1, [](int) {
    MPI_Info info, copy;
    MPI_Info_create(&info);
    for (const char* key : {"b", "a", "c"}) MPI_Info_set(info, key, "1");
    MPI_Info_set(info, "a", "twelve");
    MPI_Info_dup(info, &copy);
    MPI_Info_delete(info, "b");
    int count = 0;
    MPI_Info_get_nkeys(info, &count);
    EXPECT_EQ(count, 2);
    MPI_Info_get_nkeys(copy, &count);
    EXPECT_EQ(count, 3);
    char key[MPI_MAX_INFO_KEY];
    MPI_Info_get_nthkey(copy, 0, key);
    EXPECT_STREQ(key, "b");
    MPI_Info_get_nthkey(info, 0, key);
    EXPECT_STREQ(key, "a");
    int length = 0, flag = 0;
    MPI_Info_get_valuelen(info, "a", &length, &flag);
    EXPECT_EQ(flag, 1);
    EXPECT_EQ(length, 6);
    MPI_Info_free(&info);
    EXPECT_EQ(info, MPI_INFO_NULL);
    MPI_Info_free(&copy);
  });
}

TEST(Info, ValuesAreCutToTheRoom) {
  run_jobs(1, [](int) {
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "key", "twelve");
    char value[10];
    int flag = 0, room = 4;
    MPI_Info_get(info, "key", 3, value, &flag);
    EXPECT_STREQ(value, "twe");
    MPI_Info_get_string(info, "key", &room, value, &flag);
    EXPECT_STREQ(value, "twe");
    EXPECT_EQ(room, 7);
    room = 0;
    MPI_Info_get_string(info, "key", &room, nullptr, &flag);
    EXPECT_EQ(room, 7);
    MPI_Info_get(info, "none", 3, value, &flag);
    EXPECT_EQ(flag, 0);
    MPI_Info_free(&info);
  });
}

TEST(Info, BadArguments) {
  run_jobs(1, [](int) {
    return_errors();
    MPI_Info info;
    MPI_Info_create(&info);
    EXPECT_EQ(MPI_Info_set(MPI_INFO_NULL, "a", "b"), MPI_ERR_INFO);
    EXPECT_EQ(MPI_Info_set(info, std::string(300, 'k').c_str(), "b"), MPI_ERR_INFO_KEY);
    EXPECT_EQ(MPI_Info_set(info, "", "b"), MPI_ERR_INFO_KEY);
    EXPECT_EQ(MPI_Info_set(info, "a", std::string(2000, 'v').c_str()), MPI_ERR_INFO_VALUE);
    EXPECT_EQ(MPI_Info_delete(info, "a"), MPI_ERR_INFO_NOKEY);
    char key[MPI_MAX_INFO_KEY];
    EXPECT_EQ(MPI_Info_get_nthkey(info, 0, key), MPI_ERR_ARG);
    MPI_Info gone = info;
    MPI_Info_free(&info);
    EXPECT_EQ(MPI_Info_free(&gone), MPI_ERR_INFO);
  });
}

}  // namespace
}  // namespace weft::mpi
