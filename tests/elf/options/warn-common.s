//# about: --warn-common
//# only: weld lld bfd -- mold has no such words
//# link: warn-common.o two.o --warn-common
//# warning: common.*x|x.*common
.globl _start
_start: ret
.comm x, 4, 4
.section .note.GNU-stack,"",@progbits
//--- two.s
.comm x, 8, 8
.section .note.GNU-stack,"",@progbits
