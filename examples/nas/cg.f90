! SPDX-License-Identifier: Apache-2.0
! CG: the smallest eigenvalue of a sparse symmetric matrix with an irregular pattern, by inverse
! iteration; each step solves a system by conjugate gradients. The matrix is cut into q x q blocks,
! so the number of ranks is a square. Usage: cg [ROWS] [STEPS]
module matrix
  implicit none
  integer, parameter :: r8 = kind(1d0), i8 = selected_int_kind(18)
  integer, parameter :: links = 6  ! Of each row to others, at random.
contains
  ! Anything between 0 and 2^31, always the same for the same i and j.
  pure integer(i8) function mixed(i, j)
    integer, intent(in) :: i, j
    integer :: round
    mixed = modulo(int(i, i8) * 7919_i8 + int(j, i8) * 104729_i8, 2147483647_i8)
    do round = 1, 3
      mixed = modulo(mixed * 48271_i8 + 12345_i8, 2147483647_i8)
    end do
  end function

  ! The elements in a block of rows and columns: row(k), column(k), value(k), counted from the
  ! block's first. Links count for both of their ends; the diagonal makes the matrix positive.
  subroutine block(n, row_from, column_from, size, row, column, value)
    integer, intent(in) :: n, row_from, column_from, size
    integer, allocatable, intent(out) :: row(:), column(:)
    real(r8), allocatable, intent(out) :: value(:)
    integer :: i, j, k, count, pass
    real(r8) :: v
    do pass = 1, 2
      count = 0
      do i = 1, n
        call add(i, i, 2d0 * links + 0.1d0 + i * 1d0 / n)
        do k = 1, links
          j = int(modulo(mixed(i, k), int(n, i8))) + 1
          v = real(mixed(k, i), r8) / 2147483647 - 0.5d0
          if (i /= j) then
            call add(i, j, v)
            call add(j, i, v)
          end if
        end do
      end do
      if (pass == 1) allocate (row(count), column(count), value(count))
    end do
  contains
    subroutine add(i, j, v)
      integer, intent(in) :: i, j
      real(r8), intent(in) :: v
      if (i <= row_from .or. i > row_from + size) return
      if (j <= column_from .or. j > column_from + size) return
      count = count + 1
      if (pass == 1) return
      row(count) = i - row_from
      column(count) = j - column_from
      value(count) = v
    end subroutine
  end subroutine
end module

! Vectors: the rank in row r and column c of the grid has part c, like all others in its column.
module solver
  use mpi
  use matrix
  implicit none
  type system
    integer :: size  ! Of a part.
    integer :: across, partner  ! The ranks of our row; who has our place in the transposed grid.
    integer, allocatable :: row(:), column(:)
    real(r8), allocatable :: value(:)
  end type
contains
  function product_of(a, x) result(y)
    type(system), intent(in) :: a
    real(r8), intent(in) :: x(a%size)
    real(r8) :: y(a%size), part(a%size)
    integer :: k, ierror
    part = 0
    do k = 1, size(a%row)
      part(a%row(k)) = part(a%row(k)) + a%value(k) * x(a%column(k))
    end do
    ! Now part r of the product, which is needed in column r.
    call mpi_allreduce(part, y, a%size, MPI_DOUBLE_PRECISION, MPI_SUM, a%across, ierror)
    call mpi_sendrecv_replace(y, a%size, MPI_DOUBLE_PRECISION, a%partner, 1, a%partner, 1, &
                              MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
  end function

  real(r8) function dot(a, x, y)
    type(system), intent(in) :: a
    real(r8), intent(in) :: x(a%size), y(a%size)
    integer :: ierror
    dot = dot_product(x, y)
    call mpi_allreduce(MPI_IN_PLACE, dot, 1, MPI_DOUBLE_PRECISION, MPI_SUM, a%across, ierror)
  end function

  subroutine solve(a, b, z)
    type(system), intent(in) :: a
    real(r8), intent(in) :: b(a%size)
    real(r8), intent(out) :: z(a%size)
    real(r8) :: r(a%size), p(a%size), q(a%size), rho, before, alpha
    integer :: iteration
    z = 0
    r = b
    p = r
    rho = dot(a, r, r)
    do iteration = 1, 25
      q = product_of(a, p)
      alpha = rho / dot(a, p, q)
      z = z + alpha * p
      r = r - alpha * q
      before = rho
      rho = dot(a, r, r)
      p = r + rho / before * p
    end do
  end subroutine
end module

program cg
  use solver
  implicit none
  type(system) :: a
  integer :: rank, ranks, q, n, steps, step, ierror
  real(r8), allocatable :: x(:), z(:)
  real(r8) :: lambda, residual, moment, expected
  logical :: good

  call mpi_init(ierror)
  call mpi_comm_rank(MPI_COMM_WORLD, rank, ierror)
  call mpi_comm_size(MPI_COMM_WORLD, ranks, ierror)
  n = argument(1, 1024)
  steps = argument(2, 4)
  q = nint(sqrt(real(ranks)))
  if (q * q /= ranks .or. modulo(n, q) /= 0) then
    if (rank == 0) print '(a)', 'cg: the number of ranks must be a square whose root divides the rows'
    call mpi_abort(MPI_COMM_WORLD, 1, ierror)
  end if
  a%size = n / q
  a%partner = modulo(rank, q) * q + rank / q
  call mpi_comm_split(MPI_COMM_WORLD, rank / q, rank, a%across, ierror)
  call block(n, rank / q * a%size, modulo(rank, q) * a%size, a%size, a%row, a%column, a%value)

  allocate (x(a%size), z(a%size))
  x = 1 / sqrt(real(n, r8))
  lambda = 0
  residual = huge(residual)
  do step = 1, steps
    call solve(a, x, z)
    lambda = dot(a, x, x) / dot(a, x, z)
    residual = sqrt(dot(a, x - product_of(a, z), x - product_of(a, z)))
    x = z / sqrt(dot(a, z, z))
  end do
  moment = mpi_wtime()
  expected = serial(n, steps)
  good = residual < 1d-9 .and. abs(lambda - expected) < 1d-9 * abs(expected)
  if (rank == 0) print '(a,i0,a,i0,a,f12.9,a,a,a,f0.3,a)', 'CG: ', n, ' rows on ', ranks, &
    ' ranks, eigenvalue ', lambda, ': ', trim(merge('verified', 'WRONG   ', good)), ' at ', &
    moment * 1d6, ' us'
  call mpi_comm_free(a%across, ierror)
  call mpi_finalize(ierror)
  if (.not. good) stop 1
contains
  integer function argument(which, otherwise)
    integer, intent(in) :: which, otherwise
    character(len=20) :: text
    argument = otherwise
    if (command_argument_count() < which) return
    call get_command_argument(which, text)
    read (text, *) argument
  end function

  ! The same without parts and messages.
  real(r8) function serial(n, steps)
    integer, intent(in) :: n, steps
    integer, allocatable :: row(:), column(:)
    real(r8), allocatable :: value(:)
    real(r8) :: x(n), z(n), r(n), p(n), w(n), rho, before, alpha
    integer :: step, iteration, k
    call block(n, 0, 0, n, row, column, value)
    serial = 0
    x = 1 / sqrt(real(n, r8))
    do step = 1, steps
      z = 0
      r = x
      p = r
      rho = dot_product(r, r)
      do iteration = 1, 25
        w = 0
        do k = 1, size(row)
          w(row(k)) = w(row(k)) + value(k) * p(column(k))
        end do
        alpha = rho / dot_product(p, w)
        z = z + alpha * p
        r = r - alpha * w
        before = rho
        rho = dot_product(r, r)
        p = r + rho / before * p
      end do
      serial = dot_product(x, x) / dot_product(x, z)
      x = z / sqrt(dot_product(z, z))
    end do
  end function
end program
