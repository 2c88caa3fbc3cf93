! SPDX-License-Identifier: Apache-2.0
! Heat in a plate whose left edge is hot. Usage: heat [POINTS ON A SIDE] [STEPS]
program heat
  use mpi_f08
  use grid
  implicit none
  type(block) :: mine
  integer :: side = 64, steps = 100, step, rank, ranks
  double precision :: here, total, start, took
  double precision, allocatable :: next(:, :)

  call MPI_Init()
  call read_number(1, side)
  call read_number(2, steps)
  call make_block(side, mine)
  call MPI_Comm_rank(mine%comm, rank)
  call MPI_Comm_size(mine%comm, ranks)
  mine%heat = 0
  if (mine%before(1) == MPI_PROC_NULL) mine%heat(0, :) = 1
  allocate (next(mine%size(1), mine%size(2)))

  start = MPI_Wtime()
  do step = 1, steps
    call swap_borders(mine)
    associate (h => mine%heat, n => mine%size)
      next = h(1:n(1), 1:n(2)) + 0.2d0 * (h(0:n(1) - 1, 1:n(2)) + h(2:n(1) + 1, 1:n(2)) &
             + h(1:n(1), 0:n(2) - 1) + h(1:n(1), 2:n(2) + 1) - 4 * h(1:n(1), 1:n(2)))
      h(1:n(1), 1:n(2)) = next
    end associate
  end do
  took = MPI_Wtime() - start

  here = sum(mine%heat(1:mine%size(1), 1:mine%size(2)))
  call MPI_Reduce(here, total, 1, MPI_DOUBLE_PRECISION, MPI_SUM, 0, mine%comm)
  if (rank == 0) print '(i0, a, i0, a, f0.4, a, f0.3, a)', ranks, ' ranks, ', steps, ' steps: heat ', total, &
    ', a step takes ', took / steps * 1d6, ' us'
  call MPI_Finalize()

contains

  subroutine read_number(position, number)
    integer, intent(in) :: position
    integer, intent(inout) :: number
    character(len=16) :: text
    if (command_argument_count() < position) return
    call get_command_argument(position, text)
    read (text, *) number
  end subroutine read_number
end program heat
