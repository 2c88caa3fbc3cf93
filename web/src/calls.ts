// SPDX-License-Identifier: Apache-2.0
// Kinds of MPI calls, as the timeline colours them.

export const callKinds = ["point-to-point", "wait", "collective", "one-sided", "finalize", "other"] as const;

const collective =
  /^i?(barrier|bcast|gather|scatter|allgather|alltoall|reduce|allreduce|scan|exscan|neighbor)/;
const oneSided = /^(r?put|r?get|r?accumulate|r?get_accumulate|fetch_and_op|compare_and_swap|win_)/;
const pointToPoint =
  /^(p|i|b|s|r|ib|is|ir|im|m)?(send|recv|sendrecv|probe)(_|$)|^p(ready|arrived)|^start/;

// Index into callKinds. "MPI_Isend" and "isend" are the same. MPI_Finalize has a kind of its own,
// because ranks wait in it for those that end later.
export function callKind(name: string): number {
  const word = name.toLowerCase().replace(/^p?(mpi|mgen)_/, "");
  if (/^(wait|test)/.test(word)) return 1;
  if (/^get_(count|elements|address|version|library|processor)/.test(word)) return 5;
  if (word === "finalize") return 4;
  if (oneSided.test(word)) return 3;
  if (pointToPoint.test(word)) return 0;
  if (/^reduce_local/.test(word)) return 5;
  return collective.test(word) ? 2 : 5;
}
