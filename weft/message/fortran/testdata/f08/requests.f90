! SPDX-License-Identifier: Apache-2.0
! Which request is done: indices begin with 1. Persistent requests; requests of the program's own.
module own_requests
  use mpi_f08
  implicit none
  integer :: queried = 0, freed = 0
contains
  subroutine query(extra_state, status, ierror)
    integer(kind=MPI_ADDRESS_KIND) :: extra_state
    type(MPI_Status) :: status
    integer :: ierror
    queried = int(extra_state)
    call MPI_Status_set_elements(status, MPI_INTEGER, 3, ierror)
    call MPI_Status_set_cancelled(status, .false., ierror)
    status%MPI_SOURCE = 7
    call MPI_Status_set_tag(status, 8, ierror)
  end subroutine
  subroutine free_it(extra_state, ierror)
    integer(kind=MPI_ADDRESS_KIND) :: extra_state
    integer :: ierror
    freed = int(extra_state) + 1
    ierror = MPI_SUCCESS
  end subroutine
  subroutine cancel_it(extra_state, complete, ierror)
    integer(kind=MPI_ADDRESS_KIND) :: extra_state
    logical :: complete
    integer :: ierror
    ierror = MPI_SUCCESS
  end subroutine
end module

program requests_test
  use mpi_f08
  use checks
  use own_requests
  implicit none
  integer, parameter :: many = 50
  integer :: rank, ranks, i, j, index, done, indices(many), one, count
  type(MPI_Request) :: requests(many)
  type(MPI_Status) :: status, statuses(many)
  integer, asynchronous :: values(many)
  integer :: seen(many)
  integer(kind=MPI_COUNT_KIND) :: large
  logical :: flag

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  if (rank == 0) then
    do i = 1, many
      call MPI_Irecv(values(i), 1, MPI_INTEGER, 1, i, MPI_COMM_WORLD, requests(i))
    end do
    ! Message 7 comes first and alone.
    call MPI_Waitany(count=many, array_of_requests=requests, index=index, status=status)
    call check(index == 7 .and. status%MPI_TAG == 7 .and. values(7) == 700, 'waitany')
    call check(requests(7) == MPI_REQUEST_NULL .and. requests(6) /= MPI_REQUEST_NULL, 'handles')
    call MPI_Testany(many, requests, index, flag, MPI_STATUS_IGNORE)
    call check(.not. flag .and. index == MPI_UNDEFINED, 'testany')
    call MPI_Request_get_status(requests(6), flag, status)
    call check(.not. flag, 'get_status')
    call MPI_Send(0, 1, MPI_INTEGER, 1, 0, MPI_COMM_WORLD)
    seen = 0
    j = 0
    do while (j < many - 1)
      call MPI_Waitsome(incount=many, array_of_requests=requests, outcount=done, &
                        array_of_indices=indices, array_of_statuses=statuses)
      do i = 1, done
        seen(indices(i)) = seen(indices(i)) + 1
        call check(statuses(i)%MPI_TAG == indices(i), 'waitsome')
      end do
      j = j + done
    end do
    call check(sum(seen) == many - 1 .and. maxval(seen) == 1 .and. seen(7) == 0, 'seen')
    call check(all(values == [(100 * i, i = 1, many)]), 'values')
    call MPI_Waitsome(many, requests, done, indices, MPI_STATUSES_IGNORE)
    call check(done == MPI_UNDEFINED, 'none left')
    call MPI_Waitany(many, requests, index, MPI_STATUS_IGNORE)
    call check(index == MPI_UNDEFINED, 'none left for waitany')
    call MPI_Testall(many, requests, flag, MPI_STATUSES_IGNORE)
    call check(flag .and. all(requests == MPI_REQUEST_NULL), 'testall')
  else if (rank == 1) then
    call MPI_Send(700, 1, MPI_INTEGER, 0, 7, MPI_COMM_WORLD)
    call MPI_Recv(one, 1, MPI_INTEGER, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    do i = many, 1, -1
      if (i /= 7) call MPI_Send(100 * i, 1, MPI_INTEGER, 0, i, MPI_COMM_WORLD)
    end do
  end if

  call MPI_Send_init(rank, 1, MPI_INTEGER, modulo(rank + 1, ranks), 9, MPI_COMM_WORLD, requests(1))
  call MPI_Recv_init(one, 1, MPI_INTEGER, modulo(rank - 1, ranks), 9, MPI_COMM_WORLD, requests(2))
  do i = 1, 3
    one = -1
    call MPI_Startall(2, requests)
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
    call MPI_F_sync_reg(one)
    call check(one == modulo(rank - 1, ranks), 'persistent')
  end do
  call MPI_Start(requests(2))
  call MPI_Cancel(requests(2))
  call MPI_Wait(requests(2), status)
  call MPI_Test_cancelled(status, flag)
  call check(flag, 'cancelled')
  call MPI_Request_free(requests(1))
  call MPI_Request_free(requests(2))
  call check(all(requests(1:2) == MPI_REQUEST_NULL), 'freed')

  call MPI_Grequest_start(query_fn=query, free_fn=free_it, cancel_fn=cancel_it, &
                          extra_state=int(rank + 40, MPI_ADDRESS_KIND), request=requests(1))
  call MPI_Test(requests(1), flag, status)
  call check(.not. flag, 'not complete')
  call MPI_Grequest_complete(requests(1))
  call MPI_Wait(requests(1), status)
  call MPI_Get_count(status, MPI_INTEGER, count)
  call MPI_Get_elements(status, MPI_INTEGER, large)
  call check(queried == rank + 40 .and. freed == rank + 41, 'functions of a request')
  call check(status%MPI_SOURCE == 7 .and. status%MPI_TAG == 8 .and. count == 3 .and. large == 3, &
             'own status')
  call MPI_Finalize()
  call finish('requests', rank)
end program
