! SPDX-License-Identifier: Apache-2.0
! Attributes: of the environment, and the program's own with functions that copy and delete.
module attribute_functions
  use mpi
  implicit none
  integer :: copies = 0, deletions = 0
  integer(kind=MPI_ADDRESS_KIND) :: last_deleted = 0
contains
  subroutine copy(old, keyval, extra_state, value_in, value_out, flag, ierror)
    integer :: old, keyval, ierror
    integer(kind=MPI_ADDRESS_KIND) :: extra_state, value_in, value_out
    logical :: flag
    copies = copies + 1
    value_out = value_in + extra_state
    flag = .true.
    ierror = MPI_SUCCESS
  end subroutine
  subroutine delete(old, keyval, value, extra_state, ierror)
    integer :: old, keyval, ierror
    integer(kind=MPI_ADDRESS_KIND) :: value, extra_state
    deletions = deletions + 1
    last_deleted = value
    ierror = MPI_SUCCESS
  end subroutine
  subroutine refuse(old, keyval, value, extra_state, ierror)
    integer :: old, keyval, ierror
    integer(kind=MPI_ADDRESS_KIND) :: value, extra_state
    ierror = MPI_ERR_ARG
  end subroutine
  subroutine old_copy(old, keyval, extra_state, value_in, value_out, flag, ierror)
    integer :: old, keyval, ierror, extra_state, value_in, value_out
    logical :: flag
    flag = value_in > 0
    value_out = value_in * extra_state
    ierror = MPI_SUCCESS
  end subroutine
end module

program attributes
  use mpi
  use checks
  use attribute_functions
  implicit none
  integer(kind=MPI_ADDRESS_KIND), parameter :: far = 123456789012_MPI_ADDRESS_KIND
  integer :: rank, ierror, key, dup_key, null_key, strict, comm, other, old_key, number, type, copied
  integer(kind=MPI_ADDRESS_KIND) :: value
  logical :: flag

  call mpi_init(ierror)
  call mpi_comm_rank(MPI_COMM_WORLD, rank, ierror)
  call mpi_comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, value, flag, ierror)
  call check(flag .and. value >= 32767, 'tag bound')
  call mpi_attr_get(MPI_COMM_WORLD, MPI_WTIME_IS_GLOBAL, number, flag, ierror)
  call check(flag .and. (number == 0 .or. number == 1), 'time is global')

  call mpi_comm_dup(MPI_COMM_WORLD, comm, ierror)
  call mpi_comm_create_keyval(copy, delete, key, int(rank, MPI_ADDRESS_KIND), ierror)
  call mpi_comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, dup_key, &
                              0_MPI_ADDRESS_KIND, ierror)
  call mpi_comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete, null_key, 0_MPI_ADDRESS_KIND, ierror)
  call mpi_comm_get_attr(comm, key, value, flag, ierror)
  call check(.not. flag, 'not set')
  call mpi_comm_set_attr(comm, key, far, ierror)
  call mpi_comm_set_attr(comm, dup_key, -5_MPI_ADDRESS_KIND, ierror)
  call mpi_comm_set_attr(comm, null_key, 17_MPI_ADDRESS_KIND, ierror)
  call mpi_comm_dup(comm, other, ierror)
  call check(copies == 1, 'copied')
  call mpi_comm_get_attr(other, key, value, flag, ierror)
  call check(flag .and. value == far + rank, 'copy')
  call mpi_comm_get_attr(other, dup_key, value, flag, ierror)
  call check(flag .and. value == -5, 'dup')
  call mpi_comm_get_attr(other, null_key, value, flag, ierror)
  call check(.not. flag, 'null copy')
  call mpi_comm_delete_attr(comm, null_key, ierror)
  call check(deletions == 1 .and. last_deleted == 17, 'delete')
  call mpi_comm_free(other, ierror)
  call check(deletions == 2 .and. last_deleted == far + rank, 'freed')
  call mpi_comm_free_keyval(key, ierror)
  call check(key == MPI_KEYVAL_INVALID, 'key')

  call mpi_comm_create_keyval(MPI_COMM_NULL_COPY_FN, refuse, strict, 0_MPI_ADDRESS_KIND, ierror)
  call mpi_comm_set_errhandler(comm, MPI_ERRORS_RETURN, ierror)
  call mpi_comm_set_attr(comm, strict, 1_MPI_ADDRESS_KIND, ierror)
  call mpi_comm_delete_attr(comm, strict, ierror)
  call check(ierror /= MPI_SUCCESS, 'refused')

  call mpi_keyval_create(old_copy, MPI_NULL_DELETE_FN, old_key, 3, ierror)
  call mpi_comm_dup(MPI_COMM_SELF, comm, ierror)
  call mpi_attr_put(comm, old_key, 14, ierror)
  call mpi_comm_dup(comm, other, ierror)
  call mpi_attr_get(other, old_key, number, flag, ierror)
  call check(flag .and. number == 42, 'old names')
  call mpi_attr_delete(other, old_key, ierror)
  call mpi_attr_put(comm, old_key, -1, ierror)
  call mpi_attr_get(comm, old_key, number, flag, ierror)
  call check(number == -1, 'negative')
  call mpi_comm_free(other, ierror)
  call mpi_comm_dup(comm, other, ierror)
  call mpi_attr_get(other, old_key, number, flag, ierror)
  call check(.not. flag, 'old names, not copied')
  call mpi_keyval_free(old_key, ierror)

  call mpi_type_create_keyval(MPI_TYPE_DUP_FN, MPI_TYPE_NULL_DELETE_FN, key, &
                              0_MPI_ADDRESS_KIND, ierror)
  call mpi_type_contiguous(2, MPI_INTEGER, type, ierror)
  call mpi_type_set_attr(type, key, 99_MPI_ADDRESS_KIND, ierror)
  call mpi_type_dup(type, copied, ierror)
  call mpi_type_get_attr(copied, key, value, flag, ierror)
  call check(flag .and. value == 99, 'type')
  call mpi_finalize(ierror)
  call finish('attributes', rank)
end program
