//# about: --cref: each symbol with the file that defines it and those that refer to it
//# only: weld lld -- others print it elsewhere
//# link: cref.o two.o --cref
//# stdout-re: two\s+two\.o\n\s+cref\.o
.globl _start
_start: call two
.section .note.GNU-stack,"",@progbits
//--- two.s
.globl two
two: ret
.section .note.GNU-stack,"",@progbits
