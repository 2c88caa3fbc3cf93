! SPDX-License-Identifier: Apache-2.0
! Windows: memory that the ranks of a node share, and memory that others read and write.
program windows
  use mpi_f08
  use checks
  use, intrinsic :: iso_c_binding, only: c_ptr, c_f_pointer
  implicit none
  type(MPI_Comm) :: node
  type(MPI_Win) :: window
  type(MPI_Group) :: group
  type(MPI_Request) :: request
  integer :: rank, ranks, next, previous, unit, number, got
  integer(kind=MPI_ADDRESS_KIND) :: bytes, queried, attribute, place
  type(c_ptr) :: memory, theirs
  integer, pointer :: own(:), other(:)
  integer :: sent(3), compared, swapped, five = 5, one = 1
  integer, target, asynchronous :: exposed(4)
  logical :: found

  call MPI_Init()
  call MPI_Comm_split_type(MPI_COMM_WORLD, split_type=MPI_COMM_TYPE_SHARED, key=0, &
                           info=MPI_INFO_NULL, newcomm=node)
  call MPI_Comm_rank(node, rank)
  call MPI_Comm_size(node, ranks)
  next = modulo(rank + 1, ranks)
  previous = modulo(rank - 1, ranks)

  bytes = 4 * 10
  call MPI_Win_allocate_shared(bytes, 4, MPI_INFO_NULL, node, memory, window)
  call c_f_pointer(memory, own, [10])
  call MPI_Win_shared_query(window, next, queried, unit, theirs)
  call check(queried == bytes .and. unit == 4, 'MPI_Win_shared_query')
  call c_f_pointer(theirs, other, [10])
  call MPI_Win_fence(0, window)
  other = 100 + rank
  call MPI_Win_fence(assert=0, win=window)
  call check(all(own == 100 + previous), 'stores of the neighbour')
  call MPI_Barrier(node)  ! Nobody changes it before all have looked.
  call MPI_Win_get_attr(window, MPI_WIN_CREATE_FLAVOR, attribute, found)
  call check(found .and. attribute == MPI_WIN_FLAVOR_SHARED, 'flavour')

  call MPI_Win_lock(lock_type=MPI_LOCK_EXCLUSIVE, rank=0, assert=0, win=window)
  call MPI_Win_shared_query(window, 0, queried, unit, theirs)
  call c_f_pointer(theirs, other, [10])
  if (other(1) >= 100) other(1) = 0
  other(1) = other(1) + 1
  call MPI_Win_unlock(0, window)
  call MPI_Barrier(node)
  call check(other(1) == ranks, 'counter under a lock')
  call MPI_Barrier(node)
  call MPI_Win_free(window)
  call check(window == MPI_WIN_NULL, 'freed')
  call MPI_Comm_free(node)

  ! All ranks, by messages.
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  next = modulo(rank + 1, ranks)
  previous = modulo(rank - 1, ranks)
  call MPI_Win_allocate(size=bytes, disp_unit=4, info=MPI_INFO_NULL, comm=MPI_COMM_WORLD, &
                        baseptr=memory, win=window)
  call c_f_pointer(memory, own, [10])
  own = -1
  sent = [1, 2, 3] + 10 * rank
  place = 2
  call MPI_Win_fence(0, window)
  call MPI_Put(origin_addr=sent, origin_count=3, origin_datatype=MPI_INTEGER, target_rank=next, &
               target_disp=place, target_count=3, target_datatype=MPI_INTEGER, win=window)
  call MPI_Accumulate(five, 1, MPI_INTEGER, 0, 0_MPI_ADDRESS_KIND, 1, MPI_INTEGER, MPI_SUM, window)
  call MPI_Win_fence(0, window)
  call check(all(own(3:5) == [1, 2, 3] + 10 * previous) .and. own(2) == -1, 'put')
  call check(own(1) == merge(5 * ranks - 1, -1, rank == 0), 'accumulate')
  call MPI_Win_fence(0, window)
  call MPI_Win_lock_all(0, window)
  call MPI_Rget(got, 1, MPI_INTEGER, next, place, 1, MPI_INTEGER, window, request)
  call MPI_Wait(request, MPI_STATUS_IGNORE)
  call MPI_F_sync_reg(got)
  call check(got == 1 + 10 * rank, 'rget')
  call MPI_Get(number, 1_MPI_COUNT_KIND, MPI_INTEGER, next, 3_MPI_ADDRESS_KIND, 1_MPI_COUNT_KIND, &
               MPI_INTEGER, window)
  call MPI_Win_flush(next, window)
  call MPI_F_sync_reg(number)
  call check(number == 2 + 10 * rank, 'large get')
  call MPI_Fetch_and_op(origin_addr=one, result_addr=number, datatype=MPI_INTEGER, target_rank=0, &
                        target_disp=8_MPI_ADDRESS_KIND, op=MPI_SUM, win=window)
  call MPI_Win_flush_all(window)
  call MPI_F_sync_reg(number)
  call check(number >= -1 .and. number < ranks - 1, 'fetch and op')
  compared = -1
  call MPI_Compare_and_swap(rank, compared, swapped, MPI_INTEGER, next, 9_MPI_ADDRESS_KIND, window)
  call MPI_Win_flush(next, window)
  call MPI_F_sync_reg(swapped)
  call check(swapped == -1, 'compare and swap')
  call MPI_Win_unlock_all(window)
  call MPI_Barrier(MPI_COMM_WORLD)
  call check(own(9) == merge(ranks - 1, -1, rank == 0) .and. own(10) == previous, &
             'after atomic operations')
  call MPI_Win_get_group(window, group)
  call MPI_Group_size(group, number)
  call check(number == ranks, 'group')
  call MPI_Group_free(group)
  call MPI_Win_free(window)

  exposed = rank
  call MPI_Win_create(base=exposed, size=16_MPI_ADDRESS_KIND, disp_unit=4, info=MPI_INFO_NULL, &
                      comm=MPI_COMM_WORLD, win=window)
  call MPI_Win_fence(MPI_MODE_NOPRECEDE, window)
  call MPI_Get(got, 1, MPI_INTEGER, next, 1_MPI_ADDRESS_KIND, 1, MPI_INTEGER, window)
  call MPI_Win_fence(MPI_MODE_NOSUCCEED, window)
  call MPI_F_sync_reg(got)
  call check(got == next, 'memory of the program')
  call MPI_Win_free(window)
  call MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, window)
  call MPI_Win_attach(window, exposed, 16_MPI_ADDRESS_KIND)
  call MPI_Get_address(exposed(2), place)
  call MPI_Sendrecv_replace(place, 1, MPI_AINT, previous, 0, next, 0, MPI_COMM_WORLD, &
                            MPI_STATUS_IGNORE)
  call MPI_Win_fence(0, window)
  call MPI_Put(rank, 1, MPI_INTEGER, next, place, 1, MPI_INTEGER, window)
  call MPI_Win_fence(0, window)
  call MPI_F_sync_reg(exposed)
  call check(all(exposed == [rank, previous, rank, rank]), 'attached memory')
  call MPI_Win_detach(window, base=exposed)
  call MPI_Win_free(window)
  call MPI_Finalize()
  call finish('windows', rank)
end program
