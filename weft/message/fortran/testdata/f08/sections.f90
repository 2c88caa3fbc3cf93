! SPDX-License-Identifier: Apache-2.0
! Sections of arrays, large counts and error codes that are left out.
program sections
  use mpi_f08
  use checks
  implicit none
  type(MPI_Comm) :: comm
  type(MPI_Request) :: req(2)
  type(MPI_Status) :: st, sts(2)
  type(MPI_Datatype) :: t
  integer :: rank, n, right, left, i
  integer :: a(6, 8), b(6, 8), x
  character(len=MPI_MAX_OBJECT_NAME) :: name
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, n)
  right = modulo(rank + 1, n); left = modulo(rank - 1, n)
  call MPI_Comm_dup(MPI_COMM_WORLD, comm)
  call MPI_Comm_set_name(comm, 'mine')
  call MPI_Comm_get_name(comm, name, i)
  call check(.not. (name /= 'mine' .or. comm == MPI_COMM_WORLD .or. .not. comm /= MPI_COMM_NULL), 'name')
  a = reshape([(100 * rank + i, i = 1, 48)], [6, 8]); b = -1
  call MPI_Irecv(b(2:6:2, 1:8:3), 9, MPI_INTEGER, left, 3, comm, req(1))
  call MPI_Isend(a(1:5:2, 2:8:3), 9, MPI_INTEGER, right, 3, comm, req(2))
  call MPI_Waitall(2, req, sts)
  a = reshape([(100 * left + i, i = 1, 48)], [6, 8])
  call check(.not. (any(b(2:6:2, 1:8:3) /= a(1:5:2, 2:8:3))), 'section')
  call check(.not. (count(b /= -1) /= 9 .or. sts(1)%MPI_SOURCE /= left), 'gaps')
  b = -1
  call MPI_Sendrecv(rank, 1_MPI_COUNT_KIND, MPI_INTEGER, right, 4, b(3, 2:4), 1_MPI_COUNT_KIND, MPI_INTEGER, left, 4, comm, st)
  call check(.not. (b(3, 2) /= left .or. count(b /= -1) /= 1), 'large')
  x = 1
  call MPI_Allreduce(MPI_IN_PLACE, x, 1, MPI_INTEGER, MPI_SUM, comm)
  call check(.not. (x /= n), 'in place')
  call MPI_Type_vector(3, 1, 2, MPI_INTEGER, t)
  call MPI_Type_commit(t)
  call MPI_Type_free(t)
  call check(.not. (t /= MPI_DATATYPE_NULL), 'null')
  call MPI_Comm_free(comm)
  call MPI_Finalize(i)
  call check(i == MPI_SUCCESS, 'finalize')
  call finish('sections', rank)
end program
