//# about: --whole-archive takes all members, --no-whole-archive ends it; twice the same archive is fine then
//# sh: ar rcs liba.a a1.o a2.o && ar rcs libb.a b.o
//# link: whole-archive.o --whole-archive liba.a --no-whole-archive libb.a liba.a
//# symbol: a1
//# symbol: a2
//# no-symbol: b
.globl _start
_start: call a1
.section .note.GNU-stack,"",@progbits
//--- a1.s
.globl a1
a1: ret
.section .note.GNU-stack,"",@progbits
//--- a2.s
.globl a2
a2: ret
.section .note.GNU-stack,"",@progbits
//--- b.s
.globl b
b: ret
.section .note.GNU-stack,"",@progbits
