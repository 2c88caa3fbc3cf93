// SPDX-License-Identifier: Apache-2.0
// A program that defines MPI symbols of its own, as every simulated program does. None of them may
// be called when weft joins a job.
#include <cstdio>
#include <cstdlib>

namespace {
[[noreturn]] void fake(const char* name) {
  std::printf("broken: %s of the program was called\n", name);
  std::fflush(stdout);
  std::_Exit(1);
}
}  // namespace

// NOLINTBEGIN(readability-identifier-naming)
#define WEFT_FAKE(name) \
  int MPI_##name();     \
  int PMPI_##name();    \
  int MPI_##name() {    \
    fake(#name);        \
  }                     \
  int PMPI_##name() {   \
    fake(#name);        \
  }

extern "C" {
WEFT_FAKE(Init)
WEFT_FAKE(Init_thread)
WEFT_FAKE(Initialized)
WEFT_FAKE(Query_thread)
WEFT_FAKE(Comm_rank)
WEFT_FAKE(Comm_size)
WEFT_FAKE(Comm_dup)
WEFT_FAKE(Comm_free)
WEFT_FAKE(Comm_group)
WEFT_FAKE(Send)
WEFT_FAKE(Isend)
WEFT_FAKE(Recv)
WEFT_FAKE(Irecv)
WEFT_FAKE(Improbe)
WEFT_FAKE(Imrecv)
WEFT_FAKE(Mrecv)
WEFT_FAKE(Test)
WEFT_FAKE(Wait)
WEFT_FAKE(Waitall)
WEFT_FAKE(Get_count)
WEFT_FAKE(Type_size)
WEFT_FAKE(Type_get_extent)
WEFT_FAKE(Allreduce)
WEFT_FAKE(Bcast)
WEFT_FAKE(Barrier)
WEFT_FAKE(Ibarrier)
WEFT_FAKE(Ireduce_scatter_block)
WEFT_FAKE(Attr_get)
WEFT_FAKE(Comm_get_attr)
WEFT_FAKE(Abort)
WEFT_FAKE(Finalize)
}
// NOLINTEND(readability-identifier-naming)
