! SPDX-License-Identifier: Apache-2.0
! Files and random numbers belong to a rank: all use the same unit at the same time.
program files
  use mpi_f08
  use checks
  implicit none
  integer :: rank, ranks, ierror, i, got, value, seed_size
  integer, allocatable :: seed(:)
  double precision :: first(2), again(2)

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  open (unit=10, status='scratch', form='formatted')
  do i = 1, 3
    write (10, *) 100 * rank + i
    call MPI_Sendrecv(rank, 1, MPI_INTEGER, modulo(rank + 1, ranks), 0, got, 1, MPI_INTEGER, &
                      modulo(rank - 1, ranks), 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
  end do
  rewind (10)
  do i = 1, 3
    read (10, *, iostat=ierror) value
    call check(ierror == 0 .and. value == 100 * rank + i, 'file')
    call MPI_Barrier(MPI_COMM_WORLD)
  end do
  close (10)

  call random_seed(size=seed_size)
  allocate (seed(seed_size))
  seed = rank
  call random_seed(put=seed)
  call random_number(first)
  call MPI_Barrier(MPI_COMM_WORLD)
  call random_seed(put=seed)
  call random_number(again(1))
  call MPI_Barrier(MPI_COMM_WORLD)
  call random_number(again(2))
  call check(all(first == again), 'random numbers')
  call MPI_Finalize()
  call finish('files', rank)
end program
