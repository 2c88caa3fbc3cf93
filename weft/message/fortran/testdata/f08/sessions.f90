! SPDX-License-Identifier: Apache-2.0
! A session without MPI_Init: process sets, a communicator with a buffer of its own, partitioned
! messages; and what the library does not have.
module own_handler
  use mpi_f08
  implicit none
  integer :: told = 0
contains
  subroutine remember(session, code)
    type(MPI_Session) :: session
    integer :: code
    told = code
  end subroutine
end module

program sessions
  use, intrinsic :: iso_c_binding
  use mpi_f08
  use checks
  use own_handler
  implicit none
  type(MPI_Session) :: session
  type(MPI_Group) :: world
  type(MPI_Comm) :: comm, made
  type(MPI_Info) :: info
  type(MPI_Errhandler) :: handler
  type(MPI_File) :: file
  type(MPI_Request) :: requests(2)
  type(MPI_Status) :: status
  type(c_ptr) :: back
  integer :: rank, ranks, count, length, bytes, i, got, ierror
  integer :: to(8), from(8)
  integer(kind=MPI_OFFSET_KIND) :: offset
  character(len=32) :: name
  character(len=16) :: text
  character(len=4) :: words(2, 2) = reshape(['a   ', 'b   ', '    ', '    '], [2, 2])
  character, target :: buffer(4096)
  logical :: flag, found

  call MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, session)
  call MPI_Session_get_num_psets(session, MPI_INFO_NULL, count)
  found = .false.
  do i = 0, count - 1
    length = len(name)
    call MPI_Session_get_nth_pset(session, MPI_INFO_NULL, i, length, name)
    call check(length == len_trim(name), 'length of a name')
    found = found .or. name == 'mpi://WORLD'
  end do
  call check(found, 'names of process sets')
  call MPI_Session_get_pset_info(session, 'mpi://WORLD', info)
  call MPI_Info_get(info, 'mpi_size', 15, text, flag)
  read (text, *) ranks
  call MPI_Info_free(info)
  call MPI_Group_from_session_pset(session, 'mpi://WORLD', world)
  call MPI_Comm_create_from_group(world, 'fortran', MPI_INFO_NULL, MPI_ERRORS_RETURN, comm)
  call MPI_Group_free(world)
  call MPI_Comm_size(comm, count)
  call check(count == ranks, 'size')
  call MPI_Comm_rank(comm, rank)

  call MPI_Session_create_errhandler(remember, handler)
  call MPI_Session_set_errhandler(session, handler)
  call MPI_Errhandler_free(handler)
  call MPI_Group_from_session_pset(session, 'mpi://NOWHERE', world, ierror)
  call check(ierror == MPI_ERR_ARG .and. told == MPI_ERR_ARG, 'error handler')

  call MPI_Comm_attach_buffer(comm, buffer, size(buffer))
  call MPI_Bsend(rank, 1, MPI_INTEGER, modulo(rank + 1, ranks), 0, comm)
  call MPI_Recv(got, 1, MPI_INTEGER, modulo(rank - 1, ranks), 0, comm, MPI_STATUS_IGNORE)
  call MPI_Comm_flush_buffer(comm)
  call MPI_Comm_detach_buffer(comm, back, bytes)
  call check(got == modulo(rank - 1, ranks) .and. bytes == size(buffer), 'buffer')
  call check(c_associated(back, c_loc(buffer)), 'address of the buffer')

  to = [(100 * rank + i, i=1, 8)]
  call MPI_Psend_init(to, 4, 2_MPI_COUNT_KIND, MPI_INTEGER, modulo(rank + 1, ranks), 1, comm, &
                      MPI_INFO_NULL, requests(1))
  call MPI_Precv_init(from, 2, 4_MPI_COUNT_KIND, MPI_INTEGER, modulo(rank - 1, ranks), 1, comm, &
                      MPI_INFO_NULL, requests(2))
  call MPI_Startall(2, requests)
  call MPI_Pready(3, requests(1))
  call MPI_Pready_list(1, [0], requests(1))
  call MPI_Pready_range(1, 2, requests(1))
  flag = .false.
  do while (.not. flag)
    call MPI_Parrived(requests(2), 1, flag)
  end do
  call check(from(8) == 100 * modulo(rank - 1, ranks) + 8, 'partition')
  call MPI_Wait(requests(1), MPI_STATUS_IGNORE)
  call MPI_Wait(requests(2), status)
  call check(status%MPI_SOURCE == modulo(rank - 1, ranks), 'status')
  call check(from(1) == 100 * modulo(rank - 1, ranks) + 1, 'partitions')
  call MPI_Request_free(requests(1))
  call MPI_Request_free(requests(2))

  file = MPI_FILE_NULL
  call MPI_File_open(comm, 'nowhere', MPI_MODE_RDONLY, MPI_INFO_NULL, file, ierror)
  call check(ierror == MPI_ERR_NO_SUCH_FILE .and. file == MPI_FILE_NULL, 'File_open')
  call MPI_File_get_size(MPI_FILE_NULL, offset, ierror)
  call check(ierror == MPI_ERR_FILE, 'File_get_size')
  call MPI_Comm_spawn('nothing', MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, comm, made, &
                      MPI_ERRCODES_IGNORE, ierror)
  call check(ierror == MPI_ERR_UNSUPPORTED_OPERATION .or. ierror == MPI_ERR_SPAWN, 'Comm_spawn')
  call MPI_Comm_spawn_multiple(2, ['one', 'two'], words, [1, 1], [MPI_INFO_NULL, MPI_INFO_NULL], &
                               0, comm, made, MPI_ERRCODES_IGNORE, ierror)
  call check(ierror == MPI_ERR_UNSUPPORTED_OPERATION .or. ierror == MPI_ERR_SPAWN, 'Comm_spawn_multiple')
  call MPI_Comm_free(comm)
  call MPI_Session_finalize(session)
  call check(session == MPI_SESSION_NULL, 'Session_finalize')
  call finish('sessions', rank)
end program
