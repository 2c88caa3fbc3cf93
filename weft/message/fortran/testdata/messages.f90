! SPDX-License-Identifier: Apache-2.0
! Messages between two ranks; statuses, and places where one is not wanted.
program messages
  use mpi
  use checks
  implicit none
  integer :: rank, ranks, right, left, ierror, i, n, request, requests(2), message
  integer :: status(MPI_STATUS_SIZE), statuses(MPI_STATUS_SIZE, 2)
  integer :: numbers(4), one
  double precision :: grid(3, 5), other(3, 5)
  complex(8) :: z
  logical :: truth, found
  character(len=8) :: word
  character(len=1) :: space(2000)

  call mpi_init(ierror)
  call mpi_comm_rank(MPI_COMM_WORLD, rank, ierror)
  call mpi_comm_size(MPI_COMM_WORLD, ranks, ierror)
  call check(ranks == 16, 'ranks')
  right = modulo(rank + 1, ranks)
  left = modulo(rank - 1, ranks)

  numbers = [(10 * rank + i, i = 1, 4)]
  call mpi_sendrecv_replace(numbers, 4, MPI_INTEGER, right, 3, left, MPI_ANY_TAG, &
                            MPI_COMM_WORLD, status, ierror)
  call check(all(numbers == [(10 * left + i, i = 1, 4)]), 'sendrecv_replace')
  call check(status(MPI_SOURCE) == left .and. status(MPI_TAG) == 3, 'status')
  call mpi_get_count(status, MPI_INTEGER, n, ierror)
  call check(n == 4 .and. ierror == MPI_SUCCESS, 'count')

  ! A scalar, a section and an array of two dimensions are buffers alike.
  grid = rank
  other = -1
  call mpi_irecv(other, 15, MPI_DOUBLE_PRECISION, left, 5, MPI_COMM_WORLD, request, ierror)
  call mpi_send(grid(1, 1), 15, MPI_DOUBLE_PRECISION, right, 5, MPI_COMM_WORLD, ierror)
  call mpi_wait(request, MPI_STATUS_IGNORE, ierror)
  call check(all(other == left) .and. request == MPI_REQUEST_NULL, 'irecv')

  call mpi_irecv(z, 1, MPI_DOUBLE_COMPLEX, left, 6, MPI_COMM_WORLD, requests(1), ierror)
  call mpi_isend(cmplx(rank, 2, 8), 1, MPI_DOUBLE_COMPLEX, right, 6, MPI_COMM_WORLD, &
                 requests(2), ierror)
  call mpi_waitall(2, requests, statuses, ierror)
  call check(z == cmplx(left, 2, 8), 'complex')
  call check(statuses(MPI_SOURCE, 1) == left, 'statuses')
  call mpi_irecv(one, 1, MPI_INTEGER, left, 7, MPI_COMM_WORLD, requests(1), ierror)
  call mpi_issend(rank, 1, MPI_INTEGER, right, 7, MPI_COMM_WORLD, requests(2), ierror)
  call mpi_waitall(2, requests, MPI_STATUSES_IGNORE, ierror)
  call check(one == left, 'issend')

  truth = modulo(rank, 2) == 0
  word = 'rank'//achar(65 + rank)
  call mpi_sendrecv(truth, 1, MPI_LOGICAL, right, 1, found, 1, MPI_LOGICAL, left, 1, &
                    MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
  call check(found .neqv. truth, 'logical')
  call mpi_sendrecv_replace(word, len(word), MPI_CHARACTER, right, 2, left, 2, MPI_COMM_WORLD, &
                            MPI_STATUS_IGNORE, ierror)
  call check(word == 'rank'//achar(65 + left), 'character')

  ! Buffered, probed, and matched when probed.
  call mpi_buffer_attach(space, 2000, ierror)
  call mpi_bsend(rank, 1, MPI_INTEGER, right, 8, MPI_COMM_WORLD, ierror)
  call mpi_probe(MPI_ANY_SOURCE, 8, MPI_COMM_WORLD, status, ierror)
  call check(status(MPI_SOURCE) == left, 'probe')
  call mpi_mprobe(left, 8, MPI_COMM_WORLD, message, status, ierror)
  call mpi_mrecv(one, 1, MPI_INTEGER, message, MPI_STATUS_IGNORE, ierror)
  call check(one == left .and. message == MPI_MESSAGE_NULL, 'mrecv')
  call mpi_buffer_detach(space, n, ierror)
  call check(n == 2000, 'detach')
  call mpi_iprobe(MPI_ANY_SOURCE, 99, MPI_COMM_WORLD, found, MPI_STATUS_IGNORE, ierror)
  call check(.not. found, 'iprobe')

  call mpi_recv(one, 1, MPI_INTEGER, MPI_PROC_NULL, 0, MPI_COMM_WORLD, status, ierror)
  call check(status(MPI_SOURCE) == MPI_PROC_NULL, 'proc null')
  call mpi_finalize(ierror)
  call finish('messages', rank)
end program
