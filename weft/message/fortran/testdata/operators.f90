! SPDX-License-Identifier: Apache-2.0
! Operators that are functions of the program.
module functions
  use mpi
  implicit none
  integer :: calls = 0
contains
  subroutine multiply(in, inout, length, datatype)
    integer :: length, datatype
    complex(8) :: in(length), inout(length)
    calls = calls + 1
    if (datatype /= MPI_DOUBLE_COMPLEX) inout = 0
    inout = in * inout
  end subroutine
  ! Not commutative: the digits of two numbers, one after the other.
  subroutine append(in, inout, length, datatype)
    integer :: length, datatype
    integer(8) :: in(2, length), inout(2, length)
    integer :: size, ierror
    call mpi_type_size(datatype, size, ierror)
    if (size /= 16) inout = 0
    inout(1, :) = in(1, :) * 10**inout(2, :) + inout(1, :)
    inout(2, :) = in(2, :) + inout(2, :)
  end subroutine
end module

program operators
  use mpi
  use checks
  use functions
  implicit none
  integer :: rank, ranks, ierror, product_op, append_op, pair, i, request
  complex(8) :: z(2), result(2)
  integer(8) :: digits(2), all_digits(2), expected
  logical :: commutes

  call mpi_init(ierror)
  call mpi_comm_rank(MPI_COMM_WORLD, rank, ierror)
  call mpi_comm_size(MPI_COMM_WORLD, ranks, ierror)
  call mpi_op_create(multiply, .true., product_op, ierror)
  z = [(0d0, 1d0), (2d0, 0d0)]
  call mpi_allreduce(z, result, 2, MPI_DOUBLE_COMPLEX, product_op, MPI_COMM_WORLD, ierror)
  call check(result(1) == (0d0, 1d0)**ranks .and. result(2) == 2d0**ranks, 'product')
  call mpi_reduce_local(z, result, 1, MPI_DOUBLE_COMPLEX, product_op, ierror)
  call check(result(1) == (0d0, 1d0)**(ranks + 1) .and. calls > 0, 'local')
  call mpi_op_commutative(product_op, commutes, ierror)
  call check(commutes, 'commutative')

  call mpi_type_contiguous(2, MPI_INTEGER8, pair, ierror)
  call mpi_type_commit(pair, ierror)
  call mpi_op_create(append, .false., append_op, ierror)
  call mpi_op_commutative(append_op, commutes, ierror)
  call check(.not. commutes, 'not commutative')
  call check(append_op /= product_op, 'two operators')
  digits = [modulo(rank, 10), 1]
  expected = 0
  do i = 0, ranks - 1
    expected = expected * 10 + modulo(i, 10)
  end do
  call mpi_allreduce(digits, all_digits, 1, pair, append_op, MPI_COMM_WORLD, ierror)
  call check(all(all_digits == [expected, int(ranks, 8)]), 'in order')
  ! Freed while at work.
  call mpi_iallreduce(digits, all_digits, 1, pair, append_op, MPI_COMM_WORLD, request, ierror)
  call mpi_op_free(append_op, ierror)
  call check(append_op == MPI_OP_NULL, 'freed')
  call mpi_wait(request, MPI_STATUS_IGNORE, ierror)
  call check(all_digits(1) == expected, 'after it was freed')
  call mpi_op_free(product_op, ierror)
  do i = 1, 200  ! More than there could be at once.
    call mpi_op_create(multiply, .true., product_op, ierror)
    call check(ierror == MPI_SUCCESS, 'again')
    call mpi_op_free(product_op, ierror)
  end do
  call mpi_finalize(ierror)
  call finish('operators', rank)
end program
