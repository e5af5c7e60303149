//# about: the first archive on the command line that has a definition supplies it
//# sh: ar rcs liba.a a.o && ar rcs libb.a b.o
//# link: order.o liba.a libb.a
//# symbol: from_a
//# no-symbol: from_b
//# link: order.o libb.a liba.a
//# symbol: from_b
//# no-symbol: from_a
.globl _start
_start: call f
.section .note.GNU-stack,"",@progbits
//--- a.s
.globl f, from_a
f: ret
from_a: ret
.section .note.GNU-stack,"",@progbits
//--- b.s
.globl f, from_b
f: ret
from_b: ret
.section .note.GNU-stack,"",@progbits
