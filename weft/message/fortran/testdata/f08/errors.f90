! SPDX-License-Identifier: Apache-2.0
! Errors that come back, and handlers of the program.
module handlers
  use mpi_f08
  implicit none
  type(MPI_Comm) :: told_comm = MPI_COMM_NULL
  type(MPI_Win) :: told_win = MPI_WIN_NULL
  integer :: told_code = 0, first_calls = 0, second_calls = 0
contains
  subroutine note_first(comm, error_code)
    type(MPI_Comm) :: comm
    integer :: error_code
    told_comm = comm
    told_code = error_code
    first_calls = first_calls + 1
  end subroutine
  subroutine note_second(comm, error_code)
    type(MPI_Comm) :: comm
    integer :: error_code
    second_calls = second_calls + 1
  end subroutine
  subroutine note_window(win, error_code)
    type(MPI_Win) :: win
    integer :: error_code
    told_win = win
    told_code = error_code
  end subroutine
end module

program errors
  use mpi_f08
  use checks
  use handlers
  implicit none
  integer :: rank, ranks, ierror, class, x, memory(4)
  type(MPI_Comm) :: comm
  type(MPI_Win) :: window
  type(MPI_Errhandler) :: one_handler, other_handler, found
  type(MPI_Status) :: status
  procedure(MPI_Comm_errhandler_function), pointer :: chosen

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN)
  call MPI_Send(x, 1, MPI_INTEGER, ranks, 0, MPI_COMM_WORLD, ierror)
  call MPI_Error_class(ierror, class)
  call check(class == MPI_ERR_RANK, 'rank')
  call MPI_Send(x, 1, MPI_INTEGER, ranks, 0, MPI_COMM_WORLD)  ! Nobody wants to know.
  call MPI_Send(x, 1, MPI_DATATYPE_NULL, 0, 0, MPI_COMM_WORLD, ierror)
  call MPI_Error_class(ierror, class)
  call check(class == MPI_ERR_TYPE, 'type')
  call MPI_Barrier(MPI_Comm(987654), ierror)
  call MPI_Error_class(ierror, class)
  call check(class == MPI_ERR_COMM, 'communicator')
  call MPI_Sendrecv([1, 2, 3], 3, MPI_INTEGER, rank, 0, x, 1, MPI_INTEGER, rank, 0, &
                    MPI_COMM_WORLD, status, ierror)
  call MPI_Error_class(ierror, class)
  call check(class == MPI_ERR_TRUNCATE, 'truncation')

  call MPI_Comm_dup(MPI_COMM_WORLD, comm)
  call MPI_Comm_create_errhandler(comm_errhandler_fn=note_first, errhandler=one_handler)
  chosen => note_second
  call MPI_Comm_create_errhandler(chosen, other_handler, ierror)
  call check(ierror == MPI_SUCCESS .and. one_handler /= other_handler, 'create')
  call MPI_Comm_set_errhandler(comm, one_handler)
  call MPI_Comm_set_errhandler(MPI_COMM_WORLD, other_handler)
  call MPI_Send(x, -1, MPI_INTEGER, 0, 0, comm, ierror)
  call check(told_comm == comm .and. told_code == ierror .and. ierror /= MPI_SUCCESS, 'told')
  call MPI_Send(x, 1, MPI_INTEGER, ranks, 0, MPI_COMM_WORLD)
  call check(first_calls == 1 .and. second_calls == 1, 'who is told')
  call MPI_Comm_call_errhandler(comm, MPI_ERR_OTHER)
  call check(first_calls == 2 .and. told_code == MPI_ERR_OTHER, 'called')
  call MPI_Comm_get_errhandler(comm, found)
  call check(found == one_handler, 'get')
  call MPI_Errhandler_free(one_handler)
  call check(one_handler == MPI_ERRHANDLER_NULL, 'freed')

  call MPI_Win_create(memory, 16_MPI_ADDRESS_KIND, 4, MPI_INFO_NULL, comm, window)
  call MPI_Win_create_errhandler(win_errhandler_fn=note_window, errhandler=one_handler)
  call MPI_Win_set_errhandler(window, one_handler)
  call MPI_Win_call_errhandler(window, MPI_ERR_DISP)
  call check(told_win == window .and. told_code == MPI_ERR_DISP, 'window')
  call MPI_Win_fence(0, window)
  call MPI_Put(x, 1, MPI_INTEGER, ranks, 0_MPI_ADDRESS_KIND, 1, MPI_INTEGER, window, ierror)
  call MPI_Error_class(ierror, class)
  call check(class == MPI_ERR_RANK .and. told_code == ierror, 'rank in a window')
  call MPI_Win_fence(0, window)
  call MPI_Win_free(window)
  call MPI_Finalize()
  call finish('errors', rank)
end program
