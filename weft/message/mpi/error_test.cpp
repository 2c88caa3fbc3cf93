// SPDX-License-Identifier: Apache-2.0
// Errors: handlers, codes, argument checks.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <weft/message/mpi/test_job.hpp>

namespace weft::mpi {
namespace {

TEST(Error, ArgumentsAreChecked) {
  run_jobs(2, [](int) {
    return_errors();
    int data[4] = {};
    MPI_Request request;
    const MPI_Comm world = MPI_COMM_WORLD;
    EXPECT_EQ(MPI_Send(data, 1, MPI_INT, 2, 0, world), MPI_ERR_RANK);
    EXPECT_EQ(MPI_Send(data, 1, MPI_INT, -1, 0, world), MPI_ERR_RANK);
    EXPECT_EQ(MPI_Isend(data, 1, MPI_INT, 0, -1, world, &request), MPI_ERR_TAG);
    EXPECT_EQ(MPI_Send(data, 1, MPI_INT, 0, MPI_ANY_TAG, world), MPI_ERR_TAG);
    EXPECT_EQ(MPI_Recv(data, -1, MPI_INT, 0, 0, world, MPI_STATUS_IGNORE), MPI_ERR_COUNT);
    EXPECT_EQ(MPI_Recv(data, 1, MPI_DATATYPE_NULL, 0, 0, world, MPI_STATUS_IGNORE), MPI_ERR_TYPE);
    EXPECT_EQ(MPI_Irecv(data, 1, MPI_INT, -5, 0, world, &request), MPI_ERR_RANK);
    EXPECT_EQ(MPI_Irecv(data, 1, MPI_INT, 0, -5, world, &request), MPI_ERR_TAG);
    EXPECT_EQ(MPI_Send(nullptr, 1, MPI_INT, 0, 0, world), MPI_ERR_BUFFER);
    EXPECT_EQ(MPI_Send_init(data, -2, MPI_INT, 0, 0, world, &request), MPI_ERR_COUNT);
    EXPECT_EQ(MPI_Probe(7, 0, world, MPI_STATUS_IGNORE), MPI_ERR_RANK);
    MPI_Datatype unfinished;
    MPI_Type_contiguous(2, MPI_INT, &unfinished);
    EXPECT_EQ(MPI_Send(data, 1, unfinished, 0, 0, world), MPI_ERR_TYPE);
    MPI_Type_free(&unfinished);
    // With the null process only arguments that must always be valid are checked.
    EXPECT_EQ(MPI_Send(data, -1, MPI_INT, MPI_PROC_NULL, 0, world), MPI_ERR_COUNT);
  });
}

TEST(ErrorDeathTest, FatalByDefaultWithAClearLine) {
  const auto truncate = [] {
    run_job({2}, [](int rank) {
      int data[4] = {};
      if (rank == 0) MPI_Send(data, 4, MPI_INT, 1, 7, MPI_COMM_WORLD);
      if (rank == 1) MPI_Recv(data, 2, MPI_INT, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    });
  };
  EXPECT_EXIT(truncate(), testing::ExitedWithCode(MPI_ERR_TRUNCATE),
              "rank 1: MPI_Recv: message truncated: 16 bytes from rank 0 with tag 7, room for 8");
  EXPECT_EXIT(run_job({1}, [](int) { MPI_Abort(MPI_COMM_WORLD, 42); }), testing::ExitedWithCode(42),
              "rank 0: MPI_Abort with error code 42");
  const auto early = [] {
    (void)run_bare({1},
                   [](int) { MPI_Send(nullptr, 0, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD); });
  };
  EXPECT_EXIT(early(), testing::ExitedWithCode(MPI_ERR_OTHER),
              "rank 0: MPI_Send: other error: called before MPI_Init");
}

int told_code = 0;
MPI_Comm told_comm = MPI_COMM_NULL;
void remember(MPI_Comm* comm, int* code, ...) {
  told_comm = *comm;
  told_code = *code;
}

TEST(Error, HandlersOfTheProgram) {
  run_job({1}, [](int) {
    MPI_Errhandler handler, got;
    MPI_Comm_create_errhandler(remember, &handler);
    MPI_Comm comm, copy;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, handler);
    MPI_Comm_get_errhandler(comm, &got);
    EXPECT_EQ(got, handler);
    MPI_Errhandler_free(&got);
    MPI_Errhandler_free(&handler);  // The communicator still has it.
    EXPECT_EQ(handler, MPI_ERRHANDLER_NULL);
    MPI_Comm_dup(comm, &copy);  // Inherits it.
    EXPECT_EQ(MPI_Send(nullptr, 0, MPI_INT, 5, 0, copy), MPI_ERR_RANK);
    EXPECT_EQ(told_code, MPI_ERR_RANK);
    EXPECT_EQ(told_comm, copy);
    MPI_Comm_call_errhandler(comm, MPI_ERR_TOPOLOGY);
    EXPECT_EQ(told_code, MPI_ERR_TOPOLOGY);
    EXPECT_EQ(told_comm, comm);
    MPI_Comm_free(&comm);
    MPI_Comm_free(&copy);
    return_errors();
    EXPECT_EQ(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRHANDLER_NULL), MPI_ERR_ERRHANDLER);
    MPI_Comm_get_errhandler(MPI_COMM_WORLD, &got);
    EXPECT_EQ(got, MPI_ERRORS_RETURN);
    EXPECT_EQ(MPI_Errhandler_free(&got), MPI_SUCCESS);
  });
}

TEST(Error, CodesAndTexts) {
  run_jobs(1, [](int) {
    return_errors();
    char text[MPI_MAX_ERROR_STRING];
    int length = 0, own_class = 0, own_code = 0, found = 0;
    for (int code = 0; code <= MPI_ERR_ABI; ++code) {
      ASSERT_EQ(MPI_Error_string(code, text, &length), MPI_SUCCESS);
      EXPECT_EQ(static_cast<int>(std::string(text).size()), length);
      EXPECT_GT(length, 0);
      MPI_Error_class(code, &found);
      EXPECT_EQ(found, code);
    }
    MPI_Add_error_class(&own_class);
    EXPECT_GT(own_class, MPI_ERR_LASTCODE);
    MPI_Add_error_code(own_class, &own_code);
    MPI_Add_error_string(own_code, "the cat is on the keyboard");
    MPI_Error_class(own_code, &found);
    EXPECT_EQ(found, own_class);
    MPI_Error_string(own_code, text, &length);
    EXPECT_STREQ(text, "the cat is on the keyboard");
    MPI_Error_string(own_class, text, &length);
    EXPECT_STREQ(text, "");
    int* last = nullptr;
    int flag = 0;
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, &last, &flag);
    EXPECT_EQ(*last, own_code);
    EXPECT_EQ(MPI_Error_class(own_code + 10, &found), MPI_ERR_ARG);
    EXPECT_EQ(MPI_Add_error_string(MPI_ERR_ARG, "no"), MPI_ERR_ARG);
    EXPECT_EQ(MPI_Remove_error_class(own_class), MPI_ERR_ARG);  // A code uses it.
    EXPECT_EQ(MPI_Remove_error_string(own_code), MPI_SUCCESS);
    EXPECT_EQ(MPI_Remove_error_code(own_code), MPI_SUCCESS);
    EXPECT_EQ(MPI_Remove_error_class(own_class), MPI_SUCCESS);
    EXPECT_EQ(MPI_Error_class(own_code, &found), MPI_ERR_ARG);
  });
}

// By the names that MPICH had for this before MPI 4.1.
TEST(Error, CodesGoByOlderNames) {
  run_job({1}, [](int) {
    return_errors();
    int own_class = 0, own_code = 0;
    MPI_Add_error_class(&own_class);
    MPI_Add_error_code(own_class, &own_code);
    MPI_Add_error_string(own_code, "the cat has gone");
    EXPECT_EQ(MPIX_Delete_error_class(own_class), MPI_ERR_ARG);  // A code uses it.
    EXPECT_EQ(MPIX_Delete_error_string(own_code), MPI_SUCCESS);
    EXPECT_EQ(MPIX_Delete_error_code(own_code), MPI_SUCCESS);
    EXPECT_EQ(MPIX_Delete_error_class(own_class), MPI_SUCCESS);
  });
}

// Removing many classes takes no longer for each than removing one.
TEST(Error, ManyClassesComeAndGo) {
  run_job({1}, [](int) {
    return_errors();
    constexpr int many = 200'000;
    int first = 0, last = 0, code = 0;
    MPI_Add_error_class(&first);
    for (int i = 1; i < many; ++i) MPI_Add_error_class(&last);
    MPI_Add_error_code(first, &code);
    EXPECT_EQ(MPI_Remove_error_class(first), MPI_ERR_ARG);
    for (int i = first + 1; i <= last; ++i) ASSERT_EQ(MPI_Remove_error_class(i), MPI_SUCCESS);
    EXPECT_EQ(MPI_Remove_error_code(code), MPI_SUCCESS);
    EXPECT_EQ(MPI_Remove_error_class(first), MPI_SUCCESS);
  });
}

// Errors without a communicator go to MPI_COMM_SELF's handler if the program has changed it.
TEST(Error, HandlerOfLastResort) {
  run_job({1}, [](int) {
    return_errors(MPI_COMM_SELF);
    int size = 0;
    EXPECT_EQ(MPI_Group_size(MPI_GROUP_NULL, &size), MPI_ERR_GROUP);
    EXPECT_EQ(MPI_Comm_size(MPI_COMM_NULL, &size), MPI_ERR_COMM);
  });
}

}  // namespace
}  // namespace weft::mpi
