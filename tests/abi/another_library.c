/* SPDX-License-Identifier: Apache-2.0
 * In place of another implementation of the standard ABI: as much of a library for single processes
 * as hello.c calls. A program that weft cc has compiled must start with it. */
#include <stdint.h>
#include <string.h>

int MPI_Init(int* count, char*** arguments) {
  (void)count, (void)arguments;
  return 0;
}
int MPI_Finalize(void) {
  return 0;
}
int MPI_Comm_rank(void* comm, int* rank) {
  *rank = 0;
  return comm == (void*)(uintptr_t)0x101 ? 0 : 5;
}
int MPI_Comm_size(void* comm, int* size) {
  *size = 1;
  return comm == (void*)(uintptr_t)0x101 ? 0 : 5;
}
int MPI_Allreduce(const void* in, void* out, int count, void* type, void* op, void* comm) {
  (void)op, (void)comm;
  if (type != (void*)(uintptr_t)0x209) return 3;
  memcpy(out, in, sizeof(int) * (size_t)count);
  return 0;
}
int MPI_Get_library_version(char* version, int* length) {
  strcpy(version, "another 1.0");
  *length = (int)strlen(version);
  return 0;
}
