! SPDX-License-Identifier: Apache-2.0
! Errors that come back, and handlers of the program.
module handlers
  implicit none
  integer :: told_comm = 0, told_code = 0, first_calls = 0, second_calls = 0
contains
  subroutine note_first(comm, code)
    integer :: comm, code
    told_comm = comm
    told_code = code
    first_calls = first_calls + 1
  end subroutine
  subroutine note_second(comm, code)
    integer :: comm, code
    second_calls = second_calls + 1
  end subroutine
end module

program errors
  use mpi
  use checks
  use handlers
  implicit none
  integer :: rank, ranks, ierror, comm, class, one_handler, other_handler, found, x, status(MPI_STATUS_SIZE)

  call mpi_init(ierror)
  call mpi_comm_rank(MPI_COMM_WORLD, rank, ierror)
  call mpi_comm_size(MPI_COMM_WORLD, ranks, ierror)
  call mpi_comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN, ierror)
  call mpi_send(x, 1, MPI_INTEGER, ranks, 0, MPI_COMM_WORLD, ierror)
  call mpi_error_class(ierror, class, ierror)
  call check(class == MPI_ERR_RANK, 'rank')
  call mpi_send(x, 1, MPI_DATATYPE_NULL, 0, 0, MPI_COMM_WORLD, ierror)
  call mpi_error_class(ierror, class, ierror)
  call check(class == MPI_ERR_TYPE, 'type')
  call mpi_barrier(987654, ierror)
  call mpi_error_class(ierror, class, ierror)
  call check(class == MPI_ERR_COMM, 'communicator')
  call mpi_sendrecv([1, 2, 3], 3, MPI_INTEGER, rank, 0, x, 1, MPI_INTEGER, rank, 0, &
                    MPI_COMM_WORLD, status, ierror)
  call mpi_error_class(ierror, class, ierror)
  call check(class == MPI_ERR_TRUNCATE, 'truncation')

  call mpi_comm_dup(MPI_COMM_WORLD, comm, ierror)
  call mpi_comm_create_errhandler(note_first, one_handler, ierror)
  call mpi_errhandler_create(note_second, other_handler, ierror)
  call mpi_comm_set_errhandler(comm, one_handler, ierror)
  call mpi_errhandler_set(MPI_COMM_WORLD, other_handler, ierror)
  call mpi_send(x, -1, MPI_INTEGER, 0, 0, comm, ierror)
  call check(told_comm == comm .and. told_code == ierror .and. ierror /= 0, 'told')
  call mpi_send(x, 1, MPI_INTEGER, ranks, 0, MPI_COMM_WORLD, ierror)
  call check(first_calls == 1 .and. second_calls == 1, 'who is told')
  call mpi_comm_call_errhandler(comm, MPI_ERR_OTHER, ierror)
  call check(first_calls == 2 .and. told_code == MPI_ERR_OTHER, 'called')
  call mpi_comm_get_errhandler(comm, found, ierror)
  call check(found == one_handler, 'get')
  call mpi_errhandler_free(one_handler, ierror)
  call check(one_handler == MPI_ERRHANDLER_NULL, 'freed')
  call mpi_finalize(ierror)
  call finish('errors', rank)
end program
