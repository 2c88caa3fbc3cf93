! SPDX-License-Identifier: Apache-2.0
! Attributes: of the environment, and the program's own with functions that copy and delete.
module attribute_functions
  use mpi_f08
  implicit none
  integer :: copies = 0, deletions = 0
  integer(kind=MPI_ADDRESS_KIND) :: last_deleted = 0
  type(MPI_Comm) :: copied_from = MPI_COMM_NULL
  procedure(MPI_Comm_copy_attr_function), pointer :: chosen => copy
contains
  subroutine copy(oldcomm, comm_keyval, extra_state, attribute_val_in, attribute_val_out, flag, &
      ierror)
    type(MPI_Comm) :: oldcomm
    integer :: comm_keyval, ierror
    integer(kind=MPI_ADDRESS_KIND) :: extra_state, attribute_val_in, attribute_val_out
    logical :: flag
    copies = copies + 1
    copied_from = oldcomm
    attribute_val_out = attribute_val_in + extra_state
    flag = .true.
    ierror = MPI_SUCCESS
  end subroutine
  subroutine delete(comm, comm_keyval, attribute_val, extra_state, ierror)
    type(MPI_Comm) :: comm
    integer :: comm_keyval, ierror
    integer(kind=MPI_ADDRESS_KIND) :: attribute_val, extra_state
    deletions = deletions + 1
    last_deleted = attribute_val
    ierror = MPI_SUCCESS
  end subroutine
  subroutine refuse(comm, comm_keyval, attribute_val, extra_state, ierror)
    type(MPI_Comm) :: comm
    integer :: comm_keyval, ierror
    integer(kind=MPI_ADDRESS_KIND) :: attribute_val, extra_state
    ierror = MPI_ERR_ARG
  end subroutine
  subroutine double_value(oldtype, type_keyval, extra_state, attribute_val_in, attribute_val_out, &
      flag, ierror)
    type(MPI_Datatype) :: oldtype
    integer :: type_keyval, ierror
    integer(kind=MPI_ADDRESS_KIND) :: extra_state, attribute_val_in, attribute_val_out
    logical :: flag
    attribute_val_out = 2 * attribute_val_in
    flag = attribute_val_in > 0
    ierror = MPI_SUCCESS
  end subroutine
  subroutine delete_of_window(win, win_keyval, attribute_val, extra_state, ierror)
    type(MPI_Win) :: win
    integer :: win_keyval, ierror
    integer(kind=MPI_ADDRESS_KIND) :: attribute_val, extra_state
    last_deleted = attribute_val + extra_state
    ierror = MPI_SUCCESS
  end subroutine
end module

program attributes
  use mpi_f08
  use checks
  use attribute_functions
  implicit none
  integer(kind=MPI_ADDRESS_KIND), parameter :: far = 123456789012_MPI_ADDRESS_KIND
  integer :: rank, ierror, key, dup_key, null_key, strict, memory(4)
  type(MPI_Comm) :: comm, other
  type(MPI_Datatype) :: pair, copied
  type(MPI_Win) :: window
  integer(kind=MPI_ADDRESS_KIND) :: value
  logical :: flag

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, value, flag)
  call check(flag .and. value >= 32767, 'tag bound')
  call MPI_Comm_get_attr(comm=MPI_COMM_WORLD, comm_keyval=MPI_WTIME_IS_GLOBAL, &
                         attribute_val=value, flag=flag)
  call check(flag .and. (value == 0 .or. value == 1), 'time is global')

  call MPI_Comm_dup(MPI_COMM_WORLD, comm)
  call MPI_Comm_create_keyval(comm_copy_attr_fn=chosen, comm_delete_attr_fn=delete, &
                              comm_keyval=key, extra_state=int(rank, MPI_ADDRESS_KIND))
  call MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, dup_key, &
                              0_MPI_ADDRESS_KIND, ierror)
  call check(ierror == MPI_SUCCESS, 'create')
  call MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete, null_key, 0_MPI_ADDRESS_KIND)
  call MPI_Comm_get_attr(comm, key, value, flag)
  call check(.not. flag, 'not set')
  call MPI_Comm_set_attr(comm, key, far)
  call MPI_Comm_set_attr(comm, dup_key, -5_MPI_ADDRESS_KIND)
  call MPI_Comm_set_attr(comm, null_key, 17_MPI_ADDRESS_KIND)
  call MPI_Comm_dup(comm, other)
  call check(copies == 1 .and. copied_from == comm, 'copied')
  call MPI_Comm_get_attr(other, key, value, flag)
  call check(flag .and. value == far + rank, 'copy')
  call MPI_Comm_get_attr(other, dup_key, value, flag)
  call check(flag .and. value == -5, 'dup')
  call MPI_Comm_get_attr(other, null_key, value, flag)
  call check(.not. flag, 'null copy')
  call MPI_Comm_delete_attr(comm, comm_keyval=null_key)
  call check(deletions == 1 .and. last_deleted == 17, 'delete')
  call MPI_Comm_free(other)
  call check(deletions == 2 .and. last_deleted == far + rank, 'freed')
  call MPI_Comm_free_keyval(key)
  call check(key == MPI_KEYVAL_INVALID, 'key')

  call MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, refuse, strict, 0_MPI_ADDRESS_KIND)
  call MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN)
  call MPI_Comm_set_attr(comm, strict, 1_MPI_ADDRESS_KIND)
  call MPI_Comm_delete_attr(comm, strict, ierror)
  call check(ierror /= MPI_SUCCESS, 'refused')

  call MPI_Type_create_keyval(double_value, MPI_TYPE_NULL_DELETE_FN, key, 0_MPI_ADDRESS_KIND)
  call MPI_Type_contiguous(2, MPI_INTEGER, pair)
  call MPI_Type_set_attr(datatype=pair, type_keyval=key, attribute_val=99_MPI_ADDRESS_KIND)
  call MPI_Type_dup(pair, copied)
  call MPI_Type_get_attr(copied, key, value, flag)
  call check(flag .and. value == 198, 'type')
  call MPI_Type_set_attr(pair, key, -1_MPI_ADDRESS_KIND)
  call MPI_Type_free(copied)
  call MPI_Type_dup(pair, copied)
  call MPI_Type_get_attr(copied, key, value, flag)
  call check(.not. flag, 'type, not copied')
  call MPI_Type_delete_attr(pair, key)
  call MPI_Type_get_attr(pair, key, value, flag)
  call check(.not. flag, 'type, deleted')

  call MPI_Win_create_keyval(MPI_WIN_DUP_FN, delete_of_window, key, 1000_MPI_ADDRESS_KIND)
  call MPI_Win_create(memory, 16_MPI_ADDRESS_KIND, 4, MPI_INFO_NULL, MPI_COMM_WORLD, window)
  call MPI_Win_set_attr(window, key, int(rank, MPI_ADDRESS_KIND))
  call MPI_Win_get_attr(win=window, win_keyval=key, attribute_val=value, flag=flag)
  call check(flag .and. value == rank, 'window')
  call MPI_Win_get_attr(window, MPI_WIN_SIZE, value, flag)
  call check(flag .and. value == 16, 'size of window')
  call MPI_Win_free(window)
  call check(window == MPI_WIN_NULL .and. last_deleted == 1000 + rank, 'window freed')
  call MPI_Win_free_keyval(key)
  call MPI_Finalize()
  call finish('attributes', rank)
end program
