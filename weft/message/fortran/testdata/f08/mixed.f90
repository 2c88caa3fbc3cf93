! SPDX-License-Identifier: Apache-2.0
! Handles, statuses and attributes that go from Fortran 2008 to C and to 'use mpi', and back.
module with_integers
  use mpi
  implicit none
contains
  ! Older code: handles are integers.
  integer function size_of(comm, status)
    integer, intent(in) :: comm, status(MPI_STATUS_SIZE)
    integer :: ierror
    call mpi_comm_size(comm, size_of, ierror)
    if (status(MPI_TAG) /= 5) size_of = -1
  end function
end module

program mixed
  use mpi_f08
  use checks
  use with_integers, only: size_of
  use, intrinsic :: iso_c_binding, only: c_int
  implicit none
  type(MPI_Comm) :: comm, made, again
  type(MPI_Datatype) :: type
  type(MPI_Status) :: status
  integer :: rank, ranks, number, size, key, c_key, right, old_status(MPI_STATUS_SIZE)
  integer(kind=MPI_ADDRESS_KIND) :: value
  logical :: flag
  character(len=MPI_MAX_OBJECT_NAME) :: name
  interface
    subroutine in_c(comm, made, type, status) bind(c)
      import
      type(MPI_Comm) :: comm, made
      type(MPI_Datatype) :: type
      type(MPI_Status) :: status
    end subroutine
    subroutine attributes_in_c(comm, key, c_key, right) bind(c)
      import
      type(MPI_Comm) :: comm
      integer(c_int) :: key, c_key, right
    end subroutine
  end interface

  call MPI_Init()
  call MPI_Comm_split(MPI_COMM_WORLD, 0, 0, comm)
  call MPI_Comm_rank(comm, rank)
  call MPI_Comm_size(comm, ranks)
  number = 0
  call MPI_Sendrecv_replace(number, 1, MPI_INTEGER, rank, 3, rank, 3, comm, status)
  call in_c(comm, made, type, status)
  call MPI_Comm_get_name(made, name, number)
  call check(name == 'from C', 'communicator of C')
  call MPI_Comm_rank(made, number)
  call check(number == 0, 'rank in it')
  call MPI_Type_size(type, size)
  call check(size == 5 * storage_size(1.0) / 8, 'type of C')
  call check(status%MPI_TAG == 5 .and. status%MPI_SOURCE == rank, 'status')
  call MPI_Get_count(status, MPI_INTEGER, number)
  call check(number == 1, 'count')

  ! The number in a handle is what older code calls the handle.
  call MPI_Status_f082f(status, old_status)
  call check(size_of(comm%MPI_VAL, old_status) == ranks, 'handle as an integer')
  again%MPI_VAL = comm%MPI_VAL
  call check(again == comm .and. .not. again /= comm, 'integer as a handle')

  ! C finds the address of what Fortran has set; Fortran finds the address that C has set.
  call MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, key, 0_MPI_ADDRESS_KIND)
  call MPI_Comm_set_attr(comm, key, -7000000000_MPI_ADDRESS_KIND)
  call attributes_in_c(comm, key, c_key, right)
  call check(right == 1, 'attributes of Fortran')
  call MPI_Comm_get_attr(comm, c_key, value, flag)
  call check(flag .and. value == 48, 'attribute of C')
  call MPI_Comm_set_attr(comm, c_key, 9_MPI_ADDRESS_KIND)
  call MPI_Comm_dup(comm, made)
  call MPI_Comm_get_attr(made, c_key, value, flag)
  call check(flag .and. value == 9, 'copied by C')
  call MPI_Comm_get_attr(made, key, value, flag)
  call check(flag .and. value == -7000000000_MPI_ADDRESS_KIND, 'copied by Fortran')
  call MPI_Finalize()
  call finish('mixed', rank)
end program
