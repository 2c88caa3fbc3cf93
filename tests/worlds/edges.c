/* SPDX-License-Identifier: Apache-2.0 */
/* What a receive says in cases that programs seldom meet: one line for each way to receive and each
   case. Rank 1 receives, rank 0 sends. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { tag = 7, small = 40, large = 1 << 20 };

static char *out, *in;
static int self;

typedef struct {
  const char* name;
  int sent;   /* Bytes of the message, or -1: none is sent. */
  int room;   /* Bytes that the receiver gives. */
  int source; /* As the receiver gives it. */
  int tag;
  int cancels;
} Case;

static const Case cases[] = {
    {"fits", small, small, 0, tag, 0},
    {"shorter", small, large, 0, tag, 0},
    {"zero of zero", 0, 0, 0, tag, 0},
    {"zero", 0, small, 0, tag, 0},
    {"no room", small, 0, 0, tag, 0},
    {"truncated", small, small - 8, 0, tag, 0},
    {"truncated large", large, large / 2, 0, tag, 0},
    {"large into little", large, 8, 0, tag, 0},
    {"any source", small, small, MPI_ANY_SOURCE, tag, 0},
    {"any tag", small, small, 0, MPI_ANY_TAG, 0},
    {"any, truncated", small, 8, MPI_ANY_SOURCE, MPI_ANY_TAG, 0},
    {"nobody", -1, small, MPI_PROC_NULL, tag, 0},
    {"nobody, any tag", -1, small, MPI_PROC_NULL, MPI_ANY_TAG, 0},
    {"cancelled", -1, small, 0, tag, 1},
};

static void print(const char* way, const Case* c, int code, const MPI_Status* status) {
  int class = MPI_SUCCESS, count = -1, cancelled = 0;
  if (code != MPI_SUCCESS) MPI_Error_class(code, &class);
  char text[64] = "";
  if (class == MPI_ERR_TRUNCATE)
    strcpy(text, "truncate");
  else if (class == MPI_ERR_IN_STATUS)
    strcpy(text, "in status");
  else
    sprintf(text, "%d", class);
  MPI_Get_count(status, MPI_BYTE, &count);
  MPI_Test_cancelled(status, &cancelled);
  const int source = status->MPI_SOURCE, t = status->MPI_TAG;
  printf("%-9s %-17s %-9s", way, c->name, text);
  if (cancelled)
    printf(" cancelled\n");
  else
    printf(" source %s tag %s count %d\n",
           source == MPI_PROC_NULL ? "none"
           : source == 0           ? "0"
                                   : "other",
           t == MPI_ANY_TAG ? "any"
           : t == tag       ? "7"
                            : "other",
           count);
}

static void fill(MPI_Status* status) {
  memset(status, 0x55, sizeof *status);
}

static int complete(MPI_Request* request, const Case* c, MPI_Status* status) {
  if (c->cancels) MPI_Cancel(request);
  return MPI_Wait(request, status);
}

static void receive(int way, const Case* c) {
  static const char* const names[] = {"recv",     "irecv", "waitall", "start",
                                      "sendrecv", "mrecv", "test"};
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Message message;
  MPI_Status status, probed;
  int code = MPI_SUCCESS, flag = 0;
  fill(&status);
  switch (way) {
    case 0:
      code = MPI_Recv(in, c->room, MPI_BYTE, c->source, c->tag, MPI_COMM_WORLD, &status);
      break;
    case 1:
      MPI_Irecv(in, c->room, MPI_BYTE, c->source, c->tag, MPI_COMM_WORLD, &request);
      code = complete(&request, c, &status);
      break;
    case 2:
      MPI_Irecv(in, c->room, MPI_BYTE, c->source, c->tag, MPI_COMM_WORLD, &request);
      if (c->cancels) MPI_Cancel(&request);
      code = MPI_Waitall(1, &request, &status);
      if (code == MPI_ERR_IN_STATUS) code = status.MPI_ERROR;
      break;
    case 3:
      MPI_Recv_init(in, c->room, MPI_BYTE, c->source, c->tag, MPI_COMM_WORLD, &request);
      MPI_Start(&request);
      code = complete(&request, c, &status);
      MPI_Request_free(&request);
      break;
    case 4:
      code = MPI_Sendrecv(out, 0, MPI_BYTE, MPI_PROC_NULL, 0, in, c->room, MPI_BYTE, c->source,
                          c->tag, MPI_COMM_WORLD, &status);
      break;
    case 5:
      MPI_Mprobe(c->source, c->tag, MPI_COMM_WORLD, &message, &probed);
      code = MPI_Mrecv(in, c->room, MPI_BYTE, &message, &status);
      break;
    default:
      MPI_Irecv(in, c->room, MPI_BYTE, c->source, c->tag, MPI_COMM_WORLD, &request);
      if (c->cancels) MPI_Cancel(&request);
      while (!flag) {
        fill(&status);
        code = MPI_Test(&request, &flag, &status);
      }
  }
  print(names[way], c, code, &status);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &self);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  out = calloc(1, large);
  in = calloc(1, large);
  for (int way = 0; way < 7; way++) {
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
      const Case* c = &cases[i];
      /* Only a request can be cancelled. */
      if (c->cancels && (way == 0 || way == 4 || way == 5)) continue;
      if (self == 0 && c->sent >= 0) MPI_Send(out, c->sent, MPI_BYTE, 1, tag, MPI_COMM_WORLD);
      if (self == 1) receive(way, c);
      MPI_Barrier(MPI_COMM_WORLD);
    }
  }
  MPI_Finalize();
  return 0;
}
