! SPDX-License-Identifier: Apache-2.0
! Which request is done: indices begin with 1. Persistent requests; requests of the program's own.
module own_requests
  use mpi
  implicit none
  integer :: queried = 0, freed = 0
contains
  subroutine query(extra_state, status, ierror)
    integer(kind=MPI_ADDRESS_KIND) :: extra_state
    integer :: status(MPI_STATUS_SIZE), ierror
    queried = int(extra_state)
    call mpi_status_set_elements(status, MPI_INTEGER, 3, ierror)
    call mpi_status_set_cancelled(status, .false., ierror)
    status(MPI_SOURCE) = 7
    status(MPI_TAG) = 8
  end subroutine
  subroutine free_it(extra_state, ierror)
    integer(kind=MPI_ADDRESS_KIND) :: extra_state
    integer :: ierror
    freed = int(extra_state) + 1
    if (freed == 1) extra_state = 50
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
  use mpi
  use checks
  use own_requests
  implicit none
  integer, parameter :: many = 50
  integer :: rank, ranks, ierror, i, j, index, done, indices(many), one, count
  integer :: requests(many), status(MPI_STATUS_SIZE), statuses(MPI_STATUS_SIZE, many)
  integer :: values(many), seen(many)
  integer(kind=MPI_ADDRESS_KIND) :: state
  logical :: flag

  call mpi_init(ierror)
  call mpi_comm_rank(MPI_COMM_WORLD, rank, ierror)
  call mpi_comm_size(MPI_COMM_WORLD, ranks, ierror)
  if (rank == 0) then
    do i = 1, many
      call mpi_irecv(values(i), 1, MPI_INTEGER, 1, i, MPI_COMM_WORLD, requests(i), ierror)
    end do
    ! Message 7 comes first and alone.
    call mpi_waitany(many, requests, index, status, ierror)
    call check(index == 7 .and. status(MPI_TAG) == 7 .and. values(7) == 700, 'waitany')
    call check(requests(7) == MPI_REQUEST_NULL .and. requests(6) /= MPI_REQUEST_NULL, 'handles')
    call mpi_testany(many, requests, index, flag, MPI_STATUS_IGNORE, ierror)
    call check(.not. flag .and. index == MPI_UNDEFINED, 'testany')
    call mpi_send(0, 1, MPI_INTEGER, 1, 0, MPI_COMM_WORLD, ierror)
    seen = 0
    j = 0
    do while (j < many - 1)
      call mpi_waitsome(many, requests, done, indices, statuses, ierror)
      do i = 1, done
        seen(indices(i)) = seen(indices(i)) + 1
        call check(statuses(MPI_TAG, i) == indices(i), 'waitsome')
      end do
      j = j + done
    end do
    call check(sum(seen) == many - 1 .and. maxval(seen) == 1 .and. seen(7) == 0, 'seen')
    call check(all(values == [(100 * i, i = 1, many)]), 'values')
    call mpi_waitsome(many, requests, done, indices, MPI_STATUSES_IGNORE, ierror)
    call check(done == MPI_UNDEFINED, 'none left')
    call mpi_waitany(many, requests, index, MPI_STATUS_IGNORE, ierror)
    call check(index == MPI_UNDEFINED, 'none left for waitany')
    call mpi_testall(many, requests, flag, MPI_STATUSES_IGNORE, ierror)
    call check(flag, 'testall')
  else if (rank == 1) then
    call mpi_send(700, 1, MPI_INTEGER, 0, 7, MPI_COMM_WORLD, ierror)
    call mpi_recv(one, 1, MPI_INTEGER, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
    do i = many, 1, -1
      if (i /= 7) call mpi_send(100 * i, 1, MPI_INTEGER, 0, i, MPI_COMM_WORLD, ierror)
    end do
  end if

  call mpi_send_init(rank, 1, MPI_INTEGER, modulo(rank + 1, ranks), 9, MPI_COMM_WORLD, &
                     requests(1), ierror)
  call mpi_recv_init(one, 1, MPI_INTEGER, modulo(rank - 1, ranks), 9, MPI_COMM_WORLD, &
                     requests(2), ierror)
  do i = 1, 3
    one = -1
    call mpi_startall(2, requests, ierror)
    call mpi_waitall(2, requests, MPI_STATUSES_IGNORE, ierror)
    call check(one == modulo(rank - 1, ranks), 'persistent')
  end do
  call mpi_start(requests(2), ierror)
  call mpi_cancel(requests(2), ierror)
  call mpi_wait(requests(2), status, ierror)
  call mpi_test_cancelled(status, flag, ierror)
  call check(flag, 'cancelled')
  call mpi_request_free(requests(1), ierror)
  call mpi_request_free(requests(2), ierror)
  call check(all(requests(1:2) == MPI_REQUEST_NULL), 'freed')

  call mpi_grequest_start(query, free_it, cancel_it, int(rank + 40, MPI_ADDRESS_KIND), &
                          requests(1), ierror)
  call mpi_test(requests(1), flag, status, ierror)
  call check(.not. flag, 'not complete')
  call mpi_grequest_complete(requests(1), ierror)
  call mpi_wait(requests(1), status, ierror)
  call mpi_get_count(status, MPI_INTEGER, count, ierror)
  call check(queried == rank + 40 .and. freed == rank + 41, 'functions of a request')
  call check(status(MPI_SOURCE) == 7 .and. status(MPI_TAG) == 8 .and. count == 3, 'own status')

  ! What the last function changes is seen in the program's variable.
  state = 0
  call mpi_grequest_start(query, free_it, cancel_it, state, requests(1), ierror)
  call mpi_grequest_complete(requests(1), ierror)
  call mpi_wait(requests(1), MPI_STATUS_IGNORE, ierror)
  call check(state == 50, 'state of a request')
  call mpi_finalize(ierror)
  call finish('requests', rank)
end program
