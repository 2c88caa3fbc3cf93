! SPDX-License-Identifier: Apache-2.0
subroutine fortran_part(rank)
  implicit none
  integer, intent(in) :: rank
  integer :: counter, values(3)
  common /mixed/ counter, values
  counter = counter + 1
  values(2) = 2*rank
end subroutine
