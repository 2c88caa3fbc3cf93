! SPDX-License-Identifier: Apache-2.0
! Handles and attributes that go from Fortran to C and back.
program mixed
  use mpi
  use checks
  implicit none
  integer :: rank, ierror, comm, made, type, number, size, key, old_key, c_key, status(MPI_STATUS_SIZE)
  integer(kind=MPI_ADDRESS_KIND) :: value
  logical :: flag
  character(len=MPI_MAX_OBJECT_NAME) :: name
  interface
    subroutine in_c(comm, made, type, status)
      integer :: comm, made, type, status(*)
    end subroutine
    subroutine attributes_in_c(comm, key, old_key, c_key, right)
      integer :: comm, key, old_key, c_key
      logical :: right
    end subroutine
  end interface

  call mpi_init(ierror)
  call mpi_comm_split(MPI_COMM_WORLD, 0, 0, comm, ierror)
  call mpi_comm_rank(comm, rank, ierror)
  call mpi_sendrecv_replace(number, 1, MPI_INTEGER, rank, 3, rank, 3, comm, status, ierror)
  call in_c(comm, made, type, status)
  call mpi_comm_get_name(made, name, number, ierror)
  call check(name == 'from C', 'communicator of C')
  call mpi_comm_rank(made, number, ierror)
  call check(number == 0, 'rank in it')
  call mpi_type_size(type, size, ierror)
  call check(size == 5 * storage_size(1.0) / 8, 'type of C')
  call check(status(MPI_TAG) == 4, 'status')

  ! C finds the address of what Fortran has set; Fortran finds the address that C has set.
  call mpi_comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, key, &
                              0_MPI_ADDRESS_KIND, ierror)
  call mpi_keyval_create(MPI_NULL_COPY_FN, MPI_NULL_DELETE_FN, old_key, 0, ierror)
  call mpi_comm_set_attr(comm, key, -7000000000_MPI_ADDRESS_KIND, ierror)
  call mpi_attr_put(comm, old_key, -7, ierror)
  call attributes_in_c(comm, key, old_key, c_key, flag)
  call check(flag, 'attributes of Fortran')
  call mpi_comm_get_attr(comm, c_key, value, flag, ierror)
  call check(flag .and. value == 48, 'attribute of C')
  call mpi_comm_set_attr(comm, c_key, 9_MPI_ADDRESS_KIND, ierror)
  call mpi_comm_dup(comm, made, ierror)
  call mpi_comm_get_attr(made, c_key, value, flag, ierror)
  call check(flag .and. value == 9, 'copied by C')
  call mpi_comm_get_attr(made, key, value, flag, ierror)
  call check(flag .and. value == -7000000000_MPI_ADDRESS_KIND, 'copied by Fortran')
  call mpi_finalize(ierror)
  call finish('mixed', rank)
end program
