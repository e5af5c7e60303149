//# about: names that begin with .L in sections that ask to be merged are left out, also if nothing is merged there
//# not: mold -- it keeps them or writes other code
//# matrix: content=some,none
//# [content=some] obj: a.o = a.s --defsym SOME=1
//# [content=none] obj: a.o = a.s
//# link: a.o
//# no-symbol: .L.str
//# symbol: kept
//# link: --discard-none a.o
//# symbol: .L.str
//--- a.s
.globl _start
_start:
 lea .L.str(%rip), %rdi
 lea kept(%rip), %rdi
.section .rodata.str1.1,"aMS",@progbits,1
.L.str:
kept:
.ifdef SOME
.asciz "some"
.endif
.section .note.GNU-stack,"",@progbits
