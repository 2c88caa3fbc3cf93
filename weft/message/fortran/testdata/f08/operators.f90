! SPDX-License-Identifier: Apache-2.0
! Operators that are functions of the program.
module functions
  use mpi_f08
  use, intrinsic :: iso_c_binding, only: c_ptr, c_f_pointer
  implicit none
  integer :: calls = 0
contains
  subroutine multiply(invec, inoutvec, len, datatype)
    type(c_ptr), value :: invec, inoutvec
    integer :: len
    type(MPI_Datatype) :: datatype
    complex(8), pointer :: in(:), inout(:)
    calls = calls + 1
    call c_f_pointer(invec, in, [len])
    call c_f_pointer(inoutvec, inout, [len])
    if (datatype /= MPI_DOUBLE_COMPLEX) inout = 0
    inout = in * inout
  end subroutine
  ! Not commutative: the digits of two numbers, one after the other.
  subroutine append(invec, inoutvec, len, datatype)
    type(c_ptr), value :: invec, inoutvec
    integer :: len
    type(MPI_Datatype) :: datatype
    integer(8), pointer :: in(:, :), inout(:, :)
    integer :: size
    call c_f_pointer(invec, in, [2, len])
    call c_f_pointer(inoutvec, inout, [2, len])
    call MPI_Type_size(datatype, size)
    if (size /= 16) inout = 0
    inout(1, :) = in(1, :) * 10**inout(2, :) + inout(1, :)
    inout(2, :) = in(2, :) + inout(2, :)
  end subroutine
  ! With a large count.
  subroutine largest(invec, inoutvec, len, datatype)
    type(c_ptr), value :: invec, inoutvec
    integer(kind=MPI_COUNT_KIND) :: len
    type(MPI_Datatype) :: datatype
    integer, pointer :: in(:), inout(:)
    call c_f_pointer(invec, in, [len])
    call c_f_pointer(inoutvec, inout, [len])
    inout = merge(max(in, inout), -1, datatype == MPI_INTEGER)
  end subroutine
end module

program operators
  use mpi_f08
  use checks
  use functions
  implicit none
  integer :: rank, ranks, i, ierror, numbers(3), most(3)
  type(MPI_Op) :: product_op, append_op, largest_op
  type(MPI_Datatype) :: pair
  type(MPI_Request) :: request
  complex(8) :: z(2), result(2)
  integer(8) :: digits(2), all_digits(2), expected
  logical :: commutes

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  call MPI_Op_create(user_fn=multiply, commute=.true., op=product_op)
  z = [(0d0, 1d0), (2d0, 0d0)]
  call MPI_Allreduce(z, result, 2, MPI_DOUBLE_COMPLEX, product_op, MPI_COMM_WORLD)
  call check(result(1) == (0d0, 1d0)**ranks .and. result(2) == 2d0**ranks, 'product')
  call MPI_Reduce_local(inbuf=z, inoutbuf=result, count=1, datatype=MPI_DOUBLE_COMPLEX, &
                        op=product_op)
  call check(result(1) == (0d0, 1d0)**(ranks + 1) .and. calls > 0, 'local')
  call MPI_Op_commutative(product_op, commutes)
  call check(commutes, 'commutative')

  call MPI_Type_contiguous(2, MPI_INTEGER8, pair)
  call MPI_Type_commit(pair)
  call MPI_Op_create(append, .false., append_op, ierror)
  call check(ierror == MPI_SUCCESS, 'create')
  call MPI_Op_commutative(append_op, commutes)
  call check(.not. commutes, 'not commutative')
  call check(append_op /= product_op .and. append_op /= MPI_SUM, 'two operators')
  digits = [modulo(rank, 10), 1]
  expected = 0
  do i = 0, ranks - 1
    expected = expected * 10 + modulo(i, 10)
  end do
  call MPI_Allreduce(digits, all_digits, 1, pair, append_op, MPI_COMM_WORLD)
  call check(all(all_digits == [expected, int(ranks, 8)]), 'in order')
  ! Freed while at work.
  call MPI_Iallreduce(digits, all_digits, 1, pair, append_op, MPI_COMM_WORLD, request)
  call MPI_Op_free(append_op)
  call check(append_op == MPI_OP_NULL, 'freed')
  call MPI_Wait(request, MPI_STATUS_IGNORE)
  call MPI_F_sync_reg(all_digits)
  call check(all_digits(1) == expected, 'after it was freed')
  call MPI_Op_free(product_op)

  call MPI_Op_create_c(largest, .true., largest_op)
  numbers = [rank, -rank, 5]
  call MPI_Allreduce(numbers, most, 3_MPI_COUNT_KIND, MPI_INTEGER, largest_op, MPI_COMM_WORLD)
  call check(all(most == [ranks - 1, 0, 5]), 'large count')
  call MPI_Allreduce(numbers, most, 3, MPI_INTEGER, largest_op, MPI_COMM_WORLD)
  call check(all(most == [ranks - 1, 0, 5]), 'function with a large count, small count')
  call MPI_Op_free(largest_op)
  do i = 1, 200  ! More than there could be at once.
    call MPI_Op_create(multiply, .true., product_op, ierror)
    call check(ierror == MPI_SUCCESS, 'again')
    call MPI_Op_free(product_op)
  end do
  call MPI_Finalize()
  call finish('operators', rank)
end program
