// SPDX-License-Identifier: Apache-2.0
#include <climits>
#include <vector>

#include "keyvals.hpp"
#include <gtest/gtest.h>

#include <weft/message/mpi/test_job.hpp>

namespace weft::mpi {
namespace {

struct Log {
  std::vector<int> copied, deleted;
  int fail_copy = MPI_SUCCESS, fail_delete = MPI_SUCCESS;
};

int copy_it(MPI_Comm, int, void* state, void* in, void* out, int* flag) {
  Log& log = *static_cast<Log*>(state);
  log.copied.push_back(*static_cast<int*>(in));
  *static_cast<void**>(out) = in;
  *flag = 1;
  return log.fail_copy;
}
int delete_it(MPI_Comm, int, void* value, void* state) {
  Log& log = *static_cast<Log*>(state);
  if (log.fail_delete != MPI_SUCCESS) return log.fail_delete;
  log.deleted.push_back(*static_cast<int*>(value));
  return MPI_SUCCESS;
}

TEST(Attribute, CopiedAndDeleted) {
  run_jobs(2, [](int) {
    Log log;
    int key = MPI_KEYVAL_INVALID, one = 1, two = 2;
    MPI_Comm_create_keyval(copy_it, delete_it, &key, &log);
    MPI_Comm comm, copy;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    int flag = 1;
    int* value = nullptr;
    MPI_Comm_get_attr(comm, key, &value, &flag);
    EXPECT_EQ(flag, 0);
    MPI_Comm_set_attr(comm, key, &one);
    MPI_Comm_set_attr(comm, key, &two);  // Deletes the first.
    EXPECT_EQ(log.deleted, std::vector<int>{1});
    MPI_Comm_get_attr(comm, key, &value, &flag);
    EXPECT_EQ(flag, 1);
    EXPECT_EQ(*value, 2);
    MPI_Comm_dup(comm, &copy);
    EXPECT_EQ(log.copied, std::vector<int>{2});
    int same = key;
    MPI_Comm_free_keyval(&key);  // Still in use.
    EXPECT_EQ(key, MPI_KEYVAL_INVALID);
    MPI_Comm_free(&copy);
    EXPECT_EQ(log.deleted, (std::vector<int>{1, 2}));
    MPI_Comm_free(&comm);
    EXPECT_EQ(log.deleted.size(), 3U);
    return_errors();
    EXPECT_EQ(MPI_Comm_set_attr(MPI_COMM_WORLD, same, &one), MPI_ERR_KEYVAL);
  });
}

TEST(Attribute, StandInsForFunctions) {
  run_jobs(1, [](int) {
    int kept = 0, dropped = 0, number = 5, flag = 0;
    MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, &kept, nullptr);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &dropped, nullptr);
    MPI_Comm_set_attr(MPI_COMM_WORLD, kept, &number);
    MPI_Comm_set_attr(MPI_COMM_WORLD, dropped, &number);
    MPI_Comm copy;
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    int* value = nullptr;
    MPI_Comm_get_attr(copy, kept, &value, &flag);
    EXPECT_EQ(flag, 1);
    EXPECT_EQ(value, &number);
    MPI_Comm_get_attr(copy, dropped, &value, &flag);
    EXPECT_EQ(flag, 0);
    EXPECT_EQ(MPI_Comm_delete_attr(copy, kept), MPI_SUCCESS);
    MPI_Comm_get_attr(copy, kept, &value, &flag);
    EXPECT_EQ(flag, 0);
    MPI_Comm_free(&copy);
    MPI_Comm_delete_attr(MPI_COMM_WORLD, kept);
    MPI_Comm_delete_attr(MPI_COMM_WORLD, dropped);
    MPI_Comm_free_keyval(&kept);
    MPI_Comm_free_keyval(&dropped);
  });
}

TEST(Attribute, ErrorsOfFunctionsComeBack) {
  run_jobs(1, [](int) {
    Log log;
    int key = 0, number = 5;
    MPI_Comm_create_keyval(copy_it, delete_it, &key, &log);
    MPI_Comm comm, copy = MPI_COMM_SELF;
    MPI_Comm_dup(MPI_COMM_SELF, &comm);
    return_errors(comm);
    MPI_Comm_set_attr(comm, key, &number);
    log.fail_copy = MPI_ERR_OTHER;
    EXPECT_EQ(MPI_Comm_dup(comm, &copy), MPI_ERR_OTHER);
    EXPECT_EQ(copy, MPI_COMM_NULL);
    log.fail_delete = MPI_ERR_OTHER;
    EXPECT_EQ(MPI_Comm_free(&comm), MPI_ERR_OTHER);
    EXPECT_NE(comm, MPI_COMM_NULL);
    log.fail_delete = MPI_SUCCESS;
    EXPECT_EQ(MPI_Comm_free(&comm), MPI_SUCCESS);
    MPI_Comm_free_keyval(&key);
  });
}

TEST(Attribute, OfSelfEndBeforeTheLibrary) {
  Log log;
  int one = 1, two = 2;
  run_job({1}, [&](int) {
    int first = 0, second = 0;
    MPI_Comm_create_keyval(copy_it, delete_it, &first, &log);
    MPI_Comm_create_keyval(copy_it, delete_it, &second, &log);
    MPI_Comm_set_attr(MPI_COMM_SELF, first, &one);
    MPI_Comm_set_attr(MPI_COMM_SELF, second, &two);
    EXPECT_TRUE(log.deleted.empty());
  });
  EXPECT_EQ(log.deleted, (std::vector<int>{2, 1}));  // Last set, first deleted.
}

TEST(Attribute, Environment) {
  run_jobs(3, [](int) {
    return_errors();
    int flag = 0;
    int* value = nullptr;
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &value, &flag);
    ASSERT_EQ(flag, 1);
    EXPECT_GE(*value, 32767);
    int got = 0;
    MPI_Sendrecv(&got, 1, MPI_INT, 0, *value, &got, 0, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_SELF,
                 MPI_STATUS_IGNORE);  // MPI_TAG_UB is a valid tag.
    MPI_Recv(&got, 1, MPI_INT, 0, *value, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_UNIVERSE_SIZE, &value, &flag);
    ASSERT_EQ(flag, 1);
    EXPECT_EQ(*value, 3);
    for (const int key : {MPI_HOST, MPI_IO, MPI_WTIME_IS_GLOBAL, MPI_APPNUM, MPI_LASTUSEDCODE}) {
      EXPECT_EQ(MPI_Comm_get_attr(MPI_COMM_WORLD, key, &value, &flag), MPI_SUCCESS);
      EXPECT_EQ(flag, 1);
    }
    EXPECT_EQ(MPI_Comm_set_attr(MPI_COMM_WORLD, MPI_TAG_UB, &got), MPI_ERR_KEYVAL);
    EXPECT_EQ(MPI_Comm_delete_attr(MPI_COMM_WORLD, MPI_IO), MPI_ERR_KEYVAL);
  });
}

int copy_type(MPI_Datatype, int, void* state, void* in, void* out, int* flag) {
  return copy_it(MPI_COMM_NULL, 0, state, in, out, flag);
}
int delete_type(MPI_Datatype, int, void* value, void* state) {
  return delete_it(MPI_COMM_NULL, 0, value, state);
}

TEST(Attribute, OfDatatypes) {
  run_jobs(2, [](int rank) {
    Log log;
    int key = 0, flag = 0, mine = rank;
    MPI_Type_create_keyval(copy_type, delete_type, &key, &log);
    MPI_Datatype type, copy;
    MPI_Type_contiguous(2, MPI_INT, &type);
    MPI_Type_set_attr(type, key, &mine);
    MPI_Type_dup(type, &copy);
    EXPECT_EQ(log.copied, std::vector<int>{rank});
    int* value = nullptr;
    MPI_Type_get_attr(copy, key, &value, &flag);
    ASSERT_EQ(flag, 1);
    EXPECT_EQ(value, &mine);
    MPI_Type_free(&type);
    MPI_Type_free(&copy);
    EXPECT_EQ(log.deleted, (std::vector<int>{rank, rank}));
    // Predefined types are shared by all ranks, but their attributes are not.
    MPI_Type_get_attr(MPI_INT, key, &value, &flag);
    EXPECT_EQ(flag, 0);
    MPI_Type_set_attr(MPI_INT, key, &mine);
    MPI_Sendrecv(&rank, 1, MPI_INT, 1 - rank, 0, &flag, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    MPI_Type_get_attr(MPI_INT, key, &value, &flag);
    ASSERT_EQ(flag, 1);
    EXPECT_EQ(*value, rank);
    MPI_Type_delete_attr(MPI_INT, key);
    return_errors();
    EXPECT_EQ(MPI_Comm_set_attr(MPI_COMM_WORLD, key, &mine), MPI_ERR_KEYVAL);
    MPI_Type_free_keyval(&key);
  });
}

// Attributes outlive their freed key and are deleted with its functions.
TEST(Attribute, UnderFreedKey) {
  run_jobs(1, [](int) {
    Log log;
    int key = MPI_KEYVAL_INVALID, one = 1, two = 2;
    MPI_Comm_create_keyval(copy_it, delete_it, &key, &log);
    MPI_Comm_set_attr(MPI_COMM_WORLD, key, &one);
    MPI_Comm_set_attr(MPI_COMM_SELF, key, &two);
    int first = key, second = key;
    EXPECT_EQ(MPI_Comm_free_keyval(&first), MPI_SUCCESS);
    EXPECT_EQ(MPI_Comm_free_keyval(&second), MPI_SUCCESS);
    EXPECT_EQ(MPI_Comm_delete_attr(MPI_COMM_WORLD, key), MPI_SUCCESS);
    EXPECT_EQ(MPI_Comm_delete_attr(MPI_COMM_SELF, key), MPI_SUCCESS);
    EXPECT_EQ(log.deleted, (std::vector<int>{1, 2}));
    return_errors();
    EXPECT_EQ(MPI_Comm_delete_attr(MPI_COMM_WORLD, key), MPI_ERR_KEYVAL);
  });
}

TEST(Attribute, FailedCopyOfDatatypeGivesNull) {
  run_jobs(1, [](int) {
    return_errors();
    Log log;
    int key = MPI_KEYVAL_INVALID, one = 1;
    MPI_Type_create_keyval(copy_type, delete_type, &key, &log);
    MPI_Type_set_attr(MPI_INT, key, &one);
    log.fail_copy = MPI_ERR_OTHER;
    MPI_Datatype copy = MPI_INT;
    EXPECT_EQ(MPI_Type_dup(MPI_INT, &copy), MPI_ERR_OTHER);
    EXPECT_EQ(copy, MPI_DATATYPE_NULL);
    MPI_Type_delete_attr(MPI_INT, key);
    MPI_Type_free_keyval(&key);
  });
}

// All ranks share the type, but not a name that one of them gives it.
TEST(Attribute, NameOfPredefinedType) {
  run_jobs(2, [](int rank) {
    char name[MPI_MAX_OBJECT_NAME];
    int length = 0;
    if (rank == 0) MPI_Type_set_name(MPI_INT, "number");
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Type_get_name(MPI_INT, name, &length);
    EXPECT_STREQ(name, rank == 0 ? "number" : "MPI_INT");
  });
}

}  // namespace
}  // namespace weft::mpi
