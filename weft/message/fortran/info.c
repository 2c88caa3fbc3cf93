/* SPDX-License-Identifier: Apache-2.0 */
/* Info: values whose length the program says. Lengths do not count a terminating zero. */
#include "fortran.h"

WRAPPER(info_create_env, (int* info, int* ierror)) {
  MPI_Info made = MPI_INFO_NULL;
  *ierror = PMPI_Info_create_env(0, NULL, &made);
  if (*ierror == MPI_SUCCESS) *info = info_number(made);
}

WRAPPER(info_get, (const int* info, const char* key, const int* valuelen, char* value, int* flag,
                   int* ierror, size_t key_length, size_t value_length)) {
  char* name = text_of(key, key_length, 1);
  char* found = calloc(*valuelen < 0 ? 1 : (size_t)*valuelen + 1, 1);
  int there = 0;
  *ierror = PMPI_Info_get(info_of(*info), name, *valuelen, found, &there);
  if (*ierror == MPI_SUCCESS) *flag = there != 0;
  if (*ierror == MPI_SUCCESS && there) give_text(value, value_length, found);
  free(found);
  free(name);
}

WRAPPER(info_get_string, (const int* info, const char* key, int* buflen, char* value, int* flag,
                          int* ierror, size_t key_length, size_t value_length)) {
  char* name = text_of(key, key_length, 1);
  const int wanted = *buflen;
  int length = wanted > 0 ? wanted + 1 : wanted, there = 0;
  char* found = calloc(length < 0 ? 1 : (size_t)length + 1, 1);
  *ierror = PMPI_Info_get_string(info_of(*info), name, &length, found, &there);
  if (*ierror == MPI_SUCCESS) *flag = there != 0;
  if (*ierror == MPI_SUCCESS && there) {
    *buflen = length - 1;
    if (wanted > 0) give_text(value, value_length, found);
  }
  free(found);
  free(name);
}
