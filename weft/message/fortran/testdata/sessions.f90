! SPDX-License-Identifier: Apache-2.0
! A session without mpi_init: process sets, a communicator with a buffer of its own, partitioned
! messages; and what the library does not have.
module own_handler
  implicit none
  integer :: told = 0
contains
  subroutine remember(session, code)
    integer :: session, code
    told = code
  end subroutine
end module

program sessions
  use mpi
  use checks
  use own_handler
  implicit none
  integer :: session, world, comm, info, handler, file, requests(2), ierror
  integer :: rank, ranks, count, length, bytes, i, got, status(MPI_STATUS_SIZE)
  integer :: to(8), from(8)
  integer(kind=MPI_OFFSET_KIND) :: offset
  character(len=32) :: name
  character(len=16) :: text
  character :: buffer(4096)
  character(len=4) :: words(2, 2) = reshape(['a   ', 'b   ', '    ', '    '], [2, 2])
  logical :: flag, found

  call mpi_session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, session, ierror)
  call check(ierror == MPI_SUCCESS, 'session_init')
  call mpi_session_get_num_psets(session, MPI_INFO_NULL, count, ierror)
  found = .false.
  do i = 0, count - 1
    length = len(name)
    call mpi_session_get_nth_pset(session, MPI_INFO_NULL, i, length, name, ierror)
    call check(length == len_trim(name), 'length of a name')
    found = found .or. name == 'mpi://WORLD'
  end do
  call check(found, 'names of process sets')
  call mpi_session_get_pset_info(session, 'mpi://WORLD', info, ierror)
  call mpi_info_get(info, 'mpi_size', 15, text, flag, ierror)
  read (text, *) ranks
  call mpi_info_free(info, ierror)
  call mpi_group_from_session_pset(session, 'mpi://WORLD', world, ierror)
  call mpi_comm_create_from_group(world, 'fortran', MPI_INFO_NULL, MPI_ERRORS_RETURN, comm, ierror)
  call mpi_group_free(world, ierror)
  call mpi_comm_size(comm, count, ierror)
  call check(count == ranks, 'size')
  call mpi_comm_rank(comm, rank, ierror)

  call mpi_session_create_errhandler(remember, handler, ierror)
  call mpi_session_set_errhandler(session, handler, ierror)
  call mpi_errhandler_free(handler, ierror)
  call mpi_group_from_session_pset(session, 'mpi://NOWHERE', world, ierror)
  call check(ierror == MPI_ERR_ARG .and. told == MPI_ERR_ARG, 'error handler')

  call mpi_comm_attach_buffer(comm, buffer, size(buffer), ierror)
  call mpi_bsend(rank, 1, MPI_INTEGER, modulo(rank + 1, ranks), 0, comm, ierror)
  call check(ierror == MPI_SUCCESS, 'bsend')
  call mpi_recv(got, 1, MPI_INTEGER, modulo(rank - 1, ranks), 0, comm, MPI_STATUS_IGNORE, ierror)
  call mpi_comm_flush_buffer(comm, ierror)
  call mpi_comm_detach_buffer(comm, buffer, bytes, ierror)
  call check(got == modulo(rank - 1, ranks) .and. bytes == size(buffer), 'buffer')

  to = [(100 * rank + i, i=1, 8)]
  call mpi_psend_init(to, 4, 2_MPI_COUNT_KIND, MPI_INTEGER, modulo(rank + 1, ranks), 1, comm, &
                      MPI_INFO_NULL, requests(1), ierror)
  call mpi_precv_init(from, 2, 4_MPI_COUNT_KIND, MPI_INTEGER, modulo(rank - 1, ranks), 1, comm, &
                      MPI_INFO_NULL, requests(2), ierror)
  call mpi_startall(2, requests, ierror)
  call mpi_pready(3, requests(1), ierror)
  call mpi_pready_list(1, [0], requests(1), ierror)
  call mpi_pready_range(1, 2, requests(1), ierror)
  flag = .false.
  do while (.not. flag)
    call mpi_parrived(requests(2), 1, flag, ierror)
  end do
  call check(from(8) == 100 * modulo(rank - 1, ranks) + 8, 'partition')
  call mpi_wait(requests(1), MPI_STATUS_IGNORE, ierror)
  call mpi_wait(requests(2), status, ierror)
  call check(status(MPI_SOURCE) == modulo(rank - 1, ranks), 'status')
  call check(from(1) == 100 * modulo(rank - 1, ranks) + 1, 'partitions')
  call mpi_request_free(requests(1), ierror)
  call mpi_request_free(requests(2), ierror)

  file = MPI_FILE_NULL
  call mpi_file_open(comm, 'nowhere', MPI_MODE_RDONLY, MPI_INFO_NULL, file, ierror)
  call check(ierror == MPI_ERR_NO_SUCH_FILE .and. file == MPI_FILE_NULL, 'file_open')
  call mpi_file_get_size(file, offset, ierror)
  call check(ierror == MPI_ERR_FILE, 'file_get_size')
  call mpi_comm_spawn('nothing', MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, comm, got, &
                      MPI_ERRCODES_IGNORE, ierror)
  call check(ierror == MPI_ERR_UNSUPPORTED_OPERATION .or. ierror == MPI_ERR_SPAWN, 'comm_spawn')
  call mpi_comm_spawn_multiple(2, ['one', 'two'], words, [1, 1], [MPI_INFO_NULL, MPI_INFO_NULL], &
                               0, comm, got, MPI_ERRCODES_IGNORE, ierror)
  call check(ierror == MPI_ERR_UNSUPPORTED_OPERATION .or. ierror == MPI_ERR_SPAWN, 'comm_spawn_multiple')
  call mpi_comm_free(comm, ierror)
  call mpi_session_finalize(session, ierror)
  call check(ierror == MPI_SUCCESS .and. session == MPI_SESSION_NULL, 'session_finalize')
  call finish('sessions', rank)
end program
