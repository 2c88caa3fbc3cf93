C     SPDX-License-Identifier: Apache-2.0
C     Fixed form and mpif.h, in several units of the program.
      subroutine exchange(x, n, rank, ranks, comm)
      implicit none
      include 'mpif.h'
      integer n, rank, ranks, comm, ierr, req(2)
      integer stats(MPI_STATUS_SIZE,2)
      double precision x(n), y(100)
      call MPI_IRECV(y, n, MPI_DOUBLE_PRECISION, mod(rank+ranks-1,ranks)
     &     , 1, comm, req(1), ierr)
      call MPI_ISEND(x, n, MPI_DOUBLE_PRECISION, mod(rank+1,ranks), 1,
     &     comm, req(2), ierr)
      call MPI_WAITALL(2, req, stats, ierr)
      if (stats(MPI_SOURCE,1) .ne. mod(rank+ranks-1,ranks)) y(1) = -1
      call MPI_IRECV(y(2), 1, MPI_DOUBLE_PRECISION, MPI_PROC_NULL, 1,
     &     comm, req(1), ierr)
      call MPI_WAITALL(1, req, MPI_STATUSES_IGNORE, ierr)
      x(1) = y(1)
      end

      logical function same(a, b)
      implicit none
      include 'mpif.h'
      integer a, b, result, ierr
      call MPI_COMM_COMPARE(a, b, result, ierr)
      same = result .eq. MPI_IDENT
      end

      program fixed
      use checks
      implicit none
      include 'mpif.h'
      integer rank, ranks, ierr, total, stat(MPI_STATUS_SIZE), n
      double precision x(100), t
      integer(kind=MPI_ADDRESS_KIND) place
      logical same
      external same
      call MPI_INIT(ierr)
      t = MPI_WTIME()
      call MPI_COMM_RANK(MPI_COMM_WORLD, rank, ierr)
      call MPI_COMM_SIZE(MPI_COMM_WORLD, ranks, ierr)
      x = rank
      call exchange(x, 100, rank, ranks, MPI_COMM_WORLD)
      call check(nint(x(1)) .eq. mod(rank+ranks-1, ranks), 'ring')
      total = rank
      call MPI_ALLREDUCE(MPI_IN_PLACE, total, 1, MPI_INTEGER, MPI_SUM,
     &     MPI_COMM_WORLD, ierr)
      call check(total .eq. ranks*(ranks-1)/2, 'in place')
      call MPI_BCAST(x, 100, MPI_DOUBLE_PRECISION, 3, MPI_COMM_WORLD,
     &     ierr)
      call check(nint(x(1)) .eq. 2 .and. nint(x(2)) .eq. 3, 'bcast')
      call MPI_SENDRECV(rank, 1, MPI_INTEGER, rank, 2, n, 1,
     &     MPI_INTEGER, rank, 2, MPI_COMM_WORLD, stat, ierr)
      call check(n .eq. rank .and. stat(MPI_TAG) .eq. 2, 'self')
      call MPI_GET_ADDRESS(MPI_BOTTOM, place, ierr)
      call check(place .eq. 0, 'bottom')
      call check(same(MPI_COMM_WORLD, MPI_COMM_WORLD), 'same')
      call check(MPI_WTIME() .ge. t, 'time')
      call MPI_FINALIZE(ierr)
      call finish('fixed', rank)
      end
