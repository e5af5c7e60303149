//# about: --whole-archive of thin archives and of archives without index; push and pop
//# sh: ar rcST liba.a a1.o && ar rcS libb.a b.o && ar rcs libz.a z.o
//# link: whole-archive-thin.o --push-state --whole-archive liba.a libb.a --pop-state libz.a
//# symbol: a1
//# symbol: b
//# no-symbol: z
.globl _start
_start: ret
.section .note.GNU-stack,"",@progbits
//--- a1.s
.globl a1
a1: ret
.section .note.GNU-stack,"",@progbits
//--- b.s
.globl b
b: ret
.section .note.GNU-stack,"",@progbits
//--- z.s
.globl z
z: ret
.section .note.GNU-stack,"",@progbits
