! SPDX-License-Identifier: Apache-2.0
! OpenMP and MPI together: four threads a rank, the main one of which communicates.
program threads
  use mpi
  use omp_lib
  implicit none
  integer, parameter :: many = 1000
  integer :: rank, ranks, provided, ierror, i
  double precision, save :: numbers(many), own, total
  logical :: good

  call mpi_init_thread(MPI_THREAD_FUNNELED, provided, ierror)
  call mpi_comm_rank(MPI_COMM_WORLD, rank, ierror)
  call mpi_comm_size(MPI_COMM_WORLD, ranks, ierror)
  call omp_set_num_threads(4)
  own = 0
  !$omp parallel do reduction(+:own)
  do i = 1, many
    numbers(i) = i * (rank + 1)
    own = own + numbers(i)
  end do
  !$omp parallel
  !$omp master
  call mpi_allreduce(own, total, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, ierror)
  !$omp end master
  !$omp barrier
  !$omp do
  do i = 1, many
    numbers(i) = total
  end do
  !$omp end parallel
  good = all(numbers == 0.25d0 * many * (many + 1) * ranks * (ranks + 1))
  call mpi_allreduce(MPI_IN_PLACE, good, 1, MPI_LOGICAL, MPI_LAND, MPI_COMM_WORLD, ierror)
  if (rank == 0) print '(a,a)', 'threads: ', trim(merge('good', 'bad ', good))
  call mpi_finalize(ierror)
end program
