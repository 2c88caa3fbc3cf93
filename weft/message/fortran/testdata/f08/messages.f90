! SPDX-License-Identifier: Apache-2.0
! Messages between two ranks; statuses, and places where one is not wanted.
program messages
  use mpi_f08
  use checks
  use, intrinsic :: iso_c_binding, only: c_ptr, c_loc, c_associated, c_null_ptr
  implicit none
  integer :: rank, ranks, right, left, i, n, ierror
  type(MPI_Request) :: request, requests(2)
  type(MPI_Message) :: message
  type(MPI_Status) :: status, statuses(2)
  integer :: numbers(4), one, old_status(MPI_STATUS_SIZE)
  integer(kind=MPI_COUNT_KIND) :: large
  double precision :: grid(3, 5), other(3, 5)
  complex(8) :: z, z_sent
  logical :: truth, found
  character(len=8) :: word
  character(len=1), target :: space(2000)
  type(c_ptr) :: detached

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(comm=MPI_COMM_WORLD, size=ranks)
  call check(ranks == 16, 'ranks')
  right = modulo(rank + 1, ranks)
  left = modulo(rank - 1, ranks)

  numbers = [(10 * rank + i, i = 1, 4)]
  call MPI_Sendrecv_replace(numbers, 4, MPI_INTEGER, right, 3, left, MPI_ANY_TAG, MPI_COMM_WORLD, &
                            status)
  call check(all(numbers == [(10 * left + i, i = 1, 4)]), 'sendrecv_replace')
  call check(status%MPI_SOURCE == left .and. status%MPI_TAG == 3, 'status')
  call MPI_Get_count(status, MPI_INTEGER, n, ierror)
  call check(n == 4 .and. ierror == MPI_SUCCESS, 'count')
  call MPI_Get_count(status, MPI_INTEGER, large)
  call check(large == 4, 'large count')

  ! Statuses of mpif.h have the same content.
  call MPI_Status_f082f(status, old_status)
  call check(old_status(MPI_SOURCE) == left .and. old_status(MPI_TAG) == 3, 'status for mpif.h')
  old_status(MPI_TAG) = 33
  call MPI_Status_f2f08(f_status=old_status, f08_status=statuses(1))
  call MPI_Get_elements(statuses(1), MPI_INTEGER, n)
  call check(statuses(1)%MPI_TAG == 33 .and. statuses(1)%MPI_SOURCE == left .and. n == 4, &
             'status of mpif.h')

  ! A scalar, an element and an array of two dimensions are buffers alike.
  grid = rank
  other = -1
  call MPI_Irecv(other, 15, MPI_DOUBLE_PRECISION, left, 5, MPI_COMM_WORLD, request)
  call MPI_Send(grid, 15, MPI_DOUBLE_PRECISION, right, 5, MPI_COMM_WORLD)
  call MPI_Wait(request, MPI_STATUS_IGNORE)
  call check(all(other == left) .and. request == MPI_REQUEST_NULL, 'irecv')

  call MPI_Irecv(z, 1, MPI_DOUBLE_COMPLEX, left, 6, MPI_COMM_WORLD, requests(1))
  z_sent = cmplx(rank, 2, 8)
  call MPI_Isend(z_sent, 1, MPI_DOUBLE_COMPLEX, right, 6, MPI_COMM_WORLD, requests(2))
  call MPI_Waitall(2, requests, statuses)
  call MPI_F_sync_reg(z)
  call check(z == cmplx(left, 2, 8), 'complex')
  call check(statuses(1)%MPI_SOURCE == left .and. all(requests == MPI_REQUEST_NULL), 'statuses')
  call MPI_Irecv(buf=one, count=1, datatype=MPI_INTEGER, source=left, tag=7, comm=MPI_COMM_WORLD, &
                 request=requests(1))
  call MPI_Issend(buf=rank, count=1, datatype=MPI_INTEGER, dest=right, tag=7, &
                  comm=MPI_COMM_WORLD, request=requests(2), ierror=ierror)
  call MPI_Waitall(count=2, array_of_requests=requests, array_of_statuses=MPI_STATUSES_IGNORE)
  call check(one == left .and. ierror == MPI_SUCCESS, 'issend')
  call MPI_Isendrecv(rank, 1, MPI_INTEGER, right, 4, one, 1, MPI_INTEGER, left, 4, &
                     MPI_COMM_WORLD, request)
  call MPI_Wait(request, status)
  call check(one == left .and. status%MPI_SOURCE == left, 'isendrecv')

  truth = modulo(rank, 2) == 0
  word = 'rank'//achar(65 + rank)
  call MPI_Sendrecv(sendbuf=truth, sendcount=1, sendtype=MPI_LOGICAL, dest=right, sendtag=1, &
                    recvbuf=found, recvcount=1, recvtype=MPI_LOGICAL, source=left, recvtag=1, &
                    comm=MPI_COMM_WORLD, status=MPI_STATUS_IGNORE)
  call check(found .neqv. truth, 'logical')
  call MPI_Sendrecv_replace(word, len(word), MPI_CHARACTER, right, 2, left, 2, MPI_COMM_WORLD, &
                            MPI_STATUS_IGNORE)
  call check(word == 'rank'//achar(65 + left), 'character')

  ! Buffered, probed, and matched when probed, with small and with large counts.
  call MPI_Buffer_attach(space, 2000)
  call MPI_Bsend(rank, 1, MPI_INTEGER, right, 8, MPI_COMM_WORLD)
  call MPI_Probe(MPI_ANY_SOURCE, 8, MPI_COMM_WORLD, status)
  call check(status%MPI_SOURCE == left, 'probe')
  call MPI_Mprobe(left, 8, MPI_COMM_WORLD, message, status)
  call check(message /= MPI_MESSAGE_NULL, 'mprobe')
  call MPI_Mrecv(one, 1, MPI_INTEGER, message, MPI_STATUS_IGNORE)
  call check(one == left .and. message == MPI_MESSAGE_NULL, 'mrecv')
  detached = c_null_ptr
  call MPI_Buffer_detach(detached, n)
  call check(n == 2000 .and. c_associated(detached, c_loc(space)), 'detach')
  call MPI_Buffer_attach(space, 2000_MPI_COUNT_KIND)
  call MPI_Buffer_detach(buffer_addr=detached, size=large)
  call check(large == 2000 .and. c_associated(detached, c_loc(space)), 'large detach')
  call MPI_Isend(rank, 1_MPI_COUNT_KIND, MPI_INTEGER, right, 9, MPI_COMM_WORLD, requests(1))
  call MPI_Mprobe(left, 9, MPI_COMM_WORLD, message, status)
  call MPI_Imrecv(one, 1_MPI_COUNT_KIND, MPI_INTEGER, message, requests(2))
  call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
  call check(one == left .and. message == MPI_MESSAGE_NULL, 'large imrecv')
  call MPI_Iprobe(MPI_ANY_SOURCE, 99, MPI_COMM_WORLD, found, MPI_STATUS_IGNORE)
  call check(.not. found, 'iprobe')

  call MPI_Recv(one, 1, MPI_INTEGER, MPI_PROC_NULL, 0, MPI_COMM_WORLD, status)
  call check(status%MPI_SOURCE == MPI_PROC_NULL, 'proc null')
  call MPI_Finalize(ierror)
  call check(ierror == MPI_SUCCESS, 'finalize')
  call finish('messages', rank)
end program
