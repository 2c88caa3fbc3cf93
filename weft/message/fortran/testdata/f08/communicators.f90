! SPDX-License-Identifier: Apache-2.0
! Groups and communicators, of one group and of two.
program communicators
  use mpi_f08
  use checks
  implicit none
  type(MPI_Group) :: world_group, evens, some, odds
  type(MPI_Comm) :: comm, half, between, merged
  type(MPI_Request) :: request
  integer :: rank, ranks, size, result, number, i, ranges(3, 2), translated(3), got, color
  logical :: flag

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  call MPI_Comm_group(MPI_COMM_WORLD, world_group)
  call MPI_Group_incl(group=world_group, n=ranks / 2, ranks=[(2 * i, i = 0, ranks / 2 - 1)], &
                      newgroup=evens)
  call MPI_Group_size(evens, size)
  call MPI_Group_translate_ranks(evens, 3, [0, 1, 2], world_group, translated)
  call check(size == ranks / 2 .and. all(translated == [0, 2, 4]), 'group')
  call MPI_Group_difference(world_group, evens, odds)
  call MPI_Group_intersection(odds, evens, some)
  call check(some == MPI_GROUP_EMPTY .and. odds /= evens, 'empty group')
  ranges = reshape([0, 4, 2, 7, 7, 1], [3, 2])
  call MPI_Group_range_incl(world_group, 2, ranges, some)
  call check(all(ranges(:, 1) == [0, 4, 2]), 'ranges kept')
  call MPI_Group_size(some, size)
  call MPI_Group_rank(some, number)
  call check(size == 4, 'ranges')
  call check(number == findloc([0, 2, 4, 7], rank, 1) - 1 .or. number == MPI_UNDEFINED, 'rank')
  call MPI_Comm_create(MPI_COMM_WORLD, evens, comm)
  call check((comm == MPI_COMM_NULL) .eqv. (modulo(rank, 2) == 1), 'create')
  if (comm /= MPI_COMM_NULL) then
    call MPI_Comm_rank(comm, number)
    call check(number == rank / 2, 'rank in it')
    call MPI_Comm_free(comm)
  end if
  if (modulo(rank, 2) == 1) then
    call MPI_Comm_create_group(MPI_COMM_WORLD, odds, 5, comm)
    call MPI_Comm_size(comm, size)
    call check(size == ranks / 2, 'create_group')
    call MPI_Comm_free(comm)
  end if
  call MPI_Group_free(some)
  call MPI_Group_free(evens)
  call MPI_Group_free(odds)
  call MPI_Group_free(world_group)
  call check(evens == MPI_GROUP_NULL, 'group freed')

  call MPI_Comm_dup(MPI_COMM_WORLD, comm)
  call MPI_Comm_compare(comm1=MPI_COMM_WORLD, comm2=comm, result=result)
  call check(result == MPI_CONGRUENT .and. comm /= MPI_COMM_WORLD, 'dup')
  call MPI_Comm_free(comm)
  call MPI_Comm_idup(MPI_COMM_WORLD, comm, request)
  call MPI_Wait(request, MPI_STATUS_IGNORE)
  call MPI_Comm_size(comm, size)
  call check(size == ranks, 'idup')

  color = merge(1, 0, rank >= ranks / 2)
  call MPI_Comm_split(comm, color, -rank, half)
  call MPI_Comm_rank(half, number)
  call check(number == ranks / 2 - 1 - modulo(rank, ranks / 2), 'split')
  call MPI_Intercomm_create(local_comm=half, local_leader=0, peer_comm=comm, &
                            remote_leader=merge(ranks / 2 - 1, ranks - 1, color == 1), tag=5, &
                            newintercomm=between)
  call MPI_Comm_test_inter(between, flag)
  call MPI_Comm_remote_size(between, size)
  call check(flag .and. size == ranks / 2, 'intercommunicator')
  call MPI_Sendrecv(rank, 1, MPI_INTEGER, number, 0, got, 1, MPI_INTEGER, number, 0, between, &
                    MPI_STATUS_IGNORE)
  call check(modulo(got, ranks / 2) == modulo(rank, ranks / 2) .and. got /= rank, 'across')
  call MPI_Intercomm_merge(between, high=color == 0, newintracomm=merged)
  call MPI_Comm_rank(merged, number)
  call check((number < ranks / 2) .eqv. (color == 1), 'merge')
  call MPI_Comm_test_inter(merged, flag)
  call check(.not. flag, 'one group')
  call MPI_Comm_split(comm, MPI_UNDEFINED, 0, half)
  call check(half == MPI_COMM_NULL, 'undefined')
  call MPI_Comm_disconnect(merged)
  call check(merged == MPI_COMM_NULL, 'disconnect')
  call MPI_Finalize()
  call finish('communicators', rank)
end program
