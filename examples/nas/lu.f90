! SPDX-License-Identifier: Apache-2.0
! LU-like: sweeps of a symmetric Gauss-Seidel method over a cube. A point needs its lower neighbours
! (on the way back: its upper ones) of the same sweep, so the work runs through the ranks as a
! wavefront, plane after plane: many small messages, each waited for. Usage: lu [POINTS] [SWEEPS]
module grid
  implicit none
  integer, parameter :: r8 = kind(1d0)
contains
  ! One plane of a sweep, u(i, j) from its neighbours and what is below or above.
  subroutine relax(u, below, above, load, forward)
    real(r8), intent(inout) :: u(0:, 0:)
    real(r8), intent(in) :: below(0:, 0:), above(0:, 0:), load(0:, 0:)
    logical, intent(in) :: forward
    integer :: i, j, first(2), last(2), step
    first = 1
    last = shape(u) - 2
    step = 1
    if (.not. forward) then
      first = last
      last = 1
      step = -1
    end if
    do j = first(2), last(2), step
      do i = first(1), last(1), step
        u(i, j) = (load(i, j) + u(i - 1, j) + u(i + 1, j) + u(i, j - 1) + u(i, j + 1) + below(i, j) + &
                   above(i, j)) / 6.5d0
      end do
    end do
  end subroutine

  pure real(r8) function load_at(i, j, k)
    integer, intent(in) :: i, j, k
    load_at = modulo(i * 37 + j * 101 + k * 53, 97) / 97d0
  end function

  ! The same on one rank: the judge.
  subroutine solve_alone(n, sweeps, u)
    integer, intent(in) :: n, sweeps
    real(r8), intent(out) :: u(0:n + 1, 0:n + 1, 0:n + 1)
    real(r8) :: load(0:n + 1, 0:n + 1)
    integer :: i, j, k, sweep
    u = 0
    do sweep = 1, 2 * sweeps
      do k = merge(1, n, modulo(sweep, 2) == 1), merge(n, 1, modulo(sweep, 2) == 1), &
        merge(1, -1, modulo(sweep, 2) == 1)
        do j = 1, n
          do i = 1, n
            load(i, j) = load_at(i, j, k)
          end do
        end do
        call relax(u(:, :, k), u(:, :, k - 1), u(:, :, k + 1), load, modulo(sweep, 2) == 1)
      end do
    end do
  end subroutine
end module

program lu
  use mpi
  use grid
  implicit none
  integer :: rank, ranks, comm, ierror, n, sweeps, sweep, k, i, j
  integer :: dims(2), place(2), from(2), mine(2), west, east, south, north
  real(r8), allocatable :: u(:, :, :), load(:, :, :), whole(:, :, :)
  real(r8) :: moment
  logical :: good, all_good

  call mpi_init(ierror)
  call mpi_comm_size(MPI_COMM_WORLD, ranks, ierror)
  n = argument(1, 24)
  sweeps = argument(2, 3)
  dims = 0
  call mpi_dims_create(ranks, 2, dims, ierror)
  call mpi_cart_create(MPI_COMM_WORLD, 2, dims, [.false., .false.], .true., comm, ierror)
  call mpi_comm_rank(comm, rank, ierror)
  call mpi_cart_coords(comm, rank, 2, place, ierror)
  call mpi_cart_shift(comm, 0, 1, west, east, ierror)
  call mpi_cart_shift(comm, 1, 1, south, north, ierror)
  from = place * n / dims
  mine = (place + 1) * n / dims - from
  if (any(dims > n)) call mpi_abort(MPI_COMM_WORLD, 1, ierror)

  allocate (u(0:mine(1) + 1, 0:mine(2) + 1, 0:n + 1), load(0:mine(1) + 1, 0:mine(2) + 1, n))
  u = 0
  do k = 1, n
    do j = 0, mine(2) + 1
      do i = 0, mine(1) + 1
        load(i, j, k) = load_at(from(1) + i, from(2) + j, k)
      end do
    end do
  end do
  do sweep = 1, sweeps
    do k = 1, n
      call receive(west, south, 0, k)
      call relax(u(:, :, k), u(:, :, k - 1), u(:, :, k + 1), load(:, :, k), .true.)
      call send(east, north, mine, k)
    end do
    ! What the way back needs of this one.
    call exchange_back(west, south, east, north, 1)
    do k = n, 1, -1
      call receive(east, north, 1, k)
      call relax(u(:, :, k), u(:, :, k - 1), u(:, :, k + 1), load(:, :, k), .false.)
      call send(west, south, [1, 1], k)
    end do
    call exchange_back(east, north, west, south, 0)
  end do
  call mpi_barrier(comm, ierror)
  moment = mpi_wtime()

  allocate (whole(0:n + 1, 0:n + 1, 0:n + 1))
  call solve_alone(n, sweeps, whole)
  good = all(u(1:mine(1), 1:mine(2), 1:n) == &
             whole(from(1) + 1:from(1) + mine(1), from(2) + 1:from(2) + mine(2), 1:n))
  call mpi_allreduce(good, all_good, 1, MPI_LOGICAL, MPI_LAND, comm, ierror)
  if (rank == 0) print '(a,i0,a,i0,a,i0,a,i0,a,a,a,f0.3,a)', 'LU: ', n, '^3 points on ', dims(1), &
    ' x ', dims(2), ' ranks, ', sweeps, ' sweeps: ', trim(merge('verified', 'WRONG   ', all_good)), &
    ' at ', moment * 1d6, ' us'
  call mpi_finalize(ierror)
  if (.not. all_good) stop 1
contains
  ! The borders of plane k from who is done with it; side 0 is the lower.
  subroutine receive(x_side, y_side, side, k)
    integer, intent(in) :: x_side, y_side, side, k
    integer :: at(2)
    real(r8) :: line(mine(2))
    at = side * (mine + 1)
    call mpi_recv(line, mine(2), MPI_DOUBLE_PRECISION, x_side, k, comm, MPI_STATUS_IGNORE, ierror)
    if (x_side /= MPI_PROC_NULL) u(at(1), 1:mine(2), k) = line
    call mpi_recv(u(1, at(2), k), mine(1), MPI_DOUBLE_PRECISION, y_side, k, comm, &
                  MPI_STATUS_IGNORE, ierror)
  end subroutine

  subroutine send(x_side, y_side, at, k)
    integer, intent(in) :: x_side, y_side, at(2), k
    call mpi_send(u(at(1), 1:mine(2), k), mine(2), MPI_DOUBLE_PRECISION, x_side, k, comm, ierror)
    call mpi_send(u(1, at(2), k), mine(1), MPI_DOUBLE_PRECISION, y_side, k, comm, ierror)
  end subroutine

  ! Borders of all planes against the direction of the last sweep: our side `side` and its opposite.
  subroutine exchange_back(to_x, to_y, from_x, from_y, side)
    integer, intent(in) :: to_x, to_y, from_x, from_y, side
    integer :: out(2), in(2), status(MPI_STATUS_SIZE)
    real(r8) :: sent(mine(2), n), got(mine(2), n), sent_y(mine(1), n), got_y(mine(1), n)
    out = merge([1, 1], mine, side == 1)
    in = side * (mine + 1)
    sent = u(out(1), 1:mine(2), 1:n)
    call mpi_sendrecv(sent, size(sent), MPI_DOUBLE_PRECISION, to_x, 0, got, size(got), &
                      MPI_DOUBLE_PRECISION, from_x, 0, comm, status, ierror)
    if (from_x /= MPI_PROC_NULL) u(in(1), 1:mine(2), 1:n) = got
    sent_y = u(1:mine(1), out(2), 1:n)
    call mpi_sendrecv(sent_y, size(sent_y), MPI_DOUBLE_PRECISION, to_y, 0, got_y, size(got_y), &
                      MPI_DOUBLE_PRECISION, from_y, 0, comm, status, ierror)
    if (from_y /= MPI_PROC_NULL) u(1:mine(1), in(2), 1:n) = got_y
  end subroutine

  integer function argument(which, otherwise)
    integer, intent(in) :: which, otherwise
    character(len=20) :: text
    argument = otherwise
    if (command_argument_count() < which) return
    call get_command_argument(which, text)
    read (text, *) argument
  end function
end program
