C     SPDX-License-Identifier: Apache-2.0
C     Fixed form, in several units of the program, which end a line at
C     column 72 whatever name stands there.
      subroutine exchange(x, n, rank, ranks, comm)
      use mpi_f08
      implicit none
      integer n, rank, ranks
      type(MPI_Comm) comm
      type(MPI_Request) req(2)
      type(MPI_Status) stats(2)
      double precision x(n)
      double precision, asynchronous :: y(100), z(100)
      z = x
      call MPI_IRECV(y, n, MPI_DOUBLE_PRECISION, mod(rank+ranks-1,ranks)
     &     , 1, comm, req(1))
      call MPI_ISEND(z, n, MPI_DOUBLE_PRECISION, mod(rank+1,ranks), 1,
     &     comm, req(2))
      call MPI_WAITALL(2, req, stats)
      if (stats(1)%MPI_SOURCE .ne. mod(rank+ranks-1,ranks)) y(1) = -1
      call MPI_IRECV(y(2), 1, MPI_DOUBLE_PRECISION, MPI_PROC_NULL, 1,
     &     comm, req(1))
      call MPI_WAITALL(1, req, MPI_STATUSES_IGNORE)
      x(1) = y(1)
      end

      logical function same(a, b)
      use mpi_f08
      implicit none
      type(MPI_Comm) a, b
      integer result
      call MPI_COMM_COMPARE(a, b, result)
      same = result .eq. MPI_IDENT
      end

      program fixed
      use mpi_f08
      use checks
      implicit none
      integer rank, ranks, total, n
      type(MPI_Status) stat
      double precision x(100), t
      integer(kind=MPI_ADDRESS_KIND) place
      interface
        subroutine exchange(x, n, rank, ranks, comm)
        import MPI_Comm
        integer n, rank, ranks
        double precision x(n)
        type(MPI_Comm) comm
        end
        logical function same(a, b)
        import MPI_Comm
        type(MPI_Comm) a, b
        end
      end interface
      call MPI_INIT()
      t = MPI_WTIME()
      call MPI_COMM_RANK(MPI_COMM_WORLD, rank)
      call MPI_COMM_SIZE(MPI_COMM_WORLD, ranks)
      x = rank
      call exchange(x, 100, rank, ranks, MPI_COMM_WORLD)
      call check(nint(x(1)) .eq. mod(rank+ranks-1, ranks), 'ring')
      total = rank
      call MPI_ALLREDUCE(MPI_IN_PLACE, total, 1, MPI_INTEGER, MPI_SUM,
     &     MPI_COMM_WORLD)
      call check(total .eq. ranks*(ranks-1)/2, 'in place')
      call MPI_BCAST(x, 100, MPI_DOUBLE_PRECISION, 3, MPI_COMM_WORLD)
      call check(nint(x(1)) .eq. 2 .and. nint(x(2)) .eq. 3, 'bcast')
      call MPI_SENDRECV(rank, 1, MPI_INTEGER, rank, 2, n, 1,
     &     MPI_INTEGER, rank, 2, MPI_COMM_WORLD, stat)
      call check(n .eq. rank .and. stat%MPI_TAG .eq. 2, 'self')
      call MPI_GET_ADDRESS(MPI_BOTTOM, place)
      call check(place .eq. 0, 'bottom')
      call check(same(MPI_COMM_WORLD, MPI_COMM_WORLD), 'same')
      call check(MPI_WTIME() .ge. t, 'time')
      call MPI_FINALIZE()
      call finish('fixed', rank)
      end
