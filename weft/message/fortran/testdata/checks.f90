! SPDX-License-Identifier: Apache-2.0
! What the test programs share.
module checks
  implicit none
  integer :: failures = 0
contains
  subroutine check(condition, what)
    logical, intent(in) :: condition
    character(len=*), intent(in) :: what
    if (condition) return
    failures = failures + 1
    print '(a)', 'wrong: '//what
  end subroutine

  ! Rank 0 says that all is well; who has found something wrong ends with a code that says so.
  subroutine finish(name, rank)
    character(len=*), intent(in) :: name
    integer, intent(in) :: rank
    if (failures > 0) stop 1
    if (rank == 0) print '(a)', 'ok '//name
  end subroutine
end module
