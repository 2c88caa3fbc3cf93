/* SPDX-License-Identifier: Apache-2.0
 * Sessions, with MPI_Init before, between or never. Usage: sessions [alone|before|between|never] */
#include "check.h"
#include <stdlib.h>

static int told = 0;
static void remember(MPI_Session* session, int* code, ...) {
  (void)session;
  told = *code;
}

static void look_at_sets(MPI_Session session) {
  int count = 0, length = 0, worlds = 0, selves = 0;
  CHECK(MPI_Session_get_num_psets(session, MPI_INFO_NULL, &count) == MPI_SUCCESS);
  CHECK(count >= 2);
  for (int i = 0; i < count; ++i) {
    char name[MPI_MAX_PSET_NAME_LEN], few[4], text[32];
    length = 0;
    CHECK(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, i, &length, NULL) == MPI_SUCCESS);
    int room = (int)sizeof name;
    CHECK(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, i, &room, name) == MPI_SUCCESS);
    CHECK(room == length && (int)strlen(name) + 1 == length);
    room = (int)sizeof few;
    CHECK(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, i, &room, few) == MPI_SUCCESS);
    CHECK(strncmp(few, name, 3) == 0 && few[3] == 0 && room == length);
    worlds += strcmp(name, "mpi://WORLD") == 0;
    selves += strcmp(name, "mpi://SELF") == 0;
    MPI_Info info;
    int flag = 0, size = (int)sizeof text;
    CHECK(MPI_Session_get_pset_info(session, name, &info) == MPI_SUCCESS);
    MPI_Info_get_string(info, "mpi_size", &size, text, &flag);
    CHECK(flag && atoi(text) >= 1);
    MPI_Info_free(&info);
  }
  CHECK(worlds == 1 && selves == 1);
}

/* All ranks of a process set sum up their ranks. Returns the rank. */
static int use_set(MPI_Session session, const char* set, const char* tag) {
  MPI_Group group, half;
  MPI_Comm comm, copy;
  int rank = -1, size = -1, sum = -1;
  CHECK(MPI_Group_from_session_pset(session, set, &group) == MPI_SUCCESS);
  CHECK(MPI_Comm_create_from_group(group, tag, MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm) ==
        MPI_SUCCESS);
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  CHECK(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm) == MPI_SUCCESS);
  CHECK(sum == size * (size - 1) / 2);
  CHECK(MPI_Comm_dup(comm, &copy) == MPI_SUCCESS);
  CHECK(MPI_Barrier(copy) == MPI_SUCCESS);
  CHECK(MPI_Send(&rank, 1, MPI_INT, size, 0, comm) == MPI_ERR_RANK);
  /* Both halves of the set talk to each other. */
  if (size > 1) {
    const int low = size / 2, mine = rank < low;
    int ranges[1][3] = {{mine ? 0 : low, mine ? low - 1 : size - 1, 1}};
    int others[1][3] = {{mine ? low : 0, mine ? size - 1 : low - 1, 1}};
    MPI_Group away;
    MPI_Comm across;
    int remote = 0, got = -1;
    MPI_Group_range_incl(group, 1, ranges, &half);
    MPI_Group_range_incl(group, 1, others, &away);
    CHECK(MPI_Intercomm_create_from_groups(half, 0, away, 0, tag, MPI_INFO_NULL, MPI_ERRORS_RETURN,
                                           &across) == MPI_SUCCESS);
    MPI_Comm_remote_size(across, &remote);
    CHECK(remote == (mine ? size - low : low));
    CHECK(MPI_Allreduce(&rank, &got, 1, MPI_INT, MPI_MIN, across) == MPI_SUCCESS);
    CHECK(got == (mine ? low : 0));
    MPI_Comm_free(&across);
    MPI_Group_free(&half);
    MPI_Group_free(&away);
  }
  MPI_Comm_free(&copy);
  MPI_Comm_free(&comm);
  MPI_Group_free(&group);
  return rank;
}

static void check_errors(MPI_Session session) {
  MPI_Errhandler handler, got;
  MPI_Group group = MPI_GROUP_NULL;
  CHECK(MPI_Session_create_errhandler(remember, &handler) == MPI_SUCCESS);
  CHECK(MPI_Session_set_errhandler(session, handler) == MPI_SUCCESS);
  CHECK(MPI_Session_get_errhandler(session, &got) == MPI_SUCCESS && got == handler);
  MPI_Errhandler_free(&got);
  MPI_Errhandler_free(&handler);
  told = 0;
  CHECK(MPI_Group_from_session_pset(session, "mpi://NOWHERE", &group) == MPI_ERR_ARG);
  CHECK(told == MPI_ERR_ARG);
  CHECK(MPI_Session_call_errhandler(session, MPI_ERR_OTHER) == MPI_SUCCESS);
  CHECK(told == MPI_ERR_OTHER);
  CHECK(MPI_Session_set_errhandler(session, MPI_ERRORS_RETURN) == MPI_SUCCESS);
  char text[64];
  int flag = 0, size = (int)sizeof text;
  MPI_Info info;
  CHECK(MPI_Session_get_info(session, &info) == MPI_SUCCESS);
  MPI_Info_get_string(info, "thread_level", &size, text, &flag);
  CHECK(flag && strncmp(text, "MPI_THREAD_", 11) == 0);
  MPI_Info_free(&info);
  CHECK(MPI_Session_fromint(MPI_Session_toint(session)) == session);
}

static int one_session(int round) {
  MPI_Session session = MPI_SESSION_NULL;
  char tag[32];
  CHECK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session) == MPI_SUCCESS);
  look_at_sets(session);
  check_errors(session);
  snprintf(tag, sizeof tag, "test %d", round);
  const int rank = use_set(session, "mpi://WORLD", tag);
  CHECK(use_set(session, "mpi://SELF", tag) == 0);
  CHECK(MPI_Session_finalize(&session) == MPI_SUCCESS);
  CHECK(session == MPI_SESSION_NULL);
  return rank;
}

int main(int count, char** words) {
  const char* when = count > 1 ? words[1] : "never";
  int rank = 0, flag = 1;
  MPI_Info info;
  MPI_Info_create(&info); /* Before everything. */
  MPI_Info_set(info, "thread_level", "MPI_THREAD_SINGLE");
  if (strcmp(when, "before") == 0) MPI_Init(NULL, NULL);
  rank = one_session(0);
  if (strcmp(when, "between") == 0) {
    MPI_Session around;
    int world = -1;
    MPI_Initialized(&flag);
    CHECK(!flag);
    CHECK(MPI_Session_init(info, MPI_ERRORS_RETURN, &around) == MPI_SUCCESS);
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &world);
    CHECK(world == rank);
    CHECK(one_session(1) == rank);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    MPI_Finalized(&flag);
    CHECK(flag);
    CHECK(use_set(around, "mpi://WORLD", "after") == rank);
    CHECK(MPI_Session_finalize(&around) == MPI_SUCCESS);
  } else if (strcmp(when, "before") == 0) {
    MPI_Finalize();
  } else {
    MPI_Initialized(&flag);
    CHECK(!flag);
  }
  CHECK(one_session(2) == rank);
  MPI_Info_free(&info);
  report(rank);
  return 0;
}
