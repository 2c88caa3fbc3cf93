! SPDX-License-Identifier: Apache-2.0
! Windows of memory that the ranks of a node share.
program windows
  use mpi
  use checks
  use, intrinsic :: iso_c_binding, only: c_ptr, c_f_pointer
  implicit none
  integer :: node, rank, ranks, next, previous, window, unit, ierror, flavor_value
  integer(kind=MPI_ADDRESS_KIND) :: bytes, queried, attribute
  type(c_ptr) :: memory, theirs
  integer, pointer :: own(:), other(:)
  logical :: found

  call mpi_init(ierror)
  call mpi_comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, node, ierror)
  call mpi_comm_rank(node, rank, ierror)
  call mpi_comm_size(node, ranks, ierror)
  next = modulo(rank + 1, ranks)
  previous = modulo(rank - 1, ranks)

  bytes = 4 * 10
  call mpi_win_allocate_shared(bytes, 4, MPI_INFO_NULL, node, memory, window, ierror)
  call check(ierror == MPI_SUCCESS, 'mpi_win_allocate_shared')
  call c_f_pointer(memory, own, [10])
  call mpi_win_shared_query(window, next, queried, unit, theirs, ierror)
  call check(queried == bytes .and. unit == 4, 'mpi_win_shared_query')
  call c_f_pointer(theirs, other, [10])
  call mpi_win_fence(0, window, ierror)
  other = 100 + rank
  call mpi_win_fence(0, window, ierror)
  call check(all(own == 100 + previous), 'stores of the neighbour')
  call mpi_barrier(node, ierror)  ! Nobody changes it before all have looked.
  call mpi_win_get_attr(window, MPI_WIN_CREATE_FLAVOR, attribute, found, ierror)
  flavor_value = int(attribute)
  call check(found .and. flavor_value == MPI_WIN_FLAVOR_SHARED, 'flavour')

  call mpi_win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window, ierror)
  call mpi_win_shared_query(window, 0, queried, unit, theirs, ierror)
  call c_f_pointer(theirs, other, [10])
  if (other(1) >= 100) other(1) = 0
  other(1) = other(1) + 1
  call mpi_win_unlock(0, window, ierror)
  call mpi_barrier(node, ierror)
  call check(other(1) == ranks, 'counter under a lock')
  call mpi_barrier(node, ierror)
  call mpi_win_free(window, ierror)
  call mpi_comm_free(node, ierror)
  call mpi_comm_rank(MPI_COMM_WORLD, rank, ierror)
  call mpi_finalize(ierror)
  call finish('windows', rank)
end program
