//# about: --warn-common: sizes, files, and a definition that overrides
//# only: weld -- about its own words
//# link: warn-common.o two.o three.o --warn-common
//# warning: common symbol has several definitions: x\n>>> common in warn-common\.o, 4 bytes\n>>> common in two\.o, 8 bytes
//# warning: common symbol is overridden: y\n>>> common in warn-common\.o, 4 bytes\n>>> defined at three\.o:\(\.data\+0x0\)
//# link: warn-common.o --warn-common
//# link: warn-common.o two.o three.o --warn-common --no-warn-common
.globl _start
_start: ret
.comm x, 4, 4
.comm y, 4, 4
.section .note.GNU-stack,"",@progbits
//--- two.s
.comm x, 8, 8
.section .note.GNU-stack,"",@progbits
//--- three.s
.data
.p2align 2
.globl y
y: .long 3
.section .note.GNU-stack,"",@progbits
