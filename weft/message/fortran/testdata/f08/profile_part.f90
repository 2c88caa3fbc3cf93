! SPDX-License-Identifier: Apache-2.0
! What a profiler defines: the procedures behind MPI_Send and MPI_Waitall.
module profiler
  use mpi_f08, only: MPI_Datatype, MPI_Comm, MPI_Request, MPI_Status, PMPI_Send, PMPI_Waitall
  use, intrinsic :: iso_c_binding, only: c_int
  implicit none
  integer :: sends = 0, waits = 0, sent_count = 0
contains
  subroutine own_send(buf, count, datatype, dest, tag, comm, ierror) &
    bind(c, name='mpi_send_f08ts_')
    type(*), dimension(..), intent(in) :: buf
    integer(c_int), intent(in) :: count, dest, tag
    type(MPI_Datatype), intent(in) :: datatype
    type(MPI_Comm), intent(in) :: comm
    integer(c_int), optional, intent(out) :: ierror
    sends = sends + 1
    sent_count = sent_count + count
    call PMPI_Send(buf, count, datatype, dest, tag, comm, ierror)
  end subroutine
  subroutine own_waitall(count, array_of_requests, array_of_statuses, ierror) &
    bind(c, name='mpi_waitall_f08_')
    integer(c_int), intent(in) :: count
    type(MPI_Request), intent(inout) :: array_of_requests(*)
    type(MPI_Status) :: array_of_statuses(*)
    integer(c_int), optional, intent(out) :: ierror
    waits = waits + 1
    call PMPI_Waitall(count, array_of_requests, array_of_statuses, ierror)
  end subroutine
end module
