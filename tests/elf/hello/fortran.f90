!# about: gfortran's runtime
!# matrix: kind=static,pie,nopie
!# lang: fortran
!# [kind=nopie] fflags: -fno-pie
!# link: %{kind} fortran.o
!# run: ./out
!# stdout:    55 total
program sums
  implicit none
  integer :: i, total
  total = 0
  do i = 1, 10
    total = total + i
  end do
  write (*, '(i5,a)') total, ' total'
end program
