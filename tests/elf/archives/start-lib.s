//# about: objects between --start-lib and --end-lib behave as archive members
//# not: bfd -- it has no such option
//# link: start-lib.o --start-lib one.o two.o --end-lib
//# symbol: one
//# no-symbol: two
//# link: --start-lib one.o two.o --end-lib start-lib.o two.o
//# symbol: one
//# symbol: two
.globl _start
_start: call one
.section .note.GNU-stack,"",@progbits
//--- one.s
.globl one
one: ret
.section .note.GNU-stack,"",@progbits
//--- two.s
.globl two
two: ret
.section .note.GNU-stack,"",@progbits
