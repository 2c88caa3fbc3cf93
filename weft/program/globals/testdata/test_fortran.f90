! SPDX-License-Identifier: Apache-2.0
! Fortran variables that outlive a call: modules, SAVE, DATA, COMMON, the main program's own.
module settings
  implicit none
  integer :: level = 3
  real(8) :: grid(100000)
  real(8), target :: field(10) = 1.5d0
  real(8), pointer :: view(:) => null()
  integer, allocatable :: list(:)
  type :: point
    integer :: x = 4, y = 5
  end type
  type(point) :: corner
end module

subroutine check(condition, line)
  implicit none
  logical, intent(in) :: condition
  integer, intent(in) :: line
  if (.not. condition) call globals_test_fail(line)
end subroutine

integer function next_number()
  implicit none
  integer, save :: number = 10
  number = number + 1
  next_number = number
end function

subroutine change_common(rank)
  implicit none
  integer, intent(in) :: rank
  integer :: counter
  real(8) :: values(50)
  common /shared/ values, counter
  integer :: sums(3)
  data sums /1, 2, 3/
  save sums
  call check(counter == rank, 1)
  counter = counter + sums(3)
  values(7) = dble(rank)
  sums(3) = sums(3) + 1
end subroutine

program ranks
  use settings
  implicit none
  integer, external :: globals_test_rank, next_number
  integer :: rank, own
  integer :: counter
  real(8) :: values(50)
  common /shared/ values, counter
  character(len=20) :: label = 'start'
  data own /17/

  rank = globals_test_rank()
  call check(level == 3 .and. own == 17 .and. label == 'start', 2)
  call check(field(10) == 1.5d0 .and. corner%y == 5 .and. counter == 0, 3)
  call check(.not. allocated(list) .and. .not. associated(view), 4)
  call globals_test_yield()
  level = rank
  own = rank + 1
  write (label, '(a,i0)') 'rank', rank
  grid(rank + 1) = 1
  view => field(2:4)
  field(3) = rank
  allocate (list(rank + 1))
  corner%x = rank
  counter = rank
  call globals_test_yield()
  call change_common(rank)
  call globals_test_yield()
  call check(counter == rank + 3 .and. values(7) == dble(rank), 5)
  counter = rank
  call change_common(rank)
  call check(counter == rank + 4, 6)
  call check(next_number() == 11 .and. next_number() == 12, 7)
  call globals_test_yield()
  call check(level == rank .and. own == rank + 1 .and. corner%x == rank, 8)
  call check(sum(grid) == 1 .and. view(2) == dble(rank) .and. size(list) == rank + 1, 9)
  call check(label(1:4) == 'rank' .and. next_number() == 13, 10)
end program
