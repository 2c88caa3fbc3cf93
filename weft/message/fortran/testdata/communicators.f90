! SPDX-License-Identifier: Apache-2.0
! Groups and communicators, of one group and of two.
program communicators
  use mpi
  use checks
  implicit none
  integer :: rank, ranks, ierror, world_group, evens, some, comm, half, between, merged, request
  integer :: size, result, number, i, ranges(3, 2), translated(3), got, color
  logical :: flag

  call mpi_init(ierror)
  call mpi_comm_rank(MPI_COMM_WORLD, rank, ierror)
  call mpi_comm_size(MPI_COMM_WORLD, ranks, ierror)
  call mpi_comm_group(MPI_COMM_WORLD, world_group, ierror)
  call mpi_group_incl(world_group, ranks / 2, [(2 * i, i = 0, ranks / 2 - 1)], evens, ierror)
  call mpi_group_size(evens, size, ierror)
  call mpi_group_translate_ranks(evens, 3, [0, 1, 2], world_group, translated, ierror)
  call check(size == ranks / 2 .and. all(translated == [0, 2, 4]), 'group')
  ranges = reshape([0, 4, 2, 7, 7, 1], [3, 2])
  call mpi_group_range_incl(world_group, 2, ranges, some, ierror)
  call mpi_group_size(some, size, ierror)
  call mpi_group_rank(some, number, ierror)
  call check(size == 4, 'ranges')
  call check(number == findloc([0, 2, 4, 7], rank, 1) - 1 .or. number == MPI_UNDEFINED, 'rank')
  call mpi_comm_create(MPI_COMM_WORLD, evens, comm, ierror)
  call check((comm == MPI_COMM_NULL) .eqv. (modulo(rank, 2) == 1), 'create')
  if (comm /= MPI_COMM_NULL) then
    call mpi_comm_rank(comm, number, ierror)
    call check(number == rank / 2, 'rank in it')
    call mpi_comm_free(comm, ierror)
  end if
  call mpi_group_free(some, ierror)
  call mpi_group_free(evens, ierror)
  call mpi_group_free(world_group, ierror)
  call check(evens == MPI_GROUP_NULL, 'group freed')

  call mpi_comm_dup(MPI_COMM_WORLD, comm, ierror)
  call mpi_comm_compare(MPI_COMM_WORLD, comm, result, ierror)
  call check(result == MPI_CONGRUENT .and. comm /= MPI_COMM_WORLD, 'dup')
  call mpi_comm_free(comm, ierror)
  call mpi_comm_idup(MPI_COMM_WORLD, comm, request, ierror)
  call mpi_wait(request, MPI_STATUS_IGNORE, ierror)
  call mpi_comm_size(comm, size, ierror)
  call check(size == ranks, 'idup')

  color = merge(1, 0, rank >= ranks / 2)
  call mpi_comm_split(comm, color, -rank, half, ierror)
  call mpi_comm_rank(half, number, ierror)
  call check(number == ranks / 2 - 1 - modulo(rank, ranks / 2), 'split')
  call mpi_intercomm_create(half, 0, comm, merge(ranks / 2 - 1, ranks - 1, color == 1), 5, &
                            between, ierror)
  call mpi_comm_test_inter(between, flag, ierror)
  call mpi_comm_remote_size(between, size, ierror)
  call check(flag .and. size == ranks / 2, 'intercommunicator')
  call mpi_sendrecv(rank, 1, MPI_INTEGER, number, 0, got, 1, MPI_INTEGER, number, 0, between, &
                    MPI_STATUS_IGNORE, ierror)
  call check(modulo(got, ranks / 2) == modulo(rank, ranks / 2) .and. got /= rank, 'across')
  call mpi_intercomm_merge(between, color == 0, merged, ierror)
  call mpi_comm_rank(merged, number, ierror)
  call check((number < ranks / 2) .eqv. (color == 1), 'merge')
  call mpi_comm_test_inter(merged, flag, ierror)
  call check(.not. flag, 'one group')
  call mpi_comm_split(comm, MPI_UNDEFINED, 0, half, ierror)
  call check(half == MPI_COMM_NULL, 'undefined')
  call mpi_finalize(ierror)
  call finish('communicators', rank)
end program
