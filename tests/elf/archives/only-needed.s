//# about: only members that define something undefined take part, transitively
//# sh: ar rcs libx.a one.o two.o three.o
//# link: only-needed.o libx.a
//# symbol: one
//# symbol: two
//# no-symbol: three
.globl _start
_start: call one
.section .note.GNU-stack,"",@progbits
//--- one.s
.globl one
one: call two
.section .note.GNU-stack,"",@progbits
//--- two.s
.globl two
two: ret
.section .note.GNU-stack,"",@progbits
//--- three.s
.globl three
three: call missing
.section .note.GNU-stack,"",@progbits
