// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <weft/message/mpi/test_job.hpp>

namespace weft::mpi {
namespace {

MPI_Comm whole(MPI_Session session, const char* tag) {
  MPI_Group group;
  MPI_Comm comm = MPI_COMM_NULL;
  EXPECT_EQ(MPI_Group_from_session_pset(session, "mpi://WORLD", &group), MPI_SUCCESS);
  EXPECT_EQ(MPI_Comm_create_from_group(group, tag, MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm),
            MPI_SUCCESS);
  MPI_Group_free(&group);
  return comm;
}

TEST(Session, NeedsNoInit) {
  const Status status = run_bare({4}, [](int rank) {
    int flag = 1, size = 0;
    for (int round = 0; round < 2; ++round) {
      MPI_Session session;
      ASSERT_EQ(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session), MPI_SUCCESS);
      MPI_Comm comm = whole(session, "all");
      EXPECT_EQ(rank_in(comm), rank);
      int one = 1, sum = 0;
      EXPECT_EQ(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm), MPI_SUCCESS);
      EXPECT_EQ(sum, 4);
      MPI_Comm_free(&comm);
      EXPECT_EQ(MPI_Session_finalize(&session), MPI_SUCCESS);
      EXPECT_EQ(session, MPI_SESSION_NULL);
    }
    MPI_Initialized(&flag);
    EXPECT_EQ(flag, 0);
    EXPECT_EQ(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN), MPI_SUCCESS);
    EXPECT_EQ(MPI_Comm_size(MPI_COMM_WORLD, &size), MPI_ERR_OTHER);  // No session, no MPI_Init.
  });
  EXPECT_TRUE(status.has_value()) << status.error().text();
}

TEST(Session, SeveralLiveBesideEachOther) {
  run_jobs(3, [](int rank) {
    MPI_Session first, second;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &first);
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &second);
    // In different orders, told apart by their tags.
    MPI_Comm a = MPI_COMM_NULL, b = MPI_COMM_NULL;
    a = whole(first, "a");
    b = whole(second, "b");
    int compared = -1;
    MPI_Comm_compare(a, b, &compared);
    EXPECT_EQ(compared, MPI_CONGRUENT);
    const int to = (rank + 1) % 3, from = (rank + 2) % 3;
    int in_a = -1, in_b = -1, out_b = rank + 10;
    MPI_Request request;
    MPI_Isend(&out_b, 1, MPI_INT, to, 0, b, &request);
    MPI_Sendrecv(&rank, 1, MPI_INT, to, 0, &in_a, 1, MPI_INT, from, 0, a, MPI_STATUS_IGNORE);
    MPI_Recv(&in_b, 1, MPI_INT, from, 0, b, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    EXPECT_EQ(in_a, from);
    EXPECT_EQ(in_b, from + 10);
    MPI_Comm_free(&a);
    MPI_Comm_free(&b);
    EXPECT_EQ(MPI_Session_finalize(&second), MPI_SUCCESS);
    EXPECT_EQ(MPI_Session_finalize(&first), MPI_SUCCESS);
  });
}

// The level of threads is one of the process: a session has no less.
TEST(Session, HasTheThreadsThatTheProcessHas) {
  const auto level_of_a_session = [] {
    MPI_Session session = MPI_SESSION_NULL;
    MPI_Info info = MPI_INFO_NULL;
    char text[32] = {};
    int length = sizeof text, found = 0;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
    MPI_Session_get_info(session, &info);
    MPI_Info_get_string(info, "thread_level", &length, text, &found);
    MPI_Info_free(&info);
    MPI_Session_finalize(&session);
    return std::string(text);
  };
  const Status status = run_bare({2}, [&](int) {
    EXPECT_EQ(level_of_a_session(), "MPI_THREAD_SINGLE");
    int provided = -1;
    MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided);
    EXPECT_EQ(provided, MPI_THREAD_FUNNELED);
    EXPECT_EQ(level_of_a_session(), "MPI_THREAD_FUNNELED");
    MPI_Finalize();
  });
  EXPECT_TRUE(status.has_value()) << status.error().text();
}

TEST(Session, SetsHaveTheirNamesInAnyLetters) {
  run_job({3}, [](int) {
    MPI_Session session;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
    const std::pair<const char*, int> sets[] = {
        {"mpi://self", 1}, {"MPI://Self", 1}, {"mpi://world", 3}, {"mpi://WORLD", 3}};
    for (const auto& [name, size] : sets) {
      MPI_Group group = MPI_GROUP_NULL;
      int found = 0;
      EXPECT_EQ(MPI_Group_from_session_pset(session, name, &group), MPI_SUCCESS) << name;
      MPI_Group_size(group, &found);
      EXPECT_EQ(found, size) << name;
      MPI_Group_free(&group);
    }
    MPI_Session_finalize(&session);
  });
}

TEST(Session, BadHandlesAreErrors) {
  run_job({1}, [](int) {
    return_errors();
    MPI_Session session = MPI_SESSION_NULL;
    int count = 0;
    EXPECT_EQ(MPI_Session_get_num_psets(session, MPI_INFO_NULL, &count), MPI_ERR_SESSION);
    EXPECT_EQ(MPI_Session_finalize(&session), MPI_ERR_SESSION);
    EXPECT_EQ(MPI_Session_init(MPI_INFO_NULL, MPI_ERRHANDLER_NULL, &session), MPI_ERR_ERRHANDLER);
    ASSERT_EQ(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session), MPI_SUCCESS);
    int length = 8;
    char name[8];
    EXPECT_EQ(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, 2, &length, name), MPI_ERR_ARG);
    MPI_Info info;
    EXPECT_EQ(MPI_Session_get_pset_info(session, "nothing", &info), MPI_ERR_ARG);
    MPI_Session_finalize(&session);
  });
}

}  // namespace
}  // namespace weft::mpi
