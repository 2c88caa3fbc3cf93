! SPDX-License-Identifier: Apache-2.0
! A plate, cut into a grid of ranks; each has its block with a border of one point.
module grid
  use mpi_f08
  implicit none
  private
  public :: block, make_block, swap_borders

  type block
    type(MPI_Comm) :: comm
    integer :: low(2), size(2)               ! The first point of mine, and how many.
    integer :: before(2), after(2)           ! Neighbours; MPI_PROC_NULL at the edge.
    type(MPI_Datatype) :: column
    double precision, allocatable :: heat(:, :)
  end type block

contains

  subroutine make_block(side, mine)
    integer, intent(in) :: side
    type(block), intent(out) :: mine
    integer :: ranks, rank, dims(2), at(2), d
    call MPI_Comm_size(MPI_COMM_WORLD, ranks)
    dims = 0
    call MPI_Dims_create(ranks, 2, dims)
    call MPI_Cart_create(MPI_COMM_WORLD, 2, dims, [.false., .false.], .false., mine%comm)
    call MPI_Comm_rank(mine%comm, rank)
    call MPI_Cart_coords(mine%comm, rank, 2, at)
    do d = 1, 2
      mine%low(d) = side * at(d) / dims(d) + 1
      mine%size(d) = side * (at(d) + 1) / dims(d) + 1 - mine%low(d)
      call MPI_Cart_shift(mine%comm, d - 1, 1, mine%before(d), mine%after(d))
    end do
    allocate (mine%heat(0:mine%size(1) + 1, 0:mine%size(2) + 1))
    call MPI_Type_vector(mine%size(2), 1, mine%size(1) + 2, MPI_DOUBLE_PRECISION, mine%column)
    call MPI_Type_commit(mine%column)
  end subroutine make_block

  subroutine swap_borders(mine)
    type(block), intent(inout) :: mine
    integer :: n(2)
    n = mine%size
    associate (h => mine%heat)
      call MPI_Sendrecv(h(1, n(2)), n(1), MPI_DOUBLE_PRECISION, mine%after(2), 1, &
                        h(1, 0), n(1), MPI_DOUBLE_PRECISION, mine%before(2), 1, mine%comm, MPI_STATUS_IGNORE)
      call MPI_Sendrecv(h(1, 1), n(1), MPI_DOUBLE_PRECISION, mine%before(2), 2, &
                        h(1, n(2) + 1), n(1), MPI_DOUBLE_PRECISION, mine%after(2), 2, mine%comm, MPI_STATUS_IGNORE)
      call MPI_Sendrecv(h(n(1), 1), 1, mine%column, mine%after(1), 3, &
                        h(0, 1), 1, mine%column, mine%before(1), 3, mine%comm, MPI_STATUS_IGNORE)
      call MPI_Sendrecv(h(1, 1), 1, mine%column, mine%before(1), 4, &
                        h(n(1) + 1, 1), 1, mine%column, mine%after(1), 4, mine%comm, MPI_STATUS_IGNORE)
    end associate
  end subroutine swap_borders
end module grid
